import { pipeline } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { Failure, messageOf } from '../../base/exit.js';

/** What is wrong with a file of a site. The message continues a sentence that begins with the file's address. */
export class SiteError extends Failure {
  constructor(
    message: string,
    /** Whether the listing lacks nothing for it. */
    readonly harmless = false,
  ) {
    super(message);
  }
}

/** @throws SiteError, which harms nothing, if a file's answer says that it is gone */
export function checkNotGone(status: number): void {
  if (status === 404 || status === 410)
    throw new SiteError(`answered ${status}, so it counts as empty; stop listing it`, true);
}

/** A file that ends too soon, which another try may get as a whole. */
export class CutShort extends SiteError {}

/** What the sitemap protocol allows for one file, unpacked. */
export const MAX_BYTES = 50 * 1024 * 1024;
export const TOO_LARGE = 'is larger than 50 MB, unpacked, which search engines refuse too; split it';
/** As much of a robots.txt as search engines read. */
const MOST_ROBOTS_BYTES = 500 * 1024;
/** Some files are packed twice: by their server, too. */
const MAX_LAYERS = 2;
const OPTIONS = { chunkSize: 64 * 1024 };
/** How a text begins, in hexadecimal: with a byte order mark, or with `<` in UTF-16. */
const MARKS = [
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
  ['efbbbf', 'utf-8'],
  ['3c00', 'utf-16le'],
  ['003c', 'utf-16be'],
] as const;

/** A file of a site, unpacked, so that it is never in memory as a whole. */
export interface Body {
  /** Where it was found, after redirects. */
  url: string;
  pieces: AsyncIterable<Buffer>;
  /** The encoding that the server names. */
  charset: string | undefined;
}

/** What is in a packed body. The bytes say whether it is gzip, as names and headers are wrong too often. */
export async function* unpacked(
  packed: AsyncIterable<Buffer>,
  encoding: string | undefined,
  layers = MAX_LAYERS,
): AsyncGenerator<Buffer> {
  const pieces = packed[Symbol.asyncIterator]();
  let piece = await pieces.next();
  const all = async function* () {
    for (let bytes = 0; !piece.done; piece = await pieces.next()) {
      bytes += piece.value.length;
      if (bytes > MAX_BYTES) throw new SiteError(TOO_LARGE);
      yield piece.value;
    }
  };
  const [name, unpack] = packingOf(piece.value ?? Buffer.of(), encoding);
  if (layers === 0 || unpack === null) return yield* all();
  try {
    const inner = pipeline(all(), unpack(OPTIONS), () => {});
    yield* unpacked(inner, undefined, layers - 1);
  } catch (error) {
    if (error instanceof SiteError) throw error;
    const why = messageOf(error);
    const Broken = /unexpected end/.test(why) ? CutShort : SiteError;
    throw new Broken(`is broken ${name} (${why}); write it again`);
  }
}

/** @param encoding what the server says; it alone tells Brotli and deflate, which have no mark */
function packingOf(head: Buffer, encoding = '') {
  const [first = 0, second = 0] = head;
  if (first === 0x1f && second === 0x8b) return ['gzip', createGunzip] as const;
  if (/\bbr\b/i.test(encoding)) return ['Brotli', createBrotliDecompress] as const;
  if (!/\bdeflate\b/i.test(encoding)) return ['', null] as const;
  // Some servers leave the header of zlib out.
  const hasHeader = first % 16 === 8 && (first * 256 + second) % 31 === 0;
  return ['deflate', hasHeader ? createInflate : createInflateRaw] as const;
}

/** The text of a body. @throws SiteError if it is not in its encoding */
export async function* textOf({ pieces, charset }: Body): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  let encoding = '';
  try {
    for await (const piece of pieces) {
      encoding ||= encodingOf(piece, charset);
      decoder ??= new TextDecoder(encoding, { fatal: true });
      yield decoder.decode(piece, { stream: true });
    }
    yield decoder?.decode() ?? '';
  } catch (error) {
    if (error instanceof SiteError) throw error;
    throw new SiteError(`is not ${encoding.toUpperCase()} text; write it as UTF-8`);
  }
}

/** The beginning of a robots.txt, which may have anything in its comments. */
export async function beginningOf({ pieces }: Body): Promise<string> {
  const read: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    read.push(piece);
    bytes += piece.length;
    if (bytes >= MOST_ROBOTS_BYTES) break;
  }
  return Buffer.concat(read).toString('utf8', 0, MOST_ROBOTS_BYTES);
}

function encodingOf(head: Buffer, charset = 'utf-8'): string {
  const start = head.toString('hex', 0, 3);
  const mark = MARKS.find(([bytes]) => start.startsWith(bytes));
  if (mark) return mark[1];
  const declared = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)/i.exec(head.toString('latin1', 0, 300))?.[1];
  // Some files say UTF-16 and are UTF-8.
  return (declared || charset).replace(/^utf-?16.*/i, 'utf-8');
}

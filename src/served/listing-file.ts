import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { z } from 'zod';

const NEWLINE = 0x0a;
const DAY_MS = 86_400_000;
/** Lines between two known offsets: half a byte of memory a page, and little read in vain. */
const LINES_PER_OFFSET = 16;

/**
 * The listing of one website at one moment, rendered once: a line for each entry, in the listing's order. A line is the
 * entry's JSON text without the one value that moves while nothing else does, `days_since_last_crawl`: what comes
 * before it, the last crawl in milliseconds since 1970 (or nothing), and what comes after it, with tabs between, which
 * JSON texts hold only escaped. So a window anywhere in it is one read, whatever the number of pages.
 */
export class ListingFile {
  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    private readonly offsets: Float64Array,
    /** Entries. */
    readonly count: number,
  ) {}

  static async open(path: string): Promise<ListingFile> {
    const { offsets, count } = await indexOf(path);
    return new ListingFile(path, await open(path, 'r'), offsets, count);
  }

  /**
   * The JSON text of an array of the entries from `skip` on.
   *
   * @param now milliseconds since 1970: what `days_since_last_crawl` counts to
   */
  async window(skip: number, limit: number, now: number): Promise<Buffer> {
    return entriesOf(await this.#bytes(skip, limit), now);
  }

  /** Where the page stands in the listing, and its entry as JSON text; null where it is not listed. */
  async find(url: string, now: number): Promise<{ position: number; entry: string } | null> {
    const wanted = Buffer.from(url);
    let [low, high] = [0, Math.ceil(this.count / LINES_PER_OFFSET)];
    // The last group whose first page does not come after the wanted one.
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      const [first = ''] = await this.#lines(middle * LINES_PER_OFFSET, 1);
      if (compare(first, wanted) <= 0) low = middle;
      else high = middle;
    }
    const lines = await this.#lines(low * LINES_PER_OFFSET, LINES_PER_OFFSET);
    const at = lines.findIndex((line) => compare(line, wanted) === 0);
    return at < 0 ? null : { position: low * LINES_PER_OFFSET + at, entry: entryOf(lines[at] ?? '', now) };
  }

  /** The pages of some entries, in the listing's order. */
  async urls(skip: number, limit: number): Promise<string[]> {
    return (await this.#lines(skip, limit)).map(urlOf);
  }

  /** The file goes with it; a window that is being read is still read. */
  async drop(): Promise<void> {
    await rm(this.path, { force: true });
    await this.handle.close();
  }

  async #lines(skip: number, limit: number): Promise<string[]> {
    return (await this.#bytes(skip, limit)).toString('utf8').split('\n').slice(0, -1);
  }

  /** The lines of some entries, each with its newline. */
  async #bytes(skip: number, limit: number): Promise<Buffer> {
    const end = Math.min(skip + limit, this.count);
    if (skip >= end) return Buffer.alloc(0);
    const first = Math.floor(skip / LINES_PER_OFFSET);
    const last = Math.ceil(end / LINES_PER_OFFSET);
    const from = this.offsets[first] ?? 0;
    const bytes = Buffer.allocUnsafe((this.offsets[last] ?? from) - from);
    await readWhole(this.handle, bytes, from);
    const begin = lineStart(bytes, 0, skip - first * LINES_PER_OFFSET);
    return bytes.subarray(begin, lineStart(bytes, begin, end - skip));
  }
}

/** Where the line begins that comes so many lines later. */
function lineStart(bytes: Buffer, from: number, lines: number): number {
  let at = from;
  for (let line = 0; line < lines; line++) at = bytes.indexOf(NEWLINE, at) + 1;
  return at;
}

/**
 * The JSON text of an array of entries that are rendered as a listing file's lines, each with its newline. Each byte is
 * a character meanwhile, whatever it means: to decode UTF-8 and encode it again would cost more than all that is done.
 */
export function entriesOf(lines: Buffer, now: number): Buffer {
  const text = lines.toString('latin1');
  let entries = '';
  for (let at = 0; at < text.length; ) {
    const crawledFrom = text.indexOf('\t', at);
    const crawledTo = text.indexOf('\t', crawledFrom + 1);
    const newline = text.indexOf('\n', crawledTo + 1);
    const crawled = daysText(text.slice(crawledFrom + 1, crawledTo), now);
    entries += `${at > 0 ? ',' : ''}${text.slice(at, crawledFrom)}${crawled}${text.slice(crawledTo + 1, newline)}`;
    at = newline + 1;
  }
  return Buffer.from(`[${entries}]`, 'latin1');
}

function daysText(crawledAt: string, now: number): string {
  return crawledAt === '' ? 'null' : String(daysSince(Number(crawledAt), now));
}

function entryOf(line: string, now: number): string {
  const [before = '', crawledAt = '', after = ''] = line.split('\t');
  return before + daysText(crawledAt, now) + after;
}

/** The listing's order is that of the URLs' bytes, as DuckDB sorts texts. */
function compare(line: string, wanted: Buffer): number {
  return Buffer.compare(Buffer.from(urlOf(line)), wanted);
}

const listedPage = z.object({ url: z.string() });

function urlOf(line: string): string {
  return listedPage.parse(JSON.parse(entryOf(line, 0))).url;
}

/** Whole days, never negative: a crawl by a clock that is ahead of ours was today. */
export function daysSince(crawledAt: number, now: number): number {
  return Math.max(0, Math.floor((now - crawledAt) / DAY_MS));
}

/** The offset of every 16th line, and at last the file's length. */
async function indexOf(path: string): Promise<{ offsets: Float64Array; count: number }> {
  const offsets = [0];
  let count = 0;
  let length = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const bytes: Buffer = chunk;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      count++;
      if (count % LINES_PER_OFFSET === 0) offsets.push(length + at + 1);
    }
    length += bytes.length;
  }
  if (count % LINES_PER_OFFSET !== 0) offsets.push(length);
  return { offsets: Float64Array.from(offsets), count };
}

async function readWhole(handle: FileHandle, bytes: Buffer, from: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, from + at);
    if (bytesRead === 0) throw new Error(`a listing file of ${from + bytes.length} bytes or more ends at ${from + at}`);
    at += bytesRead;
  }
}

import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { realEffects } from '../../base/effects.js';
import { Failure, messageOf, Stopped } from '../../base/exit.js';
import type { HttpAnswer } from '../../base/http/exchange.js';
import { backoffMs, retried } from '../../base/http/retry.js';
import { DAY_MS } from '../../base/time.js';
import type { ClientOptions } from '../client.js';
import { SourceError, TooLate } from '../errors.js';
import { Transport } from '../transport.js';
import { addressOf } from './property.js';

/** What the sitemap protocol allows for one file, unpacked. */
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const ATTEMPTS = 3;
/** Some files are packed twice: by their server, too. */
const MAX_LAYERS = 2;
const PIECE_BYTES = 64 * 1024;
const GZIP = Buffer.from([0x1f, 0x8b]);
const TOO_LARGE = 'is larger than 50 MB, unpacked, which search engines refuse too; split it';

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

export interface SiteFetchOptions extends Pick<ClientOptions, 'timeout' | 'signal' | 'effects'> {
  /** Where every address is asked, with the header `host` of the real one (the simulator); null: at the site itself. */
  origin: string | null;
  /** Of indexhouse. */
  version: string;
}

/** How one file is read. */
interface Reading<T> {
  /** Whether a redirect may lead to an address. */
  isAllowed: (url: string) => boolean;
  /** When the reading ends, in milliseconds since 1970. */
  notAfter: number;
  /** Reads the unpacked body, so that it is never in memory as a whole. */
  read: (pieces: AsyncIterable<Buffer>) => Promise<T>;
}

/** Reads a site's files as any visitor does: without credentials, and within bounds of bytes and time. */
export class SiteFetch {
  constructor(private readonly options: SiteFetchOptions) {}

  /**
   * @returns what was read; null for another status than 200
   * @throws SiteError if it leads elsewhere or cannot be unpacked; SourceError if there is no answer; `TooLate`, `Stopped`
   */
  async get<T>(url: string, { isAllowed, notAfter, read }: Reading<T>): Promise<{ status: number; found: T | null }> {
    let at = url;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const { status, headers, body } = await this.#ask(new URL(at), notAfter);
      const { location } = headers;
      if (status === 200) return { status, found: await read(unpacked(Readable.from([body]))) };
      if (status < 300 || status > 399 || !location) return { status, found: null };
      at = addressOf(location, at) ?? '';
      if (at !== '' && isAllowed(at)) continue;
      throw new SiteError(`redirects to ${location.slice(0, 200)}, not a host of the property; list the right address`);
    }
    throw new SiteError(`redirects more than ${MAX_REDIRECTS} times; list the final address`);
  }

  /** A server that is busy or breaks off is asked again. */
  #ask(url: URL, notAfter: number): Promise<HttpAnswer> {
    const { effects = realEffects, signal } = this.options;
    const ask = async (tries: number) => {
      const answer = await this.#askOnce(url, notAfter - effects.now());
      const { status } = answer;
      if (tries < ATTEMPTS && (status === 429 || status >= 500))
        throw new SourceError('server', 'it is busy', { status });
      return answer;
    };
    const waitAfter = (error: unknown, tries: number) => {
      const { kind } = error instanceof SourceError ? error : {};
      if (kind === 'too_large') throw new SiteError(TOO_LARGE);
      if (tries === ATTEMPTS || (kind !== 'network' && kind !== 'server')) throw error;
      return backoffMs(tries, effects);
    };
    return retried(ask, waitAfter, effects, signal);
  }

  async #askOnce({ origin, host, pathname, search }: URL, within: number): Promise<HttpAnswer> {
    const { origin: instead, version, timeout, signal } = this.options;
    if (signal?.aborted) throw new Stopped();
    if (within <= 0) throw new TooLate();
    const at = { baseUrl: instead ?? origin, places: { baseUrl: 'the site', token: '' } };
    const transport = new Transport({ ...at, timeout, connections: 1, maxBodyBytes: MAX_BYTES });
    const abort = () => transport.abort();
    signal?.addEventListener('abort', abort);
    // A longer timer would end at once.
    const late = setTimeout(abort, Math.min(within, DAY_MS));
    const own = { accept: '*/*', 'user-agent': `indexhouse/${version}`, 'accept-encoding': 'gzip' };
    const headers = { ...own, ...(instead && { host }) };
    try {
      return await transport.send({ path: pathname + search, headers });
    } catch (error) {
      throw error instanceof Stopped && !signal?.aborted ? new TooLate() : error;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', abort);
      await transport.close();
    }
  }
}

/** What gzip holds, if it is gzip: the bytes decide, as names and headers are wrong too often. */
async function* unpacked(packed: AsyncIterable<Buffer>, layers = MAX_LAYERS): AsyncGenerator<Buffer> {
  const pieces = packed[Symbol.asyncIterator]();
  let piece = await pieces.next();
  const all = async function* () {
    for (let bytes = 0; !piece.done; piece = await pieces.next()) {
      bytes += piece.value.length;
      if (bytes > MAX_BYTES) throw new SiteError(TOO_LARGE);
      yield piece.value;
    }
  };
  if (layers === 0 || piece.done || !piece.value.subarray(0, GZIP.length).equals(GZIP)) yield* all();
  else {
    try {
      yield* unpacked(
        pipeline(all(), createGunzip({ chunkSize: PIECE_BYTES }), () => {}),
        layers - 1,
      );
    } catch (error) {
      throw error instanceof SiteError ? error : new SiteError(`is broken gzip (${messageOf(error)}); write it again`);
    }
  }
}

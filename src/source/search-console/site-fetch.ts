import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { realEffects } from '../../base/effects.js';
import { Failure, messageOf, Stopped } from '../../base/exit.js';
import type { HttpAnswer } from '../../base/http/exchange.js';
import { backoffMs, retried } from '../../base/http/retry.js';
import type { ClientOptions } from '../client.js';
import { SourceError } from '../errors.js';
import { Transport } from '../transport.js';
import { addressOf } from './property.js';

/** What the sitemap protocol allows for one file, unpacked. */
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const ATTEMPTS = 3;
/** Some files are packed twice: by their server, too. */
const MAX_LAYERS = 2;
const GZIP = Buffer.from([0x1f, 0x8b]);
const TOO_LARGE = 'is larger than 50 MB, unpacked, which search engines refuse too; split it';
const unpack = promisify(gunzip);

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

/** Reads a site's files as any visitor does: without credentials, and within bounds of bytes and time. */
export class SiteFetch {
  constructor(private readonly options: SiteFetchOptions) {}

  /**
   * @param isAllowed whether a redirect may lead to an address
   * @returns the unpacked body; null for another status than 200
   * @throws SiteError if it leads elsewhere or cannot be unpacked; SourceError if there is no answer; `Stopped`
   */
  async get(url: string, isAllowed: (url: string) => boolean): Promise<{ status: number; body: Buffer | null }> {
    let at = url;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const { status, headers, body } = await this.#ask(new URL(at));
      const { location } = headers;
      if (status === 200) return { status, body: await unpacked(body) };
      if (status < 300 || status > 399 || !location) return { status, body: null };
      at = addressOf(location, at) ?? '';
      if (at !== '' && isAllowed(at)) continue;
      throw new SiteError(`redirects to ${location.slice(0, 200)}, not a host of the property; list the right address`);
    }
    throw new SiteError(`redirects more than ${MAX_REDIRECTS} times; list the final address`);
  }

  /** A server that is busy or breaks off is asked again. */
  #ask(url: URL): Promise<HttpAnswer> {
    const { effects = realEffects, signal } = this.options;
    const ask = async (tries: number) => {
      const answer = await this.#askOnce(url);
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

  async #askOnce({ origin, host, pathname, search }: URL): Promise<HttpAnswer> {
    const { origin: instead, version, timeout, signal } = this.options;
    if (signal?.aborted) throw new Stopped();
    const at = { baseUrl: instead ?? origin, places: { baseUrl: 'the site', token: '' } };
    const transport = new Transport({ ...at, timeout, connections: 1, maxBodyBytes: MAX_BYTES });
    const abort = () => transport.abort();
    signal?.addEventListener('abort', abort);
    const own = { accept: '*/*', 'user-agent': `indexhouse/${version}`, 'accept-encoding': 'gzip' };
    const headers = { ...own, ...(instead && { host }) };
    try {
      return await transport.send({ path: pathname + search, headers });
    } finally {
      signal?.removeEventListener('abort', abort);
      await transport.close();
    }
  }
}

/** What gzip holds, if it is gzip: the bytes decide, as names and headers are wrong too often. */
async function unpacked(file: Buffer): Promise<Buffer> {
  let body = file;
  for (let layer = 0; layer < MAX_LAYERS && body.subarray(0, GZIP.length).equals(GZIP); layer++) {
    body = await unpack(body, { maxOutputLength: MAX_BYTES }).catch((error) => {
      if (error.code === 'ERR_BUFFER_TOO_LARGE') throw new SiteError(TOO_LARGE);
      throw new SiteError(`is broken gzip (${messageOf(error)}); write it again`);
    });
  }
  return body;
}

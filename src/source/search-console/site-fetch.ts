import { Readable } from 'node:stream';
import { Stopped } from '../../base/exit.js';
import type { HttpAnswer } from '../../base/http/exchange.js';
import { backoffMs, retried } from '../../base/http/retry.js';
import { DAY_MS, realEffects } from '../../base/time.js';
import { addressOf } from '../../base/url.js';
import type { ClientOptions } from '../client.js';
import { SourceError, TooLate } from '../errors.js';
import { Transport } from '../transport.js';
import { type Body, CutShort, MAX_BYTES, SiteError, TOO_LARGE, unpacked } from './body.js';
import { publicLookup, refuseSpecial } from './public-address.js';

const MAX_REDIRECTS = 5;
const ATTEMPTS = 3;

export interface SiteFetchOptions extends Pick<ClientOptions, 'timeout' | 'signal' | 'effects'> {
  /**
   * Where every address is asked, with the header `host` of the real one (the simulator); null: at the site itself, if
   * that is in the public internet.
   */
  origin: string | null;
  userAgent: string;
}

/** How one file is read. */
interface Reading<T> {
  /** When the reading ends, in milliseconds since 1970. */
  notAfter: number;
  /** Called again where the body breaks off. */
  read: (body: Body) => Promise<T>;
}

/**
 * Reads a site's files as any visitor does: without credentials, and within bounds of bytes and time. Sites choose where
 * sitemaps and redirects lead, so only public addresses are asked; through a proxy, the proxy decides.
 */
export class SiteFetch {
  constructor(private readonly options: SiteFetchOptions) {}

  /**
   * @returns what was read; null for another status than 200
   * @throws SiteError if it leads nowhere or cannot be unpacked; SourceError if there is no answer; `TooLate`, `Stopped`
   */
  async get<T>(url: string, reading: Reading<T>): Promise<{ status: number; found: T | null }> {
    let at = url;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const { status, location, found } = await this.#ask(at, reading);
      if (status < 300 || status > 399 || !location) return { status, found };
      at = addressOf(location, at) ?? '';
      if (at === '') throw new SiteError(`redirects to ${location.slice(0, 200)}, which is no address; correct it`);
    }
    throw new SiteError(`redirects more than ${MAX_REDIRECTS} times; list the final address`);
  }

  /** A server that is busy or breaks off is asked again. */
  #ask<T>(url: string, { notAfter, read }: Reading<T>) {
    const { effects = realEffects, signal } = this.options;
    const ask = async (tries: number) => {
      const { status, headers, body } = await this.#askOnce(new URL(url), notAfter - effects.now());
      if (tries < ATTEMPTS && (status === 429 || status >= 500))
        throw new SourceError('server', 'it is busy', { status });
      const { location, 'content-encoding': encoding, 'content-type': type = '' } = headers;
      if (status !== 200) return { status, location, found: null };
      const charset = /charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1];
      const pieces = unpacked(Readable.from([body]), encoding);
      return { status, location, found: await read({ url, pieces, charset }) };
    };
    const waitAfter = (error: unknown, tries: number) => {
      const { kind, cause } = error instanceof SourceError ? error : {};
      if (kind === 'too_large') throw new SiteError(TOO_LARGE);
      if (cause instanceof SiteError) throw cause;
      const mayPass = kind === 'network' || kind === 'server' || error instanceof CutShort;
      if (tries === ATTEMPTS || !mayPass) throw error;
      return backoffMs(tries, effects);
    };
    return retried(ask, waitAfter, effects, signal);
  }

  async #askOnce({ origin, host, hostname, pathname, search }: URL, within: number): Promise<HttpAnswer> {
    const { origin: instead, userAgent, timeout, signal } = this.options;
    if (signal?.aborted) throw new Stopped();
    if (within <= 0) throw new TooLate();
    if (instead === null) refuseSpecial(hostname);
    const guard = instead === null ? { lookup: publicLookup } : {};
    const at = { baseUrl: instead ?? origin, places: { baseUrl: 'the site', token: '' }, ...guard };
    const transport = new Transport({ ...at, timeout, connections: 1, maxBodyBytes: MAX_BYTES });
    const abort = () => transport.abort();
    signal?.addEventListener('abort', abort);
    // A longer timer would end at once.
    const late = setTimeout(abort, Math.min(within, DAY_MS));
    const own = { accept: '*/*', 'user-agent': userAgent, 'accept-encoding': 'gzip' };
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

import { z } from 'zod';
import { isLoopback } from '../../base/config/scalars.js';
import { messageOf, Stopped } from '../../base/exit.js';
import type { HttpAnswer } from '../../base/http/exchange.js';
import { moment } from '../../base/observe/format.js';
import { masker } from '../../base/observe/masker.js';
import type { Effects } from '../../base/time.js';
import { jsonOf } from '../../base/validate.js';
import { SourceError } from '../errors.js';
import { excerpt, MOST_WORDS, Transport } from '../transport.js';
import { looksLikeHtml } from '../walk/coverage-window.js';
import { MOST_CHARACTERS } from './credentials.js';
import type { Send, TokenRequest } from './sign-in.js';

/** The servers that give a machine its own tokens, which it reaches without leaving its network. */
const MACHINES_OWN = /^(169\.254\.\d+\.\d+|\[fd00:ec2::254\]|metadata\.google\.internal)$/;
/** What a sign-in sends that is no secret. */
const OPEN =
  /^(grant_type|scope|audience|requested_token_type|subject_token_type|options|content-type|accept|metadata(-flavor)?|x-goog-.*)$/i;
/** What to do where something else answers in Google's place. */
export const NOT_GOOGLE = "check whether a proxy, or a network's sign-in page, answers instead of Google";
const refusalSchema = z.looseObject({
  error: z.union([z.string(), z.looseObject({ status: z.string(), message: z.string() })]),
  error_description: z.string().default(''),
});

export interface ExchangeOptions {
  /** For messages: the credentials file. */
  path: string;
  timeout: number;
  effects: Pick<Effects, 'now'>;
  signal?: AbortSignal | undefined;
  /** What to do about a refusal. */
  remedy: string;
}

/** Sends the requests of sign-ins: only to safe addresses, and so that no message shows what they sent or received. */
export class SecretExchange {
  /** What the newest two sign-ins sent and gave: answers to older ones have long come. */
  #secrets: string[][] = [];
  /** Why the sign-in that goes on failed, as the library gives errors words of its own. */
  #failure: Error | null = null;
  /** Masks what was lately sent to sign in or received. */
  redact = (text: string): string => text;

  constructor(private readonly options: ExchangeOptions) {}

  /**
   * Signs in once.
   *
   * @param secrets that are sent, perhaps in another form
   * @throws SourceError; `Stopped`
   */
  async run<T>(secrets: readonly string[], work: (send: Send) => Promise<T>): Promise<T> {
    this.#secrets = [[...secrets], ...this.#secrets].slice(0, 2);
    this.#failure = null;
    try {
      return await work((request) => this.#send(request));
    } catch (error) {
      throw this.#failure ?? this.broken(this.redact(messageOf(error)));
    }
  }

  /** That a sign-in failed for another reason than a refusal. */
  broken(why: string): SourceError {
    const { path } = this.options;
    return new SourceError('unauthorized', `signing in with ${path} failed: ${why}; check ${path}`);
  }

  async #send(request: TokenRequest): Promise<HttpAnswer> {
    try {
      return await this.#exchange(request);
    } catch (error) {
      this.#failure = error instanceof Error ? error : null;
      throw new Error('the request failed');
    }
  }

  async #exchange({ url, method, headers, body }: TokenRequest): Promise<HttpAnswer> {
    const sent =
      body instanceof URLSearchParams ? [...body].flatMap(([key, value]) => (OPEN.test(key) ? [] : [value])) : [];
    const own = Object.entries(headers).flatMap(([key, value]) => (OPEN.test(key) ? [] : value.replace(/^\w+ /, '')));
    this.hide([...sent, ...own]);
    const transport = this.#transportTo(url);
    const stop = () => transport.abort();
    this.options.signal?.addEventListener('abort', stop, { once: true });
    const path = `${url.pathname}${url.search}`;
    try {
      const answer = await transport.send({ method, path, headers, body: body?.toString() ?? null });
      if (answer.status !== 200) throw this.#refusal(answer, url);
      if (looksLikeHtml(answer.text ?? ''))
        throw new SourceError('server', `${url.origin} answered the sign-in with an HTML page; ${NOT_GOOGLE}`);
      return answer;
    } finally {
      this.options.signal?.removeEventListener('abort', stop);
      await transport.close();
    }
  }

  /** Masks these from now on. */
  hide(secrets: readonly string[]): void {
    this.#secrets[0]?.push(...secrets.filter((one) => one.length <= MOST_CHARACTERS));
    this.redact = masker(this.#secrets.flat());
  }

  /** @throws SourceError, before anything is sent, to an address that is neither encrypted nor the machine's own */
  #transportTo({ origin, protocol, hostname }: URL): Transport {
    if (this.options.signal?.aborted) throw new Stopped();
    const { path, timeout } = this.options;
    if (protocol !== 'https:' && !(protocol === 'http:' && (isLoopback(hostname) || MACHINES_OWN.test(hostname))))
      throw new SourceError('unauthorized', `${origin} in ${path} is not an https address; correct it there`);
    const places = { baseUrl: `the addresses in ${path}`, token: path };
    return new Transport({ baseUrl: origin, places, timeout, connections: 1 });
  }

  #refusal({ status, text, headers }: HttpAnswer, { origin }: URL): SourceError {
    const { data } = refusalSchema.safeParse(jsonOf(text ?? ''));
    const { error, error_description } = data ?? {};
    const own = typeof error === 'object' ? `${error.status}: ${error.message}` : `${error}: ${error_description}`;
    const words = this.redact(data ? own : (text ?? ''));
    const { path } = this.options;
    const what = `signing in with ${path} failed, ${origin} answered ${status} (${excerpt(words, data && MOST_WORDS)})`;
    if (status === 429 || status >= 500) return new SourceError('server', `${what}; try again later`, { status });
    let { remedy } = this.options;
    if (status < 400 || status === 404) remedy = `check the addresses in ${path}`;
    if (/timeframe|short-lived/i.test(words))
      remedy = `set this machine's clock: it shows ${moment(this.options.effects.now())}${headers.date ? ` and Google's ${headers.date}` : ''}`;
    return new SourceError('unauthorized', `${what}; ${remedy}`, { status });
  }
}

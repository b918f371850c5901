import { z } from 'zod';
import type { GoogleConfig } from '../../base/config/google.js';
import { isLoopback } from '../../base/config/scalars.js';
import { type Effects, realEffects } from '../../base/effects.js';
import { Stopped } from '../../base/exit.js';
import type { HttpAnswer } from '../../base/http/exchange.js';
import { moment } from '../../base/observe/format.js';
import { masker } from '../../base/observe/masker.js';
import { SECOND_MS } from '../../base/time.js';
import { jsonOf } from '../../base/validate.js';
import type { ClientOptions } from '../client.js';
import { SourceError } from '../errors.js';
import { excerpt, MOST_WORDS } from '../failures.js';
import { Transport } from '../transport.js';
import { type Credentials, findCredentials, MOST_CHARACTERS } from './credentials.js';
import { accountOf, remedyFor } from './remedy.js';
import { signIn, type TokenRequest } from './sign-in.js';

/** A token is renewed this long before its end. */
const EARLY_S = 60;
/** The servers that give a machine its own tokens, which it reaches without leaving its network. */
const MACHINES_OWN = /^(169\.254\.\d+\.\d+|\[fd00:ec2::254\]|metadata\.google\.internal)$/;
/** What a sign-in sends that is no secret. */
const OPEN =
  /^(grant_type|scope|audience|requested_token_type|subject_token_type|options|content-type|accept|metadata(-flavor)?|x-goog-.*)$/i;
/** What an answer has that is a secret. */
const TOKENS = ['access_token', 'accessToken', 'refresh_token', 'id_token', 'SecretAccessKey', 'Token'];

const tokenSchema = z.string().min(1).max(MOST_CHARACTERS);
const answerSchema = z.looseObject({ expires_in: z.number().optional(), expireTime: z.string().optional() });
const refusalSchema = z.looseObject({
  error: z.union([z.string(), z.looseObject({ status: z.string(), message: z.string() })]),
  error_description: z.string().default(''),
});

export interface GoogleClientOptions
  extends Pick<ClientOptions, 'timeout' | 'maxAttempts' | 'signal' | 'effects' | 'onNotice' | 'onAnswer'> {
  google: GoogleConfig;
}

/** One account's access: signs in when a token is first needed, and again before its end or when it is refused. */
export class Access {
  readonly credentials: Credentials;
  /** For messages: the account's e-mail address, or `your account`. */
  readonly account: string;
  readonly #effects: Effects;
  readonly #transports = new Map<string, Transport>();
  /** What the newest two sign-ins sent and received: answers to older ones have long come. */
  #secrets: string[][] = [];
  #held = { token: '', until: 0 };
  #pending: Promise<string> | null = null;
  /** Why the sign-in that goes on failed, as the library gives errors words of its own. */
  #failure: Error | null = null;
  /** Of the token that the newest answer holds, in seconds. */
  #life = 0;
  /** Masks what was lately sent to sign in or received. */
  redact = (text: string): string => text;

  /** @throws SourceError `unauthorized`, with the file, what is wrong and the remedy */
  constructor(private readonly options: Pick<GoogleClientOptions, 'google' | 'timeout' | 'effects' | 'signal'>) {
    const { google, effects = realEffects, signal } = options;
    this.credentials = findCredentials(google);
    this.account = accountOf(this.credentials);
    this.#effects = effects;
    const abort = () => {
      for (const transport of this.#transports.values()) transport.abort();
    };
    signal?.addEventListener('abort', abort, { once: true });
  }

  /**
   * Those who ask at the same time share one sign-in.
   *
   * @param refused a token that was answered with a 401, and is not handed out again
   * @throws SourceError `unauthorized` with the remedy; another if signing in may work later
   */
  token(refused?: string): Promise<string> {
    const { token, until } = this.#held;
    if (token !== refused && this.#effects.now() < until) return Promise.resolve(token);
    this.#pending ??= this.#signIn().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map((one) => one.close()));
  }

  async #signIn(): Promise<string> {
    const now = this.#effects.now();
    this.#secrets = [secretsIn(this.credentials.file), ...this.#secrets].slice(0, 2);
    this.#failure = null;
    const token = await signIn(this.credentials.file, (request) => this.#send(request)).catch((error: unknown) => {
      throw this.#failure ?? this.#broken(error instanceof Error ? this.redact(error.message) : 'no reason given');
    });
    if (!tokenSchema.safeParse(token).success || !token)
      throw this.#broken(`the answer has no token of at most ${MOST_CHARACTERS} characters`);
    this.#held = { token, until: now + Math.max(this.#life - EARLY_S, this.#life / 2) * SECOND_MS };
    return token;
  }

  #broken(why: string): SourceError {
    const { path } = this.credentials;
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
    this.#hide([...sent, ...own]);
    const answer = await this.#transportTo(url).send({
      method,
      path: `${url.pathname}${url.search}`,
      headers,
      body: body?.toString() ?? null,
    });
    const { status, text } = answer;
    const data = answerSchema.safeParse(jsonOf(text ?? '')).data;
    this.#hide(data ? TOKENS.flatMap((key) => (typeof data[key] === 'string' ? [data[key]] : [])) : []);
    if (status !== 200) throw this.#refusal(answer, url);
    const { expires_in, expireTime } = data ?? {};
    this.#life = expires_in ?? (Date.parse(expireTime ?? '') - Date.now()) / SECOND_MS;
    return answer;
  }

  #hide(secrets: readonly string[]): void {
    this.#secrets[0]?.push(...secrets.filter((one) => one.length <= MOST_CHARACTERS));
    this.redact = masker(this.#secrets.flat());
  }

  /** @throws SourceError, before anything is sent, to an address that is neither encrypted nor the machine's own */
  #transportTo({ origin, protocol, hostname }: URL): Transport {
    if (this.options.signal?.aborted) throw new Stopped();
    const { path } = this.credentials;
    if (protocol !== 'https:' && !(protocol === 'http:' && (isLoopback(hostname) || MACHINES_OWN.test(hostname))))
      throw new SourceError('unauthorized', `${origin} in ${path} is not an https address; correct it there`);
    const places = { baseUrl: `the addresses in ${path}`, token: path };
    const known = this.#transports.get(origin);
    const { timeout } = this.options;
    const transport = known ?? new Transport({ baseUrl: origin, places, timeout, connections: 1 });
    this.#transports.set(origin, transport);
    return transport;
  }

  #refusal({ status, text, headers }: HttpAnswer, { origin }: URL): SourceError {
    const { data } = refusalSchema.safeParse(jsonOf(text ?? ''));
    const { error, error_description } = data ?? {};
    const said = typeof error === 'object' ? `${error.status}: ${error.message}` : `${error}: ${error_description}`;
    const words = this.redact(data ? said : (text ?? ''));
    const { path } = this.credentials;
    const what = `signing in with ${path} failed, ${origin} answered ${status} (${excerpt(words, data && MOST_WORDS)})`;
    if (status === 429 || status >= 500) return new SourceError('server', `${what}; try again later`, { status });
    const local = moment(new Date(this.#effects.now()).toISOString());
    const clocks = `${local}${headers.date ? ` and Google's ${headers.date}` : ''}`;
    const isOfAddress = status < 400 || status === 404;
    const remedy = isOfAddress ? `check the addresses in ${path}` : remedyFor(this.credentials, words, clocks);
    return new SourceError('unauthorized', `${what}; ${remedy}`, { status });
  }
}

/** The secrets that a file holds, whether they are sent as they are or not. */
function secretsIn(file: object): string[] {
  return Object.entries(file).flatMap(([key, value]) => {
    if (typeof value === 'object') return secretsIn(value);
    return /^(client_secret|refresh_token|private_key)$/.test(key) ? [String(value)] : [];
  });
}

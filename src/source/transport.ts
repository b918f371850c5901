import type { LookupFunction } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { messageOf, Stopped } from '../base/exit.js';
import { type AnswerLimits, dispatcherFor, exchange, HttpAnswer } from '../base/http/exchange.js';
import { size } from '../base/observe/format.js';
import { jsonOf } from '../base/validate.js';
import { errorBodySchema } from './contract/key.js';
import { API_PLACES, type FailureKind, type Places, SourceError } from './errors.js';

/** Far above any listing window or report; a body beyond it is an endless one. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

const PACKINGS = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['deflate', inflateSync],
]);

export interface TransportOptions {
  /** Address without a trailing slash; may carry a path prefix. */
  baseUrl: string;
  /** Left out if each request brings its own. */
  token?: string;
  /** The configuration keys of both; those below `api` if left out. */
  places?: Places;
  /** For one complete answer, in milliseconds. */
  timeout: number;
  connections: number;
  maxBodyBytes?: number;
  /** Looks names up; left out: as the machine does. */
  lookup?: LookupFunction;
}

type Known = TransportOptions & { places: Places };

/** One request of any kind. */
export interface Message {
  /** Default: GET. */
  method?: 'GET' | 'POST' | 'PUT';
  /** Below the base address, with its query: `/v1/url-report?url=…` */
  path: string;
  headers?: Record<string, string>;
  body?: string | null;
}

/** Sends single requests to one base address. Redirects are not followed, so the token never leaves that address. */
export class Transport {
  readonly #options: Known;
  readonly #prefix: string;
  readonly #headers: Record<string, string>;
  readonly #origin: string;
  readonly #dispatcher: Dispatcher;
  readonly #limits: AnswerLimits;
  /** Why no request is sent any more. */
  #closedBy: Error | null = null;

  constructor(options: TransportOptions) {
    const base = new URL(options.baseUrl);
    const { places = API_PLACES, maxBodyBytes: maxBytes = MAX_BODY_BYTES } = options;
    this.#options = { ...options, places };
    this.#prefix = base.pathname.replace(/\/+$/, '');
    const authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
    this.#headers = { ...authorization, accept: 'application/json' };
    const { connections, timeout } = options;
    const [large, slow] = [() => tooLarge(maxBytes, places), () => tooSlow(timeout)];
    this.#limits = { timeout, maxBytes, tooLarge: large, tooSlow: slow };
    const timeouts = { headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } };
    this.#origin = base.origin;
    this.#dispatcher = dispatcherFor(base.origin, { connections, ...timeouts }, options.lookup);
  }

  /**
   * @returns the answer, whatever its status
   * @throws SourceError `network`, `timeout`, `too_large`
   */
  async send({ method = 'GET', path, headers, body = null }: Message): Promise<HttpAnswer> {
    if (this.#closedBy) throw this.#closedBy;
    const request = {
      origin: this.#origin,
      path: this.#prefix + path,
      method,
      headers: headers ? { ...this.#headers, ...headers } : this.#headers,
      body,
    };
    try {
      return await exchange(this.#dispatcher, request, this.#limits);
    } catch (error) {
      throw error instanceof Error ? wrapped(error, this.#options) : error;
    }
  }

  /** Aborts the requests in flight, which reject with `Stopped`. */
  abort(): void {
    void this.#destroy(new Stopped());
  }

  async close(): Promise<void> {
    await this.#destroy(new SourceError('network', 'the client was closed before the answer came'));
  }

  async #destroy(reason: Error): Promise<void> {
    this.#closedBy ??= reason;
    await this.#dispatcher.destroy(reason);
  }
}

/**
 * An answer whose body is unpacked: some services and proxies pack every answer, although no request asks for it.
 *
 * @throws SourceError
 */
export function unpacked(answer: HttpAnswer, places: Places): HttpAnswer {
  const { status, headers, body } = answer;
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  const unpack = PACKINGS.get(encoding);
  if (!unpack || body.length === 0) return answer;
  try {
    return new HttpAnswer(status, headers, unpack(body, { maxOutputLength: MAX_BODY_BYTES }));
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(MAX_BODY_BYTES, places);
    const message = `the body of the answer is broken ${encoding} (${messageOf(error)}); check ${places.baseUrl}, and whether a proxy changes answers`;
    throw new SourceError('network', message, { cause: error });
  }
}

function tooLarge(maxBytes: number, places: Places): SourceError {
  const remedy = `check ${places.baseUrl}`;
  return new SourceError('too_large', `the body of the answer is larger than ${size(maxBytes)}; ${remedy}`);
}

function tooSlow(timeoutMs: number): SourceError {
  return new SourceError('timeout', `no complete answer within ${timeoutMs} ms; try again later`);
}

/** Node.js's error codes for certificates that are not trusted. */
const CERTIFICATE = /CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/;

function wrapped(error: Error & { code?: string }, options: Known): Error {
  if (error instanceof SourceError || error instanceof Stopped) return error;
  if (/TIMEOUT/.test(error.code ?? '')) return tooSlow(options.timeout);
  const origin = new URL(options.baseUrl).origin;
  if (CERTIFICATE.test(error.code ?? '')) {
    const remedy = `if your own certificate authority signed it, set NODE_EXTRA_CA_CERTS to its PEM file; otherwise check ${options.places.baseUrl} and this machine's clock`;
    const message = `the certificate of ${origin} is not trusted: ${describe(error)}; ${remedy}`;
    return new SourceError('certificate', message, { cause: error });
  }
  const message = `the connection to ${origin} failed: ${describe(error)}; check the network and ${options.places.baseUrl}, then try again`;
  return new SourceError('network', message, { cause: error });
}

/** The error after several addresses were tried has no message of its own. */
function describe(error: Error & { code?: string }): string {
  if (error instanceof AggregateError) return error.errors.map((each) => String(each?.message ?? each)).join('; ');
  return error.message || error.code || error.name;
}

const EXCERPT_LENGTH = 200;
/** The words of an error that is as documented end with their remedy, so they are kept up to this length. */
export const MOST_WORDS = 4000;
const KIND_BY_STATUS: Readonly<Record<number, FailureKind>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  408: 'server',
  413: 'bad_request',
  422: 'bad_request',
  429: 'throttled',
};

/** An answer other than 200, with secrets masked. */
export type Refused = Pick<HttpAnswer, 'status' | 'text'>;

/**
 * What an answer other than 200 means, with the remedy.
 *
 * @param waitMs how long the service asks to wait, if it does
 */
export function failureOf(answer: Refused, waitMs: number | null, places: Places): SourceError {
  const kind = kindOf(answer.status);
  const remedy = remediesOf(places)[kind];
  const said = `the service answered ${answer.status}${saying(answer)}`;
  const message = `${said}${remedy ? `; ${remedy}` : ''}`;
  return new SourceError(kind, message, { status: answer.status, waitMs: waitMs ?? 0, said });
}

/** The kind of failure that a status is. */
export function kindOf(status: number): FailureKind {
  if (status >= 300 && status < 400) return 'redirect';
  return KIND_BY_STATUS[status] ?? (status >= 500 ? 'server' : 'unexpected_status');
}

function remediesOf({ baseUrl, token }: Places): Partial<Record<FailureKind, string>> {
  return {
    unauthorized: `the token is missing, wrong or expired: check ${token} (and the environment variable that it reads)`,
    forbidden: 'grant the key access, or remove from the configuration what it cannot read',
    redirect: `redirects are refused, because the token would travel with them: set ${baseUrl} to the final address`,
    throttled:
      'the service keeps throttling this key: lower api.requests_per_minute, or find out who else uses the key',
    server: 'the service has a problem: try again later',
    bad_request: `the request was refused: check ${baseUrl}, and whether the API changed`,
    unexpected_status: `check ${baseUrl}, and whether a proxy answers instead of the service`,
  };
}

/** The service's own words if the body is an error body, else an excerpt of what came instead. */
function saying(answer: Refused): string {
  if (!answer.text) return '';
  const body = errorBodySchema.safeParse(jsonOf(answer.text));
  if (body.success) return ` (${excerpt(body.data.error)}: ${excerpt(body.data.message, MOST_WORDS)})`;
  return ` (${excerpt(answer.text)})`;
}

/** The beginning of a text, on one line. */
export function excerpt(text: string, length = EXCERPT_LENGTH): string {
  return text.slice(0, length).replace(/\s+/g, ' ').trim();
}

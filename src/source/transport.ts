import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { Dispatcher, EnvHttpProxyAgent, errors, Pool as UndiciPool } from 'undici';
import { Stopped } from '../base/exit.js';
import { size } from '../base/observe/format.js';
import { API_PLACES, type Places, SourceError } from './errors.js';

/** Loaded by file: the package's index also loads `fetch`, caches and cookies, which would delay every small sync. */
const load = createRequire(import.meta.url);
const Pool: typeof UndiciPool = load('undici/lib/dispatcher/pool.js');
const { HeadersTimeoutError }: typeof errors = load('undici/lib/core/errors.js');

/** Far above any listing window or report; a body beyond it is an endless one. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** One complete answer from the service, whatever its status. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The body, or null if it is not UTF-8; decoded when it is asked for. */
  readonly text: string | null;
}

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
}

type Known = TransportOptions & { places: Places };

/** One request of any kind. */
export interface Message {
  method: 'GET' | 'POST';
  /** Below the base address, with its query: `/v1/url-report?url=…` */
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends single requests to one base address. Redirects are not followed, so the token never leaves that address. */
export class Transport {
  readonly #options: Known;
  readonly #prefix: string;
  readonly #headers: Record<string, string>;
  readonly #origin: string;
  readonly #dispatcher: Dispatcher;
  #ended: Error | null = null;

  constructor(options: TransportOptions) {
    const base = new URL(options.baseUrl);
    this.#options = { places: API_PLACES, ...options };
    this.#prefix = base.pathname.replace(/\/+$/, '');
    const authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
    this.#headers = { ...authorization, accept: 'application/json' };
    const { connections, timeout } = options;
    const timeouts = { headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } };
    this.#origin = base.origin;
    this.#dispatcher = dispatcherFor(base.origin, { connections, ...timeouts });
  }

  /**
   * @returns the answer, whatever its status
   * @throws SourceError `network`, `timeout`, `too_large`
   */
  send({ method, path, headers, body }: Message): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      const request = {
        origin: this.#origin,
        path: this.#prefix + path,
        method,
        headers: headers ? { ...this.#headers, ...headers } : this.#headers,
        body: body ?? null,
      };
      this.#dispatcher.dispatch(request, new AnswerCollector(this.#options, resolve, reject));
    });
  }

  /** Aborts the requests in flight, which reject with `Stopped`. */
  abort(): void {
    void this.#destroy(new Stopped());
  }

  async close(): Promise<void> {
    await this.#destroy(new SourceError('network', 'the client was closed before the answer came'));
  }

  async #destroy(reason: Error): Promise<void> {
    this.#ended ??= reason;
    await this.#dispatcher.destroy(reason);
  }
}

/** Connects directly, or through the proxy set by `HTTPS_PROXY` and `NO_PROXY`; plain HTTP is for loopback only. */
export function dispatcherFor(origin: string, options: UndiciPool.Options): Dispatcher {
  const proxy = process.env['https_proxy'] || process.env['HTTPS_PROXY'];
  if (!proxy || !origin.startsWith('https:')) return new Pool(origin, options);
  const { EnvHttpProxyAgent: Agent }: { EnvHttpProxyAgent: typeof EnvHttpProxyAgent } = load('undici');
  // With the same options, because the default ones wait five minutes for a silent proxy.
  return new Agent({ ...options, clientFactory: (proxy) => new Pool(proxy, options) });
}

/**
 * Ends a request after so many milliseconds, unless its final headers come and clear the timer. For one that gets an
 * informational answer (1xx), at each of which undici starts its own timeout again.
 */
export function endLate(controller: Dispatcher.DispatchController, ms: number): NodeJS.Timeout {
  return setTimeout(() => controller.abort(new HeadersTimeoutError()), ms).unref();
}

/** Collects one answer. A handler for `dispatch`, because a stream for each of a million bodies costs a third more. */
class AnswerCollector implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  #deadline = 0;
  #late: NodeJS.Timeout | undefined;
  #bytes = 0;
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(
    private readonly options: Known,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  onRequestStart(): void {
    this.#deadline = performance.now() + this.options.timeout;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) clearTimeout(this.#late);
    else this.#late ??= endLate(controller, this.#deadline - performance.now());
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxBodyBytes = MAX_BODY_BYTES, timeout, places } = this.options;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes > maxBodyBytes) controller.abort(tooLarge(maxBodyBytes, places));
    // A body that trickles in forever never reaches undici's timeout between two chunks.
    else if (this.#chunks.length > 1 && performance.now() > this.#deadline) controller.abort(tooSlow(timeout, places));
  }

  onResponseEnd(): void {
    const body = this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.resolve({
      status: this.#status,
      headers: this.#headers,
      body,
      get text() {
        return isUtf8(body) ? body.toString('utf8') : null;
      },
    });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#late);
    this.reject(wrapped(error, this.options));
  }
}

/** A remedy that only the service of `api` has. */
function ofApi(remedy: string, { baseUrl }: Places): string {
  return /^(api|websites)\b/.test(baseUrl) ? remedy : '';
}

function tooLarge(maxBytes: number, places: Places): SourceError {
  const remedy = `check ${places.baseUrl}${ofApi(', or lower api.page_size', places)}`;
  return new SourceError('too_large', `the body of the answer is larger than ${size(maxBytes)}; ${remedy}`);
}

function tooSlow(timeoutMs: number, places: Places): SourceError {
  const remedy = `try again later${ofApi(', or raise api.timeout', places)}`;
  return new SourceError('timeout', `no complete answer within ${timeoutMs} ms; ${remedy}`);
}

/** Node.js's error codes for certificates that are not trusted. */
const CERTIFICATE = /CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/;

function wrapped(error: Error & { code?: string }, options: Known): Error {
  if (error instanceof SourceError || error instanceof Stopped) return error;
  if (/TIMEOUT/.test(error.code ?? '')) return tooSlow(options.timeout, options.places);
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

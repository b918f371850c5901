import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { LookupFunction } from 'node:net';
import type { buildConnector, Dispatcher, EnvHttpProxyAgent, errors, Pool as UndiciPool } from 'undici';

/** Loaded when the first request is sent, and by file: the index also loads `fetch`, caches and cookies. */
const load = createRequire(import.meta.url);
const poolOf = (...given: ConstructorParameters<typeof UndiciPool>): UndiciPool => {
  const Pool: typeof UndiciPool = load('undici/lib/dispatcher/pool.js');
  return new Pool(...given);
};

/** One complete answer of a server, whatever its status. */
export class HttpAnswer {
  constructor(
    readonly status: number,
    readonly headers: IncomingHttpHeaders,
    readonly body: Buffer,
  ) {}

  /** The body without a byte order mark, or null if it is not UTF-8; decoded when it is asked for. */
  get text(): string | null {
    return isUtf8(this.body) ? this.body.toString('utf8').replace(/^\uFEFF/, '') : null;
  }
}

/** What an answer may take. */
export interface AnswerLimits {
  /** Milliseconds until the final headers. */
  timeout: number;
  maxBytes: number;
  /** The error for a larger body. */
  tooLarge: () => Error;
  /** If given, the whole answer must come within `timeout`; the error for a slower one. */
  tooSlow?: () => Error;
  /** The file that the body of a 200 answer is written to instead, whatever its size. */
  into?: string | undefined;
}

/**
 * Connects directly, or through the proxy set by `HTTPS_PROXY` and `NO_PROXY`, but for plain HTTP.
 *
 * @param lookup looks up the names that are connected to directly, which that of the proxy is not one of
 */
export function dispatcherFor(
  origin: string,
  options: Omit<UndiciPool.Options, 'connect'> & { connect?: buildConnector.BuildOptions },
  lookup?: LookupFunction,
): Dispatcher {
  const direct = lookup ? { ...options, connect: { ...options.connect, lookup } } : options;
  const proxy = process.env['https_proxy'] || process.env['HTTPS_PROXY'];
  if (!proxy || !origin.startsWith('https:')) return poolOf(origin, direct);
  const { EnvHttpProxyAgent: Agent }: { EnvHttpProxyAgent: typeof EnvHttpProxyAgent } = load('undici');
  // With the same options, because the default ones wait five minutes for a silent proxy.
  return new Agent({ ...direct, clientFactory: (proxy) => poolOf(proxy, options) });
}

/** Sends a request and collects its answer. Redirects are not followed. @throws undici's errors, or those of the limits */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: AnswerLimits,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new AnswerCollector(limits, resolve, reject));
  });
}

/**
 * Collects one answer. A handler for `dispatch`, because a stream for each of a million bodies costs a third more. Never
 * makes undici wait for it: a paused answer whose connection ends kills the process there.
 */
class AnswerCollector implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  #deadline = 0;
  #late: NodeJS.Timeout | undefined;
  #bytes = 0;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #file: number | null = null;

  constructor(
    private readonly limits: AnswerLimits,
    private readonly resolve: (answer: HttpAnswer) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  onRequestStart(): void {
    this.#deadline = performance.now() + this.limits.timeout;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) clearTimeout(this.#late);
    // At each informational answer (1xx) undici starts its own timeout again.
    else this.#late ??= endLate(controller, this.#deadline - performance.now());
    this.#status = status;
    this.#headers = headers;
    if (this.limits.into === undefined || status !== 200) return;
    rmSync(this.limits.into, { force: true });
    this.#file = openSync(this.limits.into, 'wx');
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#file !== null) {
      writeWhole(this.#file, chunk);
      return;
    }
    const { maxBytes, tooLarge, tooSlow } = this.limits;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes > maxBytes) controller.abort(tooLarge());
    // A body that trickles in forever never reaches undici's timeout between two chunks.
    else if (tooSlow && this.#chunks.length > 1 && performance.now() > this.#deadline) controller.abort(tooSlow());
  }

  onResponseEnd(): void {
    this.#close();
    const body = this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.resolve(new HttpAnswer(this.#status, this.#headers, body));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#late);
    this.#close();
    this.reject(error);
  }

  #close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

function endLate(controller: Dispatcher.DispatchController, ms: number): NodeJS.Timeout {
  const { HeadersTimeoutError }: typeof errors = load('undici/lib/core/errors.js');
  return setTimeout(() => controller.abort(new HeadersTimeoutError()), ms).unref();
}

function writeWhole(file: number, chunk: Buffer): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
}

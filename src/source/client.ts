import { type Effects, realEffects } from '../base/effects.js';
import { Stopped } from '../base/exit.js';
import { duration } from '../base/observe/format.js';
import { MINUTE_MS } from '../base/time.js';
import { jsonOf } from '../base/validate.js';
import { errorBodySchema } from './contract/key.js';
import { API_PLACES, type FailureKind, type Places, SourceError, TooLate } from './errors.js';
import { type PaceNotice, Pacer } from './pace/pacer.js';
import { Patience } from './pace/patience.js';
import { readRate, retryAfterMs, ServerClock } from './pace/rate-headers.js';
import type { Slot } from './pace/slot.js';
import { Redactor } from './redact.js';
import { type Answer, Transport } from './transport.js';

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = MINUTE_MS;
/** The wait after a 429 that names none. */
const DEFAULT_THROTTLE_MS = 5_000;
/** A service that throttles one request this often in a row is not going to serve it. */
const MAX_THROTTLES = 30;
const EXCERPT_LENGTH = 200;
/** Waits that the service asks for are reported from this length on. */
const REPORTED_FROM_MS = 10_000;

/** Requests of one website in one run; the client adds to it. */
export interface RequestCounts {
  sent: number;
  throttled: number;
  retried: number;
}

/** What a request is for. */
export interface Purpose {
  /** Lanes take turns on the key; each website has its own. */
  lane: string;
  counts: RequestCounts;
  /** Milliseconds since 1970: a request that cannot be sent by then is not sent. */
  notAfter?: number;
  /** Overrides `maxAttempts`, to try less often. */
  attempts?: number;
}

export interface ClientOptions {
  /** Address without a trailing slash; may carry a path prefix. */
  baseUrl: string;
  token: string;
  /** The configuration keys of both; those below `api` if left out. */
  places?: Places;
  requestsPerMinute: number;
  concurrency: number;
  /** For one complete answer, in milliseconds. */
  timeout: number;
  /** Attempts per request, the first included; throttled ones are not counted. */
  maxAttempts: number;
  signal?: AbortSignal;
  effects?: Effects;
  /** Called with every answer, whatever its status: its headers hold what `get` does not return. */
  onAnswer?: (answer: Answer) => void;
  /** Called with what the user should know about the pace. */
  onNotice?: (notice: PaceNotice) => void;
}

/**
 * The service as one API key sees it. Everything that uses the key goes through one client, because its pace and its
 * concurrency belong to the key and not to a website.
 *
 * @example
 * const client = new Client({ baseUrl, token, requestsPerMinute: 60, concurrency: 8, timeout: 30_000, maxAttempts: 5 });
 * const text = await client.get('/v1', { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } });
 * await client.close();
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #effects: Effects;
  readonly #transport: Transport;
  readonly #pacer: Pacer;
  readonly #clock = new ServerClock();
  readonly #redactor: Redactor;
  readonly #patience = new Patience();
  /** By how many milliseconds the service's clock was ahead in its first answer with a date; null before that. */
  clockAhead: number | null = null;
  /** Why no request with this token can succeed any more, whichever website it is for. */
  #ended: SourceError | null = null;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#effects = options.effects ?? realEffects;
    this.#transport = new Transport({ ...options, connections: options.concurrency });
    this.#pacer = new Pacer({ ...options, effects: this.#effects, onNotice: (notice) => this.#noticed(notice) });
    this.#redactor = new Redactor(options.token);
    options.signal?.addEventListener('abort', () => this.#transport.abort(), { once: true });
  }

  /**
   * The text of a 200 answer.
   *
   * @param path below the base address, with its query
   * @throws SourceError for any other outcome, after the retries that may help; `Stopped` when the signal fires;
   *   `TooLate` when it cannot be sent by `notAfter`
   */
  async get(path: string, purpose: Purpose): Promise<string> {
    for (let attempt = 1, throttles = 0; ; ) {
      try {
        return await this.#getOnce(path, purpose, attempt + throttles > 1);
      } catch (error) {
        if (!(error instanceof SourceError) || !error.retryable) throw error;
        const tries = error.kind === 'throttled' ? ++throttles : attempt++;
        const most = error.kind === 'throttled' ? MAX_THROTTLES : (purpose.attempts ?? this.#options.maxAttempts);
        if (tries >= most) throw error;
        if (error.kind !== 'throttled') await this.#backOff(tries, error, purpose);
      }
    }
  }

  /** Masks this key's token in text from the service: refused text is stored and logged, the token never is. */
  redact(text: string): string {
    return this.#redactor.text(text);
  }

  get #places(): Places {
    return this.#options.places ?? API_PLACES;
  }

  /** Answered requests divided by those that the key's rate allowed, 0 to 1; null without a limit or an answer. */
  get utilisation(): number | null {
    return this.#pacer.utilisation;
  }

  async close(): Promise<void> {
    this.#pacer.close();
    await this.#transport.close();
  }

  async #getOnce(path: string, { lane, counts, notAfter }: Purpose, isRetry: boolean): Promise<string> {
    if (this.#ended) throw this.#ended;
    const slot = await this.#pacer.slot({ lane, notAfter, signal: this.#options.signal });
    if (this.#ended) {
      slot.failed();
      throw this.#ended;
    }
    counts.sent++;
    if (isRetry) counts.retried++;
    const sentAt = this.#effects.now();
    let answer: Answer;
    try {
      answer = await this.#transport.get(path);
    } catch (error) {
      slot.failed();
      if (this.#options.signal?.aborted) throw new Stopped();
      throw error;
    }
    this.#options.onAnswer?.(answer);
    if (answer.status === 429) counts.throttled++;
    this.#passOn(answer, sentAt, slot);
    return this.#textOf(answer);
  }

  /** Passes the answer's rate headers, or its refusal, to the pacer; ends the key if the wait is too long. */
  #passOn({ status, headers }: Answer, sentAt: number, slot: Slot): void {
    const now = this.#effects.now();
    this.#clock.observe(headers.date, sentAt, now, headers.age);
    this.clockAhead ??= this.#clock.ahead;
    const reading = readRate(headers, this.#clock, now);
    const untilReset = reading && Math.max(0, reading.resetAt - now);
    if (status !== 429) {
      this.#patience.answered();
      slot.answered(reading);
      return;
    }
    const waitMs = retryAfterMs(headers, this.#clock, now) ?? untilReset ?? DEFAULT_THROTTLE_MS;
    if (this.#patience.allows(waitMs, now)) {
      slot.throttled(waitMs);
      return;
    }
    slot.failed();
    this.#end(this.#tooLong(waitMs, 429));
  }

  /** Forwards the pacer's notices; ends the key if the rate headers alone ask for too long a wait. */
  #noticed(notice: PaceNotice): void {
    if (notice.kind === 'spent' && !this.#patience.allows(notice.waitMs, this.#effects.now())) {
      this.#end(this.#tooLong(notice.waitMs, 200));
      return;
    }
    this.#options.onNotice?.(notice);
  }

  #end(error: SourceError): void {
    this.#ended = error;
    this.#pacer.end(error);
  }

  #tooLong(waitMs: number, status: number): SourceError {
    // A service can send any number; JavaScript's dates end in the year 275760.
    const until = new Date(Math.min(8.64e15, this.#effects.now() + waitMs)).toISOString();
    const message =
      `the service asks to wait until ${until} (${duration(waitMs)}), longer than a run waits: check the limits ` +
      'of the key, and run `indexhouse sync` again then';
    return new SourceError('paused', message, { status });
  }

  #textOf(answer: Answer): string {
    if (answer.status === 200) {
      if (answer.text !== null) return this.#redactor.data(answer.text);
      throw new SourceError(
        'bad_body',
        `the body of the answer is not UTF-8 text; check ${this.#places.baseUrl}, and whether a proxy changes answers`,
        { status: 200 },
      );
    }
    const redacted = { ...answer, text: this.redact(answer.text ?? '') };
    const waitMs = retryAfterMs(answer.headers, this.#clock, this.#effects.now());
    const error = failureOf(redacted, waitMs, this.#places);
    if (error.kind === 'unauthorized') this.#end(error);
    throw error;
  }

  /** Doubles from half a second, with jitter; a `Retry-After` from the service is the minimum. */
  async #backOff(tries: number, error: SourceError, { notAfter }: Purpose): Promise<void> {
    const ceiling = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (tries - 1));
    const asked = error.detail.waitMs ?? 0;
    const waitMs = Math.max(asked, ceiling * (0.5 + this.#effects.random() / 2));
    const now = this.#effects.now();
    if (asked > 0 && !this.#patience.allows(asked, now)) throw this.#tooLong(asked, error.status ?? 0);
    if (notAfter !== undefined && now + waitMs > notAfter) throw new TooLate();
    if (asked >= REPORTED_FROM_MS) this.#options.onNotice?.({ kind: 'unavailable', waitMs: asked });
    await this.#effects.sleep(waitMs, this.#options.signal);
  }
}

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

function remedyOf(kind: FailureKind, { baseUrl, token }: Places): string | undefined {
  const remedies: Partial<Record<FailureKind, string>> = {
    unauthorized: `the token is missing, wrong or expired: check ${token} (and the environment variable that it reads)`,
    forbidden: 'the key has no access to this website: grant it, or remove the website from the configuration',
    redirect: `redirects are refused, because the token would travel with them: set ${baseUrl} to the final address`,
    throttled:
      'the service keeps throttling this key: lower api.requests_per_minute, or find out who else uses the key',
    server: 'the service has a problem: try again later',
    bad_request: `the request was refused: check ${baseUrl}, and whether the API changed`,
    unexpected_status: `check ${baseUrl}, and whether a proxy answers instead of the service`,
  };
  return remedies[kind];
}

/** @param waitMs how long the service asks to wait, if it does */
function failureOf(answer: Answer, waitMs: number | null, places: Places): SourceError {
  const kind = kindOf(answer.status);
  const remedy = remedyOf(kind, places);
  const message = `the service answered ${answer.status}${saying(answer)}${remedy ? `; ${remedy}` : ''}`;
  return new SourceError(kind, message, { status: answer.status, body: answer.text ?? '', waitMs: waitMs ?? 0 });
}

function kindOf(status: number): FailureKind {
  if (status >= 300 && status < 400) return 'redirect';
  return KIND_BY_STATUS[status] ?? (status >= 500 ? 'server' : 'unexpected_status');
}

/** The service's own words if the body is an error body, else an excerpt of what came instead. */
function saying(answer: Answer): string {
  if (!answer.text) return '';
  const body = errorBodySchema.safeParse(jsonOf(answer.text));
  if (body.success) return ` (${excerpt(body.data.error)}: ${excerpt(body.data.message)})`;
  return ` (${excerpt(answer.text).replace(/\s+/g, ' ').trim()})`;
}

function excerpt(text: string): string {
  return text.slice(0, EXCERPT_LENGTH);
}

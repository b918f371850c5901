import { Stopped } from '../base/exit.js';
import { HttpAnswer } from '../base/http/exchange.js';
import { backoffMs, retried } from '../base/http/retry.js';
import { duration } from '../base/observe/format.js';
import { masker } from '../base/observe/masker.js';
import { DAY_MS, type Effects, MINUTE_MS, realEffects } from '../base/time.js';
import { jsonOf } from '../base/validate.js';
import { sentErrorSchema } from './contract/key.js';
import { API_PLACES, SourceError, TooLate } from './errors.js';
import { type PaceNotice, Pacer, type PacerOptions } from './pace/pacer.js';
import { readRate, retryAfterMs, ServerClock } from './pace/rate-headers.js';
import type { Slot } from './pace/slot.js';
import { failureOf, type Message, type Refused, Transport, type TransportOptions, unpacked } from './transport.js';

/** The wait after a 429 that names none. */
const DEFAULT_THROTTLE_MS = 5_000;
/** A service that throttles one request this often in a row is not going to serve it. */
const MAX_THROTTLES = 30;
/** Waits that the service asks for are reported from this length on. */
const REPORTED_FROM_MS = 10_000;
/** A shorter token stays in accepted data, because it may occur in a URL by chance, which masking it would corrupt. */
const UNMISTAKABLE_CHARACTERS = 16;

/** What the service tells about the key itself. */
export const KEY_PATH = '/v1';
const ONLY_HERE = `it accepts the key elsewhere (${KEY_PATH}): grant it access to this, too, or remove it from the configuration`;
const CUT = 'the answer was cut off; check whether a proxy changes answers';
/** No error body is longer; a report or a window that is longer need not be parsed twice. */
const LONGEST_ERROR_BYTES = 16 * 1024;

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
  /** Overrides `Pressure.attempts`. */
  refusals?: number;
}

/** Of a request that is for no website in particular, and that nobody counts. */
export function uncounted(): Purpose {
  return { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } };
}

/** What differs from the status service where another one is asked. */
export interface Dialect {
  /** Which several clients may share. */
  transport: Transport;
  /** Sends a message with what authorizes it; a second time, which it counts, if that is what the answer asks for. */
  exchange(message: Message, counts: RequestCounts): Promise<HttpAnswer>;
  redact(text: string): string;
  failureOf(answer: Refused): SourceError;
  /** How long nothing is sent after a 429, and after each probe that gets one, too. */
  waitsMs: readonly number[];
  /** What ends the client if the probe after the last of these waits is refused. */
  spent(): SourceError;
  /** How a 403 is met that gives no reason. */
  pressure: Pressure;
}

/** A 403 that gives no reason slows the pace like a 429, because the service may be busy. */
interface Pressure {
  /** How long nothing is sent after each. */
  pauseMs: number;
  /** How often the same request is sent until it is not refused so. */
  attempts: number;
  /** As many in a row, with pauses, end the client, unless what was answered before still is. */
  closesAfter: number;
}

export interface ClientOptions
  extends Omit<TransportOptions, 'token' | 'connections' | 'maxBodyBytes'>,
    Omit<PacerOptions, 'probesFirst'> {
  token: string;
  /** Attempts per request, the first included; throttled ones are not counted. */
  maxAttempts: number;
  signal?: AbortSignal | undefined;
  dialect?: Dialect;
  /** Called with every answer, whatever its status: its headers hold what `get` does not return. */
  onAnswer?: (answer: HttpAnswer) => void;
}

/**
 * The service as one API key sees it. Everything that uses the key goes through one client, because its pace and its
 * concurrency belong to the key and not to a website.
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #effects: Effects;
  readonly #transport: Transport;
  readonly #pacer: Pacer;
  readonly #clock = new ServerClock();
  readonly #mask: (text: string) => string;
  readonly #patience = new Patience();
  /** By how many milliseconds the service's clock was ahead in its first answer with a date; null before that. */
  clockAhead: number | null = null;
  /** How often a 429 made it wait since a probe was answered. */
  #waits = 0;
  /** How many answers in a row were 403, with a pause before each. */
  #forbidden = 0;
  /** What was answered last. */
  #answered: Message | null = null;
  /** The pending request that finds out whether a refusal is about more than its request. */
  #check: Promise<boolean> | null = null;
  /** Why no request with this token can succeed any more, whichever website it is for. */
  #endedBy: SourceError | null = null;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#effects = options.effects ?? realEffects;
    const { dialect, concurrency: connections } = options;
    this.#transport = dialect?.transport ?? new Transport({ ...options, connections });
    this.#pacer = new Pacer({
      ...options,
      probesFirst: dialect !== undefined,
      effects: this.#effects,
      onNotice: (notice) => this.#noticed(notice),
    });
    this.#mask = masker([options.token]);
    options.signal?.addEventListener('abort', () => this.#transport.abort(), { once: true });
  }

  /**
   * The text of a 200 answer.
   *
   * @throws SourceError for any other outcome, after the retries that may help; `Stopped` when the signal fires;
   *   `TooLate` when it cannot be sent by `notAfter`
   */
  async send(message: Message, purpose: Purpose): Promise<string> {
    try {
      const text = await this.#sendRetried(message, purpose);
      this.#answered = message;
      return text;
    } catch (error) {
      if (!(error instanceof SourceError) || !this.#endsClient(error) || this.#endedBy) throw error;
      this.#check ??= this.#isRefusedToo(error, message, purpose).finally(() => {
        this.#check = null;
      });
      if (!(await this.#check)) {
        const what = error.kind === 'closed' ? error.message : `${error.detail.said}; ${ONLY_HERE}`;
        throw new SourceError('forbidden', what, error.detail);
      }
      this.#end(error);
      throw error;
    }
  }

  /** Whether other requests may meet the same error. */
  #endsClient({ kind }: SourceError): boolean {
    return kind === 'closed' || (kind === 'unauthorized' && !this.#options.dialect);
  }

  /** Whether the service refuses what it should answer, too: the details of the key, or what it answered before. */
  async #isRefusedToo({ kind }: SourceError, { path }: Message, purpose: Purpose): Promise<boolean> {
    if (path === KEY_PATH) return true;
    try {
      // Its own lane does not wait until each of the others was refused.
      const own = { ...purpose, lane: '' };
      await this.#sendRetried((kind === 'closed' && this.#answered) || { path: KEY_PATH }, own);
      return false;
    } catch (error) {
      if (!(error instanceof SourceError) || error.retryable) throw error;
      return ['unauthorized', 'forbidden', 'closed'].includes(error.kind);
    }
  }

  #sendRetried(message: Message, purpose: Purpose): Promise<string> {
    const most = purpose.refusals ?? this.#options.dialect?.pressure.attempts ?? 1;
    let throttles = 0;
    let refusals = 0;
    let forbidden = 0;
    const waitAfter = (error: unknown, tries: number) => {
      // Among thousands of good answers, one 401 says nothing about the key.
      const isFirstRefusal = error instanceof SourceError && error.kind === 'unauthorized' && refusals++ === 0;
      if (isFirstRefusal && this.#endedBy === null) return this.#waitAfter(error, 1, purpose);
      // For a 403 and for a 429, the pacer knows how long.
      if (error instanceof SourceError && error.kind === 'forbidden' && ++forbidden < most) return 0;
      if (!(error instanceof SourceError) || !error.retryable) throw error;
      if (error.kind === 'throttled') {
        if (++throttles >= MAX_THROTTLES) throw error;
        return 0;
      }
      const failures = tries - throttles - refusals - forbidden;
      if (failures >= (purpose.attempts ?? this.#options.maxAttempts)) throw error;
      return this.#waitAfter(error, failures, purpose);
    };
    return retried(
      (tries) => this.#sendOnce(message, purpose, tries > 1),
      waitAfter,
      this.#effects,
      this.#options.signal,
    );
  }

  /** Masks this key's token in text from the service: refused text is stored and logged, the token never is. */
  redact(text: string): string {
    return this.#options.dialect?.redact(text) ?? this.#mask(text);
  }

  /** Answered requests divided by those that the key's rate allowed, 0 to 1; null without a limit or an answer. */
  get utilisation(): number | null {
    return this.#pacer.utilisation;
  }

  async close(): Promise<void> {
    this.#pacer.close();
    await this.#transport.close();
  }

  async #sendOnce(message: Message, { lane, counts, notAfter }: Purpose, isRetry: boolean): Promise<string> {
    if (this.#endedBy) throw this.#endedBy;
    const slot = await this.#pacer.slot({ lane, notAfter, signal: this.#options.signal });
    if (this.#endedBy) {
      slot.failed();
      throw this.#endedBy;
    }
    counts.sent++;
    if (isRetry) counts.retried++;
    const sentAt = this.#effects.now();
    let answer: HttpAnswer;
    try {
      const { dialect, places = API_PLACES } = this.#options;
      answer = unpacked(await (dialect?.exchange(message, counts) ?? this.#transport.send(message)), places);
      if (!dialect) answer = withOwnStatus(answer, isRetry);
    } catch (error) {
      this.#endIfUnauthorized(error);
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
  #passOn({ status, headers }: HttpAnswer, sentAt: number, slot: Slot): void {
    const now = this.#effects.now();
    if (status !== 429) this.#patience.answered();
    this.#clock.observe(headers.date, sentAt, now, headers.age);
    this.clockAhead ??= this.#clock.ahead;
    const reading = readRate(headers, this.#clock, now);
    const untilReset = reading && Math.max(0, reading.resetAt - now);
    const asked = retryAfterMs(headers, this.#clock, now) ?? untilReset;
    if (status === 429) this.#refused(asked, slot);
    else if (status === 403 && this.#options.dialect) this.#forbade(this.#options.dialect.pressure, slot);
    // Whether the service serves the key, its failure does not say.
    else if (slot.isProbe && status >= 500) slot.failed();
    else {
      if (status < 500) this.#forbidden = 0;
      if (slot.isProbe) this.#waits = 0;
      slot.answered(reading);
    }
  }

  #forbade({ pauseMs }: Pressure, slot: Slot): void {
    // The others were under way when the first was refused.
    if (slot.isProbe || this.#forbidden === 0) this.#forbidden++;
    slot.throttled(pauseMs);
  }

  /** @param asked how long the service asks to wait, in milliseconds; null if it does not */
  #refused(asked: number | null, slot: Slot): void {
    const { dialect } = this.#options;
    const waits = dialect?.waitsMs ?? [DEFAULT_THROTTLE_MS];
    // The others were under way when the first was refused.
    if (slot.isProbe || this.#waits === 0) this.#waits++;
    const waitMs = asked ?? waits[Math.min(this.#waits, waits.length) - 1] ?? DEFAULT_THROTTLE_MS;
    const spent = this.#waits > waits.length && dialect?.spent();
    if (!spent && this.#patience.allows(waitMs, this.#effects.now())) {
      slot.throttled(waitMs);
      return;
    }
    slot.failed();
    this.#end(spent || this.#tooLong(waitMs, 429));
  }

  /** Forwards the pacer's notices; ends the key if the rate headers alone ask for too long a wait. */
  #noticed(notice: PaceNotice): void {
    if (notice.kind === 'spent' && !this.#patience.allows(notice.waitMs, this.#effects.now())) {
      this.#end(this.#tooLong(notice.waitMs, 200));
      return;
    }
    const isForbidden = notice.kind === 'throttled' && this.#forbidden > 0;
    this.#options.onNotice?.(isForbidden ? { ...notice, kind: 'forbidden' } : notice);
  }

  /** Any other request would meet the same error. */
  #endIfUnauthorized(error: unknown): void {
    if (error instanceof SourceError && error.kind === 'unauthorized') this.#end(error);
  }

  #end(error: SourceError): void {
    this.#endedBy = error;
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

  #textOf({ status, headers, text }: HttpAnswer): string {
    const { dialect, places = API_PLACES, token } = this.#options;
    if (status === 200) {
      if (dialect && isCut(text)) throw new SourceError('network', CUT, { status });
      if (text !== null) return dialect || token.length >= UNMISTAKABLE_CHARACTERS ? this.redact(text) : text;
      throw new SourceError(
        'bad_body',
        `the body of the answer is not UTF-8 text; check ${places.baseUrl}, and whether a proxy changes answers`,
        { status },
      );
    }
    const redacted = { status, text: this.redact(text ?? '') };
    const waitMs = retryAfterMs(headers, this.#clock, this.#effects.now());
    const failure = dialect?.failureOf(redacted) ?? failureOf(redacted, waitMs, places);
    if (dialect) this.#endIfUnauthorized(failure);
    if (!dialect || status !== 403 || this.#forbidden < dialect.pressure.closesAfter) throw failure;
    const closed = new SourceError('closed', failure.message, { status });
    if (this.#answered === null) this.#end(closed);
    throw closed;
  }

  /** A `Retry-After` from the service is the minimum. */
  #waitAfter(error: SourceError, failures: number, { notAfter }: Purpose): number {
    const asked = error.detail.waitMs ?? 0;
    const waitMs = Math.max(asked, backoffMs(failures, this.#effects));
    const now = this.#effects.now();
    if (asked > 0 && !this.#patience.allows(asked, now)) throw this.#tooLong(asked, error.status ?? 0);
    if (notAfter !== undefined && now + waitMs > notAfter) throw new TooLate();
    if (asked >= REPORTED_FROM_MS) this.#options.onNotice?.({ kind: 'unavailable', waitMs: asked });
    return waitMs;
  }
}

/**
 * How long a run lets the service keep one key waiting: at most a day at a time, and in total a day plus a minute per
 * answer, so that a limit of one request per minute is never cut short.
 */
class Patience {
  #waitedMs = 0;
  #until = Number.NEGATIVE_INFINITY;
  #answers = 0;

  answered(): void {
    this.#answers++;
  }

  /**
   * Counts a wait that begins now; time that several waits share counts once.
   *
   * @param now milliseconds since 1970
   * @returns false if it is too long; then it is not counted and must not be waited for
   */
  allows(waitMs: number, now: number): boolean {
    const until = now + waitMs;
    const moreMs = Math.max(0, until - Math.max(now, this.#until));
    if (waitMs > DAY_MS || this.#waitedMs + moreMs > DAY_MS + this.#answers * MINUTE_MS) return false;
    this.#waitedMs += moreMs;
    this.#until = Math.max(this.#until, until);
    return true;
  }
}

/** Whether an answer is the beginning of an object, or nothing. */
function isCut(text: string | null): boolean {
  return text !== null && /^\s*(\{|$)/.test(text) && jsonOf(text) === null;
}

/**
 * Some gateways send their errors with status 200: then the status in the body counts. The first 429 of a request tells
 * only that the gateway is busy, nothing about the key's pace.
 */
export function withOwnStatus(answer: HttpAnswer, isRetry: boolean): HttpAnswer {
  const { status, headers, body } = answer;
  if (status !== 200 || body.length > LONGEST_ERROR_BYTES || !body.includes('"error"')) return answer;
  const sent = sentErrorSchema.safeParse(jsonOf(answer.text ?? '')).data;
  const own = sent ? (sent.error.code ?? sent.status) : status;
  return new HttpAnswer(own === 429 && !isRetry ? 503 : own, headers, body);
}

import { MINUTE_MS } from '../time.js';
import type { RateReading } from './rate-headers.js';
import { type Pace, type SentLog, withMargin } from './spacing.js';

/** No longer than this lies between two requests because of headers alone: a unit that was misread must not stop a run. */
const MAX_WAIT_MS = 5 * MINUTE_MS;
/** Windows are so long, or some multiple of it: shorter ones cannot be told from headers that say whole seconds. */
const WINDOW_STEP_MS = 5_000;
/** How inexact a reset is: it is rounded up to a second, and the clocks differ. */
const INEXACT_MS = 2_000;
/** What others take is known for certain from this many requests on, and this share of the limit. */
const CERTAIN_REQUESTS = 3;
const CERTAIN_SHARE = 0.02;
/** Left unused where others are about, because they do not take equally many in each window. */
const RESERVE_SHARE = 0.02;

/** Requests that others took in some time, as far as our answers tell. */
interface Others {
  since: number;
  /** The most at any moment of that time. */
  taken: number;
}

/**
 * What the rate headers say that a key may send: in any window no more than the limit less what others took in one.
 *
 * That holds for every limiter, whether its windows are fixed, slide or leak, and whatever it means by the reset: none
 * counts a request of ours for longer than a window. So what it counted beyond our own requests of the last window was
 * taken by others. From the reset comes only how long a window is: as long as the longest time until a reset.
 */
export class Allowance {
  #limit = 0;
  #windowMs = 0;
  #windowSeenAt = Number.NEGATIVE_INFINITY;
  /** Fixed windows show only at their end what others took, so that is kept for a window. */
  #before: Others | null = null;
  #others: Others | null = null;
  /** Windows so far; in the first one others may have been an earlier run of ours. */
  #windows = 0;

  constructor(private readonly sent: SentLog) {}

  /** @param sequence of the request that was answered */
  observe(reading: RateReading, sequence: number, now: number): void {
    this.#limit = reading.limit ?? Math.max(this.#limit, reading.remaining + 1);
    this.#observeWindow(reading, now);
    const ours = this.sent.countSince(this.sent.at(sequence) - this.#countedMs);
    this.#observeOthers(this.#limit - reading.remaining - ours, now);
  }

  /** What our requests must keep to; null while the headers have said nothing. */
  get pace(): Pace | null {
    if (this.#limit === 0 || this.#windowMs === 0) return null;
    const others = this.#taken;
    const reserve = others > 0 ? Math.ceil(this.#limit * RESERVE_SHARE) : 0;
    const requests = Math.max(this.#limit - others - reserve, withMargin(this.#windowMs) / MAX_WAIT_MS);
    return { requests, perMs: this.#windowMs };
  }

  /** Requests a minute that others take of the key; null while nobody is known to. */
  get othersPerMinute(): number | null {
    const taken = this.#before?.taken ?? 0;
    if (this.#windowMs === 0 || this.#windows < 3 || !this.#isCertain(taken)) return null;
    return Math.round((taken / Math.max(MINUTE_MS, this.#windowMs)) * MINUTE_MS);
  }

  /** The time that our own requests are counted over: longer than a window does no harm. */
  get #countedMs(): number {
    return withMargin(Math.max(MINUTE_MS, this.#windowMs));
  }

  get #taken(): number {
    const taken = Math.max(this.#others?.taken ?? 0, this.#before?.taken ?? 0);
    return this.#isCertain(taken) ? Math.ceil(taken) : 0;
  }

  #isCertain(taken: number): boolean {
    return taken >= Math.max(CERTAIN_REQUESTS, this.#limit * CERTAIN_SHARE);
  }

  #observeWindow({ resetAt }: RateReading, now: number): void {
    const ms = Math.max(0, Math.ceil((resetAt - now - INEXACT_MS) / WINDOW_STEP_MS) * WINDOW_STEP_MS);
    const isOld = now - this.#windowSeenAt > 3 * this.#windowMs;
    if (ms < this.#windowMs && !isOld) return;
    this.#windowMs = ms;
    this.#windowSeenAt = now;
  }

  #observeOthers(taken: number, now: number): void {
    if (this.#others === null || now - this.#others.since >= this.#countedMs) {
      this.#before = this.#others;
      this.#windows++;
      this.#others = { since: now, taken };
    }
    this.#others.taken = Math.max(this.#others.taken, taken);
  }
}

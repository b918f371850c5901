import { MINUTE_MS } from '../../base/time.js';
import type { RateReading } from './rate-headers.js';
import { type Pace, type SentLog, withMargin } from './spacing.js';

/** The longest gap that headers alone may put between two requests, so that a misread unit cannot stall a run. */
const MAX_WAIT_MS = 5 * MINUTE_MS;
/** Window lengths are rounded up to a multiple of this, because headers in whole seconds are not more precise. */
const WINDOW_STEP_MS = 5_000;
/** The error of a reset time: it is rounded up to a second, and the clocks differ. */
const INEXACT_MS = 2_000;
/** Others are believed to use the key from this many requests on, and from this share of the limit. */
const CERTAIN_REQUESTS = 3;
const CERTAIN_SHARE = 0.02;
/** Left unused while others use the key, because the number of their requests varies from window to window. */
const RESERVE_SHARE = 0.02;

/** Requests that others sent with the key during some time, as far as our answers show. */
interface Others {
  since: number;
  /** The highest number seen in that time. */
  taken: number;
}

/**
 * What a key may send according to the rate headers: in any window, at most the limit less what others took in one.
 *
 * This holds for every limiter, whether its windows are fixed, sliding or leaking, and whatever it means by the reset:
 * none counts a request of ours for longer than a window. So whatever it counted beyond our own requests of the last
 * window was taken by others. The reset is only used for the length of a window: the longest time until a reset.
 */
export class Allowance {
  #limit = 0;
  #windowMs = 0;
  #windowSeenAt = Number.NEGATIVE_INFINITY;
  /** Fixed windows show what others took only at their end, so it is kept for one more window. */
  #before: Others | null = null;
  #others: Others | null = null;
  /** Windows so far; in the first one, the others may be an earlier run of ours. */
  #windows = 0;

  constructor(private readonly sent: SentLog) {}

  /** @param sequence of the request that was answered */
  observe(reading: RateReading, sequence: number, now: number): void {
    this.#limit = reading.limit ?? Math.max(this.#limit, reading.remaining + 1);
    this.#observeWindow(reading, now);
    const ours = this.sent.countSince(this.sent.at(sequence) - this.#countedMs);
    this.#observeOthers(this.#limit - reading.remaining - ours, now);
  }

  /** The pace that our requests must keep to; null until the headers have stated a limit and a reset. */
  get pace(): Pace | null {
    if (this.#limit === 0 || this.#windowMs === 0) return null;
    const others = this.#taken;
    const reserve = others > 0 ? Math.ceil(this.#limit * RESERVE_SHARE) : 0;
    const requests = Math.max(this.#limit - others - reserve, withMargin(this.#windowMs) / MAX_WAIT_MS);
    return { requests, perMs: this.#windowMs };
  }

  /** Requests per minute that others send with the key; null while no others are known. */
  get othersPerMinute(): number | null {
    const taken = this.#before?.taken ?? 0;
    if (this.#windowMs === 0 || this.#windows < 3 || !this.#isCertain(taken)) return null;
    return Math.round((taken / Math.max(MINUTE_MS, this.#windowMs)) * MINUTE_MS);
  }

  /** The period over which our own requests are counted; longer than a window does no harm. */
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

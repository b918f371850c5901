import { DAY_MS, MINUTE_MS } from '../../base/time.js';
/**
 * How long a run lets the service keep one key waiting: at most a day at a time, and in total a day plus a minute per
 * answer. So neither a wait of a year nor a day's wait for each window of a listing makes a run hang, and a limit of
 * one request per minute is never cut short.
 */
export class Patience {
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

import { DAY_MS, MINUTE_MS } from '../time.js';
/**
 * How long a run lets a service keep one key waiting: a day at once, and in all a day and a minute more for each
 * answer, so that neither a wait of a year nor a day's wait for each window of a listing makes a run hang. A limit that
 * lets one request a minute pass is never cut short.
 */
export class Patience {
  #waitedMs = 0;
  #until = Number.NEGATIVE_INFINITY;
  #answers = 0;

  answered(): void {
    this.#answers++;
  }

  /**
   * Counts a wait that begins now; where several overlap, the time that all of them take counts once.
   *
   * @param now milliseconds since 1970
   * @returns false where it is too long; then it must not be waited for
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

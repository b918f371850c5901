const MINUTE_MS = 60_000;
/**
 * A minute of the service begins when our first request reaches it, so an answer that travels faster than the first one
 * did would fall into the minute before. This much is more than such differences are, and costs half a percent.
 */
const MARGIN_MS = 300;
/** A quiet spell is caught up with as many requests as this share of a minute's. */
const BURST_SHARE = 1 / 20;
/** What is caught up where bursts are not liked: how late a timer may ring. */
const CALM_BURST_MS = 50;
/** Times that are kept; at a higher rate the promise holds for the part of a minute that this many take. */
const MAX_KEPT = 100_000;

/**
 * Even spacing with a small burst: what a late timer or a pause for work left unused is caught up, and still no minute
 * holds more requests than the rate, wherever it begins. Times are milliseconds that never go back.
 */
export class Spacing {
  /** Between two requests. */
  readonly intervalMs: number;
  #burstMs: number;
  /** When the last requests were sent, the oldest one overwritten first. */
  readonly #sentAt: Float64Array;
  readonly #spanMs: number;
  #sent = 0;
  /** When the next request would be due if none had come early. */
  #evenAt = Number.NEGATIVE_INFINITY;

  /** @param requestsPerMinute more than 0; Infinity for no limit */
  constructor(requestsPerMinute: number) {
    const limited = Number.isFinite(requestsPerMinute);
    this.intervalMs = limited ? (MINUTE_MS + MARGIN_MS) / requestsPerMinute : 0;
    const burst = limited ? Math.max(1, requestsPerMinute * BURST_SHARE) : 1;
    this.#burstMs = (burst - 1) * this.intervalMs;
    const kept = limited ? Math.min(MAX_KEPT, Math.max(1, Math.floor(requestsPerMinute))) : 0;
    this.#sentAt = new Float64Array(kept).fill(Number.NEGATIVE_INFINITY);
    this.#spanMs = kept * this.intervalMs;
  }

  /** When the next request may be sent. */
  get dueAt(): number {
    if (this.intervalMs === 0) return Number.NEGATIVE_INFINITY;
    const oldest = this.#sentAt[this.#sent % this.#sentAt.length] ?? Number.NEGATIVE_INFINITY;
    return Math.max(this.#evenAt - this.#burstMs, oldest + this.#spanMs);
  }

  sentOne(now: number): void {
    if (this.intervalMs === 0) return;
    this.#sentAt[this.#sent % this.#sentAt.length] = now;
    this.#sent++;
    this.#evenAt = Math.max(now, this.#evenAt) + this.intervalMs;
  }

  /** From now on no more is caught up than a late timer: the service has refused a request. */
  calm(): void {
    this.#burstMs = Math.min(this.#burstMs, CALM_BURST_MS);
  }
}

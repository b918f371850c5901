import { type Limiter, type RateDecision, rateHeaders, retryAfter } from '../service/rate-limit.js';

/**
 * How services limit: windows that begin with a key's first request, windows of the clock, so many in any such time, or
 * a bucket that holds so many and refills evenly.
 */
export const LIMITER_KINDS = ['first-request', 'clock', 'sliding', 'bucket'] as const;
export type LimiterKind = (typeof LIMITER_KINDS)[number];

/**
 * What services mean by the reset: the next boundary of a window, one window from now, when the next request is allowed,
 * or when the full allowance is back. `off`: no rate headers.
 */
export const RATE_HEADERS = ['boundary', 'window', 'next', 'full', 'off'] as const;
export type RateHeaders = (typeof RATE_HEADERS)[number];

export interface LimiterOptions {
  /** Requests in each window. */
  limit: number;
  kind: LimiterKind;
  headers: RateHeaders;
  windowMs: number;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** What one key has used. */
interface Meter {
  /** Requests that are left at this moment; a bucket holds parts of one, too. */
  left(now: number): number;
  take(now: number): void;
  /** When a window ends, the next request is allowed, and the full allowance is back. */
  resets(now: number): { boundary: number; next: number; full: number };
}

/** A limiter of any kind. A refused request costs nothing. */
export function limiterOf(options: LimiterOptions): Limiter {
  const meters = new Map<string, Meter>();
  return {
    take: (keyId) => {
      const meter = meters.get(keyId) ?? meterOf(options);
      meters.set(keyId, meter);
      return answer(meter, options);
    },
  };
}

function answer(meter: Meter, { limit, headers, windowMs, clock }: LimiterOptions): RateDecision {
  const now = clock();
  const allowed = meter.left(now) >= 1;
  if (allowed) meter.take(now);
  const resets = { ...meter.resets(now), window: now + windowMs };
  const waiting = allowed ? {} : retryAfter(resets.next - now);
  if (headers === 'off') return { allowed, headers: waiting };
  return { allowed, headers: { ...rateHeaders(limit, Math.floor(meter.left(now)), resets[headers]), ...waiting } };
}

function meterOf({ kind, limit, windowMs }: LimiterOptions): Meter {
  if (kind === 'sliding') return new SlidingLog(limit, windowMs);
  if (kind === 'bucket') return new Bucket(limit, windowMs);
  return new FixedWindow(limit, windowMs, kind === 'clock');
}

class FixedWindow implements Meter {
  #endsAt = Number.NEGATIVE_INFINITY;
  #used = 0;

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
    private readonly byClock: boolean,
  ) {}

  left(now: number): number {
    return now >= this.#endsAt ? this.limit : this.limit - this.#used;
  }

  take(now: number): void {
    if (now >= this.#endsAt) {
      this.#endsAt = this.byClock ? nextBoundary(now, this.windowMs) : now + this.windowMs;
      this.#used = 0;
    }
    this.#used++;
  }

  resets(now: number) {
    return { boundary: this.#endsAt, next: this.left(now) >= 1 ? now : this.#endsAt, full: this.#endsAt };
  }
}

class SlidingLog implements Meter {
  #takenAt: number[] = [];

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
  ) {}

  left(now: number): number {
    const gone = this.#takenAt.findIndex((at) => at > now - this.windowMs);
    this.#takenAt.splice(0, gone < 0 ? this.#takenAt.length : gone);
    return this.limit - this.#takenAt.length;
  }

  take(now: number): void {
    this.#takenAt.push(now);
  }

  resets(now: number) {
    return {
      boundary: nextBoundary(now, this.windowMs),
      next: this.left(now) >= 1 ? now : (this.#takenAt[0] ?? now) + this.windowMs,
      full: (this.#takenAt.at(-1) ?? now) + this.windowMs,
    };
  }
}

class Bucket implements Meter {
  #level: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
  ) {
    this.#level = limit;
  }

  left(now: number): number {
    return Math.min(this.limit, this.#level + Math.max(0, now - this.#at) / this.#msEach);
  }

  take(now: number): void {
    this.#level = this.left(now) - 1;
    this.#at = now;
  }

  resets(now: number) {
    const left = this.left(now);
    return {
      boundary: nextBoundary(now, this.windowMs),
      next: now + Math.max(0, 1 - left) * this.#msEach,
      full: now + (this.limit - left) * this.#msEach,
    };
  }

  get #msEach(): number {
    return this.windowMs / this.limit;
  }
}

function nextBoundary(now: number, windowMs: number): number {
  return (Math.floor(now / windowMs) + 1) * windowMs;
}

import { FixedWindow, type Limiter, limiterOf, type Meter, type Resets } from '../../../serve/api/rate-limit.js';

/**
 * How services limit: windows that begin with a key's first request, windows by the clock, a sliding window, or a
 * bucket that refills evenly.
 */
export const LIMITER_KINDS = ['first-request', 'clock', 'sliding', 'bucket'] as const;
export type LimiterKind = (typeof LIMITER_KINDS)[number];

/**
 * What services mean by the reset: the next boundary of a window, one window from now, when the next request is allowed,
 * or when the full allowance is back. `off`: no rate headers.
 */
export const RATE_HEADERS = ['boundary', 'window', 'next', 'full', 'off'] as const;
export type RateHeaders = (typeof RATE_HEADERS)[number];

export interface SimulatedLimit {
  /** Requests in each window. */
  limit: number;
  kind: LimiterKind;
  headers: RateHeaders;
  windowMs: number;
  /** Milliseconds since 1970. */
  clock: () => number;
}

export function simulatedLimiter({ limit, kind, headers, windowMs, clock }: SimulatedLimit): Limiter {
  return limiterOf(limit, {
    clock,
    newMeter: () => {
      if (kind === 'sliding') return new SlidingLog(limit, windowMs);
      if (kind === 'bucket') return new TokenBucket(limit, windowMs);
      return new FixedWindow(limit, (now) => (kind === 'clock' ? nextBoundary(now, windowMs) : now + windowMs));
    },
    resetOf: (resets, now) => (headers === 'off' ? null : { ...resets, window: now + windowMs }[headers]),
  });
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

  resets(now: number): Resets {
    return {
      boundary: nextBoundary(now, this.windowMs),
      next: this.left(now) >= 1 ? now : (this.#takenAt[0] ?? now) + this.windowMs,
      full: (this.#takenAt.at(-1) ?? now) + this.windowMs,
    };
  }
}

class TokenBucket implements Meter {
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

  resets(now: number): Resets {
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

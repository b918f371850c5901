import { type Allowance, type Limiter, rateHeaders } from '../../../src/serve/api/rate-limit.js';

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

/** What one key has used. Times are milliseconds since 1970. */
interface Meter {
  /** Requests that are left at this moment; not always a whole number in a bucket. */
  left(now: number): number;
  take(now: number): void;
  resets(now: number): Resets;
}

/** When a window ends, the next request is allowed, and the full allowance is back. */
type Resets = Record<'boundary' | 'next' | 'full', number>;

/** A limiter as services have them. A refused request costs nothing. */
export function simulatedLimiter({ limit, kind, headers, windowMs, clock }: SimulatedLimit): Limiter {
  const meters = new Map<string, Meter>();
  const newMeter = (): Meter => {
    if (kind === 'sliding') return new SlidingLog(limit, windowMs);
    if (kind === 'bucket') return new TokenBucket(limit, windowMs);
    return new FixedWindow(limit, (now) => (kind === 'clock' ? nextBoundary(now, windowMs) : now + windowMs));
  };
  const allowance = (client: string, isSpent: boolean): Allowance => {
    const now = clock();
    const meter = meters.get(client) ?? newMeter();
    meters.set(client, meter);
    const allowed = meter.left(now) >= 1;
    if (isSpent && allowed) meter.take(now);
    const resets = { ...meter.resets(now), window: now + windowMs };
    const waitSeconds = allowed ? 0 : Math.max(1, Math.ceil((resets.next - now) / 1000));
    const { 'retry-after': wait, ...standing } = rateHeaders(
      limit,
      Math.floor(meter.left(now)),
      headers === 'off' ? now : resets[headers],
      waitSeconds,
    );
    const retry = wait === undefined ? {} : { 'retry-after': wait };
    return { allowed, waitSeconds, headers: headers === 'off' ? retry : { ...standing, ...retry } };
  };
  return { take: (client) => allowance(client, true), peek: (client) => allowance(client, false) };
}

class FixedWindow implements Meter {
  #endsAt = Number.NEGATIVE_INFINITY;
  #used = 0;

  /** @param endOf when a window ends that begins with a request at this time */
  constructor(
    private readonly limit: number,
    private readonly endOf: (now: number) => number,
  ) {}

  left(now: number): number {
    return now >= this.#endsAt ? this.limit : this.limit - this.#used;
  }

  take(now: number): void {
    if (now >= this.#endsAt) {
      this.#endsAt = this.endOf(now);
      this.#used = 0;
    }
    this.#used++;
  }

  resets(now: number): Resets {
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

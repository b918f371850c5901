const WINDOW_MS = 60_000;

/** Where a key stands after a request. */
export interface RateDecision {
  allowed: boolean;
  headers: Record<string, string>;
}

/** Counts the requests of each key. */
export interface Limiter {
  /** Spends one request of a key's allowance; the headers belong on the answer either way. */
  take(keyId: string): RateDecision;
}

interface Usage {
  startedAt: number;
  used: number;
}

/**
 * Counts requests per key in windows of a minute that begin with a key's first request. A refused request costs
 * nothing, so that a client which waits for the reset is served then.
 */
export class RateLimiter implements Limiter {
  readonly #usages = new Map<string, Usage>();

  constructor(
    readonly requestsPerMinute: number,
    private readonly clock: () => number = Date.now,
  ) {}

  take(keyId: string): RateDecision {
    const now = this.clock();
    const usage = this.#usageAt(keyId, now);
    const allowed = usage.used < this.requestsPerMinute;
    if (allowed) usage.used++;
    const resetAt = usage.startedAt + WINDOW_MS;
    const headers = rateHeaders(this.requestsPerMinute, this.requestsPerMinute - usage.used, resetAt);
    return { allowed, headers: allowed ? headers : { ...headers, ...retryAfter(resetAt - now) } };
  }

  #usageAt(keyId: string, now: number): Usage {
    const known = this.#usages.get(keyId);
    if (known && now - known.startedAt < WINDOW_MS) return known;
    const fresh = { startedAt: now, used: 0 };
    this.#usages.set(keyId, fresh);
    return fresh;
  }
}

/** @param resetAt milliseconds since 1970; the header says whole seconds */
export function rateHeaders(limit: number, remaining: number, resetAt: number): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil(resetAt / 1000)),
  };
}

export function retryAfter(waitMs: number): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) };
}

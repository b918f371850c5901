const WINDOW_MS = 60_000;

/** Where a key stands after a request; `retryAfterS` only when the request is refused. */
export interface Allowance {
  allowed: boolean;
  headers: Record<string, string>;
}

interface Usage {
  startedAt: number;
  used: number;
}

/**
 * Counts requests per key in windows of a minute that begin with a key's first request. A refused request costs
 * nothing, so that a client which waits for the reset is served then.
 */
export class RateLimiter {
  readonly #usages = new Map<string, Usage>();

  constructor(
    readonly requestsPerMinute: number,
    private readonly clock: () => number = Date.now,
  ) {}

  /** Spends one request of a key's allowance; the headers belong on the answer either way. */
  take(keyId: string): Allowance {
    const now = this.clock();
    const usage = this.#usageAt(keyId, now);
    const allowed = usage.used < this.requestsPerMinute;
    if (allowed) usage.used++;
    return { allowed, headers: this.#headers(usage, now, allowed) };
  }

  #usageAt(keyId: string, now: number): Usage {
    const known = this.#usages.get(keyId);
    if (known && now - known.startedAt < WINDOW_MS) return known;
    const fresh = { startedAt: now, used: 0 };
    this.#usages.set(keyId, fresh);
    return fresh;
  }

  #headers(usage: Usage, now: number, allowed: boolean): Record<string, string> {
    const resetMs = usage.startedAt + WINDOW_MS;
    const headers = {
      'x-ratelimit-limit': String(this.requestsPerMinute),
      'x-ratelimit-remaining': String(this.requestsPerMinute - usage.used),
      'x-ratelimit-reset': String(Math.ceil(resetMs / 1000)),
    };
    return allowed ? headers : { ...headers, 'retry-after': String(Math.max(1, Math.ceil((resetMs - now) / 1000))) };
  }
}

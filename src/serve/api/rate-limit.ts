const WINDOW_MS = 60_000;

/** Counts the requests of each key. */
export interface Limiter {
  /** Spends one request of a key's allowance; the headers belong on the answer either way. */
  take(keyId: string): { allowed: boolean; headers: Record<string, string> };
}

/** What one key has used. Times are milliseconds since 1970. */
export interface Meter {
  /** Requests that are left at this moment; not always a whole number in a bucket. */
  left(now: number): number;
  take(now: number): void;
  resets(now: number): Resets;
}

/** When a window ends, the next request is allowed, and the full allowance is back. */
export interface Resets {
  boundary: number;
  next: number;
  full: number;
}

export interface LimiterOptions {
  /** Milliseconds since 1970. */
  clock?: (() => number) | undefined;
  /** How requests are counted. Default: in windows of a minute that begin with a key's first request. */
  newMeter?: () => Meter;
  /** What the headers give as the reset; null: there are none. Default: the end of the window. */
  resetOf?: (resets: Resets, now: number) => number | null;
}

/** Limits the requests of each key. A refused one costs nothing: a client that waits for the reset is served then. */
export function limiterOf(
  limit: number,
  {
    clock = Date.now,
    newMeter = () => new FixedWindow(limit, (now) => now + WINDOW_MS),
    resetOf = ({ boundary }) => boundary,
  }: LimiterOptions = {},
): Limiter {
  const meters = new Map<string, Meter>();
  return {
    take: (keyId) => {
      const now = clock();
      const meter = meters.get(keyId) ?? newMeter();
      meters.set(keyId, meter);
      const allowed = meter.left(now) >= 1;
      if (allowed) meter.take(now);
      const resets = meter.resets(now);
      const resetAt = resetOf(resets, now);
      const standing = resetAt === null ? {} : rateHeaders(limit, Math.floor(meter.left(now)), resetAt);
      return { allowed, headers: { ...standing, ...(allowed ? {} : retryAfter(resets.next - now)) } };
    },
  };
}

export class FixedWindow implements Meter {
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

/** @param resetAt milliseconds since 1970; the header says whole seconds */
function rateHeaders(limit: number, remaining: number, resetAt: number): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil(resetAt / 1000)),
  };
}

function retryAfter(waitMs: number): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) };
}

import { LRUCache } from 'lru-cache';

const WINDOW_MS = 60_000;
/** Of how many clients the requests are counted; beyond that, the one that was idle for longest starts anew. */
const MOST_CLIENTS = 10_000;

/** Counts the requests of each client: a key, or for wrong keys the network that they come from. */
export interface Limiter {
  /** Spends one request of a client's allowance. */
  take(client: string): Allowance;
  /** What `take` would answer now, without spending anything. */
  peek(client: string): Allowance;
}

export interface Allowance {
  allowed: boolean;
  /** They belong on the answer either way. */
  headers: Record<string, string>;
  /** Whole seconds until the next request is allowed; 0 if this one was. */
  waitSeconds: number;
}

/** What one client has used. Times are milliseconds since 1970. */
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
  /** How requests are counted. Default: in windows of a minute that begin with a client's first request. */
  newMeter?: () => Meter;
  /** What the headers give as the reset; null: there are none. Default: the end of the window. */
  resetOf?: (resets: Resets, now: number) => number | null;
}

/** Limits the requests of each client. A refused one costs nothing: a client that waits for the reset is served then. */
export function limiterOf(
  limit: number,
  {
    clock = Date.now,
    newMeter = () => new FixedWindow(limit, (now) => now + WINDOW_MS),
    resetOf = ({ boundary }) => boundary,
  }: LimiterOptions = {},
): Limiter {
  const meters = new LRUCache<string, Meter>({ max: MOST_CLIENTS });
  const allowance = (client: string, isSpent: boolean): Allowance => {
    const now = clock();
    const meter = meters.get(client) ?? newMeter();
    const allowed = meter.left(now) >= 1;
    if (isSpent) meters.set(client, meter);
    if (isSpent && allowed) meter.take(now);
    const resets = meter.resets(now);
    const resetAt = resetOf(resets, now);
    const standing = resetAt === null ? {} : rateHeaders(limit, Math.floor(meter.left(now)), resetAt);
    const waitSeconds = allowed ? 0 : Math.max(1, Math.ceil((resets.next - now) / 1000));
    return { allowed, waitSeconds, headers: { ...standing, ...(allowed ? {} : { 'retry-after': `${waitSeconds}` }) } };
  };
  return { take: (client) => allowance(client, true), peek: (client) => allowance(client, false) };
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

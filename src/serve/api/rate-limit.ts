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

/**
 * Limits the requests of each client in windows of a minute that begin with its first request. A refused request costs
 * nothing: a client that waits for the reset is served then.
 *
 * @param clock milliseconds since 1970
 */
export function limiterOf(limit: number, clock: () => number = Date.now): Limiter {
  const windows = new LRUCache<string, { endsAt: number; used: number }>({ max: MOST_CLIENTS });
  const allowance = (client: string, isSpent: boolean): Allowance => {
    const now = clock();
    const known = windows.get(client);
    const window = known && now < known.endsAt ? known : { endsAt: now + WINDOW_MS, used: 0 };
    const allowed = window.used < limit;
    if (isSpent && allowed) window.used++;
    if (isSpent) windows.set(client, window);
    const waitSeconds = allowed ? 0 : Math.max(1, Math.ceil((window.endsAt - now) / 1000));
    return { allowed, waitSeconds, headers: rateHeaders(limit, limit - window.used, window.endsAt, waitSeconds) };
  };
  return { take: (client) => allowance(client, true), peek: (client) => allowance(client, false) };
}

/** @param resetAt milliseconds since 1970; the header says whole seconds. @param waitSeconds 0 for an allowed request */
export function rateHeaders(limit: number, remaining: number, resetAt: number, waitSeconds: number) {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil(resetAt / 1000)),
    ...(waitSeconds > 0 ? { 'retry-after': String(waitSeconds) } : {}),
  };
}

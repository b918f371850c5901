import { type Allowance, type Limiter, rateHeaders } from '../../../src/serve/api/rate-limit.js';

/**
 * How services limit: windows that begin with a key's first request, windows by the clock, a sliding window, or a
 * bucket that refills evenly.
 */
export const LIMITER_KINDS = ['first-request', 'clock', 'sliding', 'bucket'] as const;

/**
 * What services mean by the reset: the next boundary of a window, one window from now, when the next request is allowed,
 * or when the full allowance is back. `off`: no rate headers.
 */
export const RATE_HEADERS = ['boundary', 'window', 'next', 'full', 'off'] as const;

export interface SimulatedLimit {
  /** Requests in each window. */
  limit: number;
  kind: (typeof LIMITER_KINDS)[number];
  headers: (typeof RATE_HEADERS)[number];
  windowMs: number;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** A limiter as services have them. A refused request costs nothing. */
export function simulatedLimiter({ limit, kind, headers, windowMs, clock }: SimulatedLimit): Limiter {
  /** Of each client, when each request that still counts will count no longer, in order. */
  const clients = new Map<string, number[]>();
  const boundary = (now: number) => (Math.floor(now / windowMs) + 1) * windowMs;
  const endOf = (now: number, ends: number[]): number => {
    if (kind === 'clock') return boundary(now);
    if (kind === 'sliding') return now + windowMs;
    if (kind === 'bucket') return (ends.at(-1) ?? now) + windowMs / limit;
    return ends[0] ?? now + windowMs;
  };
  const allowance = (client: string, isSpent: boolean): Allowance => {
    const now = clock();
    const ends = (clients.get(client) ?? []).filter((end) => end > now);
    const allowed = ends.length < limit;
    if (isSpent && allowed) ends.push(endOf(now, ends));
    clients.set(client, ends);
    const [first = now] = ends;
    const next = ends.length < limit ? now : first;
    const windowEnd = kind === 'first-request' ? first : boundary(now);
    const resets = { boundary: windowEnd, window: now + windowMs, next, full: ends.at(-1) ?? now, off: now };
    const waitSeconds = allowed ? 0 : Math.max(1, Math.ceil((next - now) / 1000));
    const standing = headers === 'off' ? {} : rateHeaders(limit, limit - ends.length, resets[headers], 0);
    const retry = allowed ? {} : { 'retry-after': String(waitSeconds) };
    return { allowed, waitSeconds, headers: { ...standing, ...retry } };
  };
  return { take: (client) => allowance(client, true), peek: (client) => allowance(client, false) };
}

const DAY_MS = 86_400_000;

/** Whole days, never negative: a crawl by a clock that is ahead of ours was today. Both in milliseconds since 1970. */
export function daysSince(crawledAt: number, now: number): number {
  return Math.max(0, Math.floor((now - crawledAt) / DAY_MS));
}

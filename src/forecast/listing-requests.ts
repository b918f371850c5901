/** What the last complete walk of a website's listing took. */
export interface MeasuredWalk {
  requests: number;
  /** Entries that it listed. */
  pages: number;
}

/**
 * How many requests the walk of a listing takes, as far as windows of this size explain what it took last time; else as
 * many for each page as then.
 *
 * @param window entries of one answer
 */
export function listingRequests(pages: number, window: number, measured: MeasuredWalk | null = null): number {
  if (measured === null || measured.requests === 0 || measured.pages === 0) return requestsOfWalk(pages, window);
  const walks = measured.requests / requestsOfWalk(measured.pages, window);
  if (Number.isInteger(walks)) return walks * requestsOfWalk(pages, window);
  return Math.max(1, Math.round((measured.requests / measured.pages) * pages));
}

/** Each window is asked for one entry early. */
function requestsOfWalk(pages: number, window: number): number {
  if (pages <= window) return 1;
  // The first window shows that there is no room for an overlap; then two walks have to agree.
  if (window < 2) return 1 + 2 * pages;
  return Math.ceil((pages - 1) / (window - 1));
}

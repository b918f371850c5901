const DAY_MS = 86_400_000;
/** A page's last crawl, and the days since then that an answer tells. */
const AGES = /"last_crawl_time":"([^"]+)","days_since_last_crawl":(\d+)/g;

/**
 * When an answer last became what it is: its newest commit was made then, or later one of its pages grew a day older.
 *
 * @param body JSON text of entries or reports
 * @returns milliseconds since 1970
 */
export function lastModified(body: string, committedAt: Date): number {
  let latest = committedAt.getTime();
  for (const [, crawledAt = '', days = ''] of body.matchAll(AGES)) {
    if (days !== '0') latest = Math.max(latest, Date.parse(crawledAt) + Number(days) * DAY_MS);
  }
  return latest;
}

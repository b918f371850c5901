import type { CoverageEntry } from '../../src/source/contract/coverage.js';
import type { UrlReport } from '../../src/source/contract/report.js';
import { seededRandom } from './random.js';
import type { GivenPage } from './service.js';
import { type BuiltWarehouse, buildWarehouse, type Night } from './warehouse.js';

const FIRST_NIGHT_MS = Date.parse('2025-03-01T02:00:00Z');
const DAY_MS = 86_400_000;
const DIRECTORIES = ['', 'blog/', 'blog/2025/', 'shop/'];
const MAPS = ['https://shop.example/main.xml', 'https://shop.example/blog.xml'];
const OUT_STATES = ['Crawled - currently not indexed', 'Discovered - currently not indexed', 'Soft 404'];
const IN_STATES = ['Submitted and indexed', 'Indexed, not submitted in sitemap'];
/** What the contract refuses. */
const BROKEN: Partial<CoverageEntry> = JSON.parse('{"index_summary": 5}');
const BROKEN_REPORT: Partial<UrlReport> = JSON.parse('{"sitemaps": "none"}');

/**
 * A website whose pages do everything, and often: come, go and return, enter and leave the index, lose their data, are
 * crawled, flip their canonical, join and leave sitemaps. Entries and reports are broken, reports are missing, some
 * nights take only a few of them, some list partially and some not at all.
 *
 * @param websites the first lists all, and each other one half of the same pages on most nights
 */
export function randomWarehouse(
  seed: number,
  nights = 10,
  pages = 40,
  [first, ...others]: readonly [string, ...string[]] = ['shop'],
): Promise<BuiltWarehouse> {
  const random = seededRandom(seed);
  const happens = (chance: number) => random() < chance;
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const lives = Array.from({ length: pages }, (_, page) => {
    const url = `https://shop.example/${oneOf(DIRECTORIES)}${page}`;
    return { url, comes: happens(0.5) ? 0 : Math.floor(random() * nights), entry: {}, report: {} } as Life;
  });
  const live = (life: Life, at: number) => {
    const other = () => oneOf([life.url, life.url, 'https://shop.example/', null]);
    if (happens(0.2) || !('index_summary' in life.entry)) life.entry = { ...life.entry, ...state() };
    if (happens(0.3)) life.entry.last_crawl_time = new Date(at - random() * 3 * DAY_MS).toISOString();
    if (happens(0.1)) life.entry.searchengine_selected_canonical = other();
    if (happens(0.1)) life.entry.user_selected_canonical = other();
    if (happens(0.03)) life.entry = { last_crawl_time: null, index_summary: null, index_coverage_state: null };
    if (happens(0.2)) life.report.sitemaps = oneOf([null, [], MAPS.slice(0, 1), MAPS.slice(1), MAPS]);
    if (happens(0.2)) life.report.blocked_by_robots_txt = oneOf(['Yes', 'No', null]);
    if (happens(0.2)) life.report.page_fetch_status = oneOf(['Successful', 'Soft 404', null]);
  };
  const state = (): Partial<CoverageEntry> =>
    happens(0.5)
      ? { index_summary: 'Indexed', index_coverage_state: oneOf(IN_STATES) }
      : { index_summary: 'Not Indexed', index_coverage_state: oneOf(OUT_STATES) };
  let at = FIRST_NIGHT_MS;
  const made: Night[] = [];
  for (let night = 0; night < nights; night++) {
    const there = lives.filter(({ comes }) => comes <= night);
    for (const life of there) live(life, at);
    const shop = there
      .filter(() => !happens(0.08))
      .map((life): GivenPage => {
        const report = happens(0.05) ? null : happens(0.05) ? BROKEN_REPORT : { ...life.report };
        return { url: life.url, entry: happens(0.04) ? BROKEN : { ...life.entry }, report };
      });
    const maxRejectRatio = happens(0.3) ? 0 : 1;
    const reports = happens(0.3) ? { max_per_run: 10 } : {};
    const half = (nth: number) => shop.filter((_, place) => place % 2 === nth % 2);
    const mirrored = others.filter(() => happens(0.8)).map((id, nth) => [id, half(nth)]);
    const lists = { [first]: shop, ...Object.fromEntries(mirrored) };
    made.push({ at: new Date(at).toISOString(), lists, sections: { reports }, maxRejectRatio });
    at += oneOf([0.5, 1, 1, 1, 3]) * DAY_MS;
  }
  return buildWarehouse(made);
}

interface Life {
  url: string;
  /** The night from which it is listed. */
  comes: number;
  entry: Partial<CoverageEntry>;
  report: Partial<UrlReport>;
}

import { z } from 'zod';

const MOST_CHARACTERS = 500;

/** The columns that a list of pages can have, in their order. The first is always there. */
export const PAGE_COLUMNS = [
  'url',
  'indexed',
  'state',
  'canonical',
  'declared',
  'crawl',
  'crawl_age',
  'report',
  'inspected',
  'fetch',
  'robots',
  'allowed',
  'crawler',
  'sitemaps',
  'detected',
  'first_seen',
] as const;
export type PageColumn = (typeof PAGE_COLUMNS)[number];

const UNASKED: ReadonlySet<PageColumn> = new Set(['url', 'indexed', 'state', 'canonical', 'crawl', 'report']);

/** What each of them is made of: columns of `selected_pages.sql`. */
const READS: Readonly<Record<PageColumn, readonly string[]>> = {
  url: ['url', 'is_gone'],
  indexed: ['index_summary'],
  state: ['index_coverage_state'],
  canonical: ['searchengine_selected_canonical', 'canonicals_match'],
  declared: ['user_selected_canonical'],
  crawl: ['last_crawl_time'],
  crawl_age: ['last_crawl_time'],
  report: ['report_fetched_at'],
  inspected: ['inspection_date'],
  fetch: ['page_fetch_status'],
  robots: ['blocked_by_robots_txt'],
  allowed: ['indexing_allowed'],
  crawler: ['primary_crawler'],
  sitemaps: ['sitemaps', 'sitemap_count'],
  detected: ['page_detection'],
  first_seen: ['first_seen_at'],
};

const names = z.string().max(MOST_CHARACTERS);

/**
 * The columns that an address names, in the order of the list and each once: `state,crawler`, or one parameter for each as
 * a form gives them. Those that are there unasked where it names none.
 */
export const columnsQuery = z
  .union([names, z.array(names)])
  .default('')
  .transform((given) => [given].flat().flatMap((text) => text.split(',').filter((name) => name !== '')))
  .pipe(z.array(z.enum(PAGE_COLUMNS)))
  .transform((asked) => {
    const chosen = asked.length > 0 ? new Set<PageColumn>(['url', ...asked]) : UNASKED;
    return PAGE_COLUMNS.filter((name) => chosen.has(name));
  });

/** What an address has to say for these columns to be shown; nothing for those that are there unasked. */
export function askFor(columns: readonly PageColumn[]): string | undefined {
  const isUnasked = columns.length === UNASKED.size && columns.every((name) => UNASKED.has(name));
  return isUnasked ? undefined : columns.join(',');
}

/** The columns of `selected_pages.sql` that a list with these columns is made of. */
export function readsOf(columns: readonly PageColumn[]): string[] {
  return [...new Set(columns.flatMap((name) => READS[name]))];
}

import { z } from 'zod';
import { askRows, askSelected } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { checkPage, filterText, pagingQuery, skipOf } from '../query.js';
import { columnsQuery, readsOf } from './page-columns.js';
import { askedState, stateOf } from './state-filter.js';

const STATES_OFFERED = 100;
const SORTED_BY = ['url', 'indexed', 'state', 'canonical', 'crawl', 'report'] as const;

export const pagesQuery = z.object({
  ...pagingQuery,
  q: filterText,
  state: askedState,
  indexed: z.enum(['yes', 'no', '-']).optional(),
  canonical: z.enum(['match', 'differ', '-']).optional(),
  monitored: z.enum(['gone', 'all']).optional(),
  columns: columnsQuery,
  sort: z.enum([...SORTED_BY, ...SORTED_BY.map((name) => `-${name}` as const)]).default('url'),
});
export type PagesQuery = z.infer<typeof pagesQuery>;

const maybeText = z.string().nullable().default(null);

/** What was not asked for is null, as what is not known. */
const pageRow = z.object({
  url: z.string(),
  is_gone: z.boolean(),
  index_summary: maybeText,
  index_coverage_state: maybeText,
  canonicals_match: z.boolean().nullable().default(null),
  searchengine_selected_canonical: maybeText,
  user_selected_canonical: maybeText,
  last_crawl_time: maybeText,
  report_fetched_at: maybeText,
  inspection_date: maybeText,
  page_fetch_status: maybeText,
  blocked_by_robots_txt: maybeText,
  indexing_allowed: maybeText,
  primary_crawler: maybeText,
  /** The first three. */
  sitemaps: z.array(z.string()).nullable().default(null),
  sitemap_count: z.int().nullable().default(null),
  page_detection: maybeText,
  first_seen_at: maybeText,
});
export type PageRow = z.infer<typeof pageRow>;

const stateRow = z.object({ state: maybeText, pages: z.int() });

export interface Pages {
  /** What the filter offers; null where a state is not known. */
  states: { state: string | null; pages: number }[];
  count: number;
  rows: PageRow[];
}

/** A window of the pages that a reader asks for. @throws ServiceError 404 for a page behind the last one */
export async function readPages(reader: Reader, website: string, query: PagesQuery): Promise<Pages> {
  const states = await askRows(reader, 'dashboard/states', stateRow, { website, limit: STATES_OFFERED });
  const { q = null, state, indexed = null, canonical = null, monitored = null, sort } = query;
  const { count, rows } = await askSelected(reader, 'dashboard/selected_pages', pageRow, {
    selection: { website, url_contains: q, ...stateParameters(state), indexed, canonical, monitored, sort },
    skip: skipOf(query),
    limit: query.per,
    columns: readsOf(query.columns),
  });
  checkPage(query, count);
  return { states, count, rows };
}

function stateParameters(asked: string | undefined): { any_state: boolean; state: string | null } {
  return { any_state: asked === undefined, state: asked === undefined ? null : stateOf(asked) };
}

import { z } from 'zod';
import { askRows, askSelected } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { checkPage, pagingQuery, skipOf, wishedText } from '../query.js';

const STATES_OFFERED = 100;
export const SORTED_BY = ['url', 'indexed', 'state', 'canonical', 'crawl', 'report'] as const;
export type SortedBy = (typeof SORTED_BY)[number];

export const pagesQuery = z.object({
  ...pagingQuery,
  q: wishedText,
  state: wishedText,
  indexed: z.enum(['yes', 'no', '-']).optional(),
  canonical: z.enum(['match', 'differ', '-']).optional(),
  monitored: z.enum(['gone', 'all']).optional(),
  sort: z.enum([...SORTED_BY, ...SORTED_BY.map((name) => `-${name}` as const)]).default('url'),
});
export type PagesQuery = z.infer<typeof pagesQuery>;

const pageRow = z.object({
  url: z.string(),
  index_summary: z.string().nullable(),
  index_coverage_state: z.string().nullable(),
  canonicals_match: z.boolean().nullable(),
  searchengine_selected_canonical: z.string().nullable(),
  last_crawl_time: z.string().nullable(),
  report_fetched_at: z.string().nullable(),
  is_gone: z.boolean(),
});
export type PageRow = z.infer<typeof pageRow>;

const stateRow = z.object({ state: z.string(), pages: z.int() });

export interface Pages {
  /** What the filter offers; `-` where a state is not known. */
  states: { state: string; pages: number }[];
  count: number;
  rows: PageRow[];
}

/** A window of the pages that a reader asks for. @throws ServiceError 404 for a page behind the last one */
export async function readPages(reader: Reader, website: string, query: PagesQuery): Promise<Pages> {
  const states = await askRows(reader, 'dashboard/states', stateRow, { website, limit: STATES_OFFERED });
  const { q = null, state = null, indexed = null, canonical = null, monitored = null, sort } = query;
  const { count, rows } = await askSelected(reader, 'dashboard/selected_pages', pageRow, {
    wished: { website, url_contains: q, state, indexed, canonical, monitored, sort },
    skip: skipOf(query),
    limit: query.per,
  });
  checkPage(query, count);
  return { states, count, rows };
}

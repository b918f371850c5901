import { z } from 'zod';

const MOST_TEXT_CHARACTERS = 500;
const MOST_STATE_CHARACTERS = 4000;
/** A page with a longer URL is listed, but has no page of its own. `selected_pages` cuts URLs slightly above this. */
export const MOST_URL_CHARACTERS = 16_000;

/** The spans of the macro `age_span`. */
export const SPANS = [
  '0-1 days',
  '2-7 days',
  '8-14 days',
  '15-30 days',
  '31-90 days',
  'over 90 days',
  'never',
] as const;

/** The spans of the macro `crawl_span`. */
export const CRAWL_SPANS = [...SPANS, 'unknown'] as const;

/** What may have changed about a page, as `selected_pages` takes it. */
const CHANGED = [
  'any',
  'fell_out',
  'entered',
  'returned',
  'coverage_state',
  'searchengine_canonical',
  'robots_blocked',
  'appeared',
  'disappeared',
  'retired',
] as const;
export type Changed = (typeof CHANGED)[number];

/** A search text or a chosen value. */
export const filterText = z.string().max(MOST_TEXT_CHARACTERS).optional();

/** The first and last date of a span. */
export const datesQuery = { from: z.iso.date().optional(), to: z.iso.date().optional() };

/** What a list of pages can be filtered by: parameters of its address. `-` is for unknown values. */
export const pageFilters = z.object({
  q: filterText,
  state: z.string().max(MOST_STATE_CHARACTERS).optional(),
  indexed: z.enum(['yes', 'no', 'gone', '-']).optional(),
  directory: filterText,
  sitemap: z.string().max(MOST_URL_CHARACTERS).optional(),
  canonical: z.enum(['match', 'differ', 'undeclared', '-']).optional(),
  crawl: z.enum(CRAWL_SPANS).optional(),
  /** A `page_fetch_status`, or `failed` for any but success. */
  fetch: filterText,
  problem: z.enum(['rich_results', 'unconfirmed']).optional(),
  /** Values of the user's own columns: `owner=Anna&template=article`. */
  own: filterText,
  changed: z.enum(CHANGED).optional(),
  monitored: z.enum(['gone', 'all']).optional(),
  ...datesQuery,
});
export type PageFilters = z.infer<typeof pageFilters>;

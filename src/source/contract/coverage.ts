import { z } from 'zod';
import { absoluteUrl, integer, text, timestamp, truth } from './fields.js';

/**
 * One monitored page of the coverage listing (specification, 2.1). Only `url` must be there: a known field that is
 * absent is a drift observation, not a reason to lose the page. `canonicals_match` is *omitted* for a page without
 * inspection data and null for one without a selected canonical; `optional` keeps the two apart.
 */
export const coverageEntrySchema = z.looseObject({
  url: absoluteUrl,
  index_summary: text.nullish(),
  index_coverage_state: text.nullish(),
  canonicals_match: truth.nullish(),
  searchengine_selected_canonical: absoluteUrl.nullish(),
  user_selected_canonical: absoluteUrl.nullish(),
  last_crawl_time: timestamp.nullish(),
  days_since_last_crawl: integer.nullish(),
  inspection_link: absoluteUrl.nullish(),
  service_link: absoluteUrl.nullish(),
});
export type CoverageEntry = z.infer<typeof coverageEntrySchema>;

/** The pagination object (2.2). An absent field says nothing about where the listing ends. */
export const paginationSchema = z.looseObject({
  next_page: text.nullish(),
  prev_page: text.nullish(),
  end: z.boolean().nullish(),
  count: integer.nonnegative().nullish(),
  skip: integer.nonnegative().nullish(),
  limit: integer.nonnegative().nullish(),
  current_page: integer.nullish(),
  total_page: integer.nullish(),
});
export type Pagination = z.infer<typeof paginationSchema>;

/** One window of the listing (4.1). Its entries are checked one by one, so that one bad entry costs only itself. */
export const coverageWindowSchema = z.looseObject({
  urls: z.array(z.unknown()),
  pagination: paginationSchema,
});

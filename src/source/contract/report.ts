import { z } from 'zod';
import { absoluteUrl, integer, text, timestamp } from './fields.js';

/**
 * A URL report (specification, 2.3). Every field but `url` may be null, because a page without inspection data has
 * a report too; texts are open sets, because their allowed values are not shown.
 */
export const urlReportSchema = z.looseObject({
  url: absoluteUrl,
  index_summary: text.nullish(),
  index_coverage_state: text.nullish(),
  indexing_allowed: text.nullish(),
  searchengine_selected_canonical: absoluteUrl.nullish(),
  user_selected_canonical: absoluteUrl.nullish(),
  searchenginebot_primary_crawler: text.nullish(),
  last_crawl_time: timestamp.nullish(),
  days_since_last_crawl: integer.nullish(),
  page_fetch_status: text.nullish(),
  blocked_by_robots_txt: text.nullish(),
  sitemaps: z.array(absoluteUrl).nullish(),
  inspection_date: timestamp.nullish(),
  page_detection: timestamp.nullish(),
  inspection_link: absoluteUrl.nullish(),
  service_link: absoluteUrl.nullish(),
  previously_indexed: text.nullish(),
  previously_indexed_timestamp: timestamp.nullish(),
  previously_indexed_link: absoluteUrl.nullish(),
  canonical_changed: text.nullish(),
  canonical_changed_searchengine_canonical: absoluteUrl.nullish(),
  canonical_changed_user_canonical: absoluteUrl.nullish(),
  canonical_changed_timestamp: timestamp.nullish(),
  canonical_changed_link: absoluteUrl.nullish(),
  ever_blocked_by_robots_txt: text.nullish(),
  ever_blocked_by_robots_txt_timestamp: timestamp.nullish(),
  ever_blocked_by_robots_txt_link: absoluteUrl.nullish(),
});
export type UrlReport = z.infer<typeof urlReportSchema>;

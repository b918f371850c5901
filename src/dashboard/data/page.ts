import { z } from 'zod';
import { askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { ServiceError } from '../../service/errors.js';
import { pageUrl, pagingQuery } from '../query.js';
import { type ChangeRow, readChangesOf } from './changes.js';

export const pageQuery = z.object({ ...pagingQuery, url: pageUrl });
export type PageQuery = z.infer<typeof pageQuery>;

const maybeText = z.string().nullable();

const factsRow = z.object({
  url: z.string(),
  first_seen_at: maybeText,
  last_seen_at: maybeText,
  listed_at: maybeText,
  index_summary: maybeText,
  index_coverage_state: maybeText,
  canonicals_match: z.boolean().nullable(),
  searchengine_selected_canonical: maybeText,
  user_selected_canonical: maybeText,
  last_crawl_time: maybeText,
  report_snapshot_id: maybeText,
  report_fetched_at: maybeText,
  absences: z.int(),
  consecutive_failures: z.int(),
  last_failure_at: maybeText,
  disappeared_at: maybeText,
});
export type PageFacts = z.infer<typeof factsRow>;

const reportRow = z.object({
  fetched_at: z.string(),
  reason: maybeText,
  index_summary: maybeText,
  index_coverage_state: maybeText,
  indexing_allowed: maybeText,
  searchengine_selected_canonical: maybeText,
  user_selected_canonical: maybeText,
  searchenginebot_primary_crawler: maybeText,
  last_crawl_time: maybeText,
  page_fetch_status: maybeText,
  blocked_by_robots_txt: maybeText,
  sitemaps: maybeText,
  inspection_date: maybeText,
  page_detection: maybeText,
  inspection_link: maybeText,
  service_link: maybeText,
  previously_indexed: maybeText,
  previously_indexed_timestamp: maybeText,
  canonical_changed: maybeText,
  canonical_changed_timestamp: maybeText,
  ever_blocked_by_robots_txt: maybeText,
  ever_blocked_by_robots_txt_timestamp: maybeText,
});
const sitemapsText = z.array(z.string());
export type PageReport = Omit<z.infer<typeof reportRow>, 'sitemaps'> & { sitemaps: string[] | null };

export interface PageTimeline {
  facts: PageFacts;
  /** Null where none was fetched, or none is kept. */
  report: PageReport | null;
  /** How many changes there are in all, and a window of them, the newest first. */
  count: number;
  rows: ChangeRow[];
}

/** What is known of one page. @throws ServiceError 404 for an unknown one, and for a window behind the last change */
export async function readPage(reader: Reader, website: string, query: PageQuery): Promise<PageTimeline> {
  const { url } = query;
  const [facts] = await askRows(reader, 'dashboard/page', factsRow, { website, url });
  if (!facts) throw new ServiceError(404, 'This website never listed such a page.');
  return {
    facts,
    report: await readReport(reader, website, facts),
    ...(await readChangesOf(reader, website, url, query)),
  };
}

async function readReport(reader: Reader, website: string, facts: PageFacts): Promise<PageReport | null> {
  const { url, report_snapshot_id: snapshot } = facts;
  if (snapshot === null) return null;
  const [row] = await askRows(reader, 'dashboard/page_report', reportRow, { website, url, snapshot });
  if (!row) return null;
  const { sitemaps } = row;
  return { ...row, sitemaps: sitemaps === null ? null : sitemapsText.parse(JSON.parse(sitemaps)) };
}

import { z } from 'zod';
import { askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { askOf } from '../../report/ask.js';
import { type DriftRow, driftRow, type RejectedRow, rejectedRow } from '../../report/rows.js';
import { checkPage, pagingQuery, skipOf } from '../query.js';
import { newestDates } from './nights.js';

const NIGHTS_LOOKED_AT = 30;
const ODDITIES_LISTED = 50;
/** An id that is another website's name gives that one's rows too, which are then left out. */
const DRIFT_READ = 500;

export const runsQuery = z.object(pagingQuery);
export type RunsQuery = z.infer<typeof runsQuery>;

const maybeWhole = z.int().nullable();
const maybeText = z.string().nullable();

const runRow = z.object({
  started_at: z.string(),
  took_seconds: z.number(),
  outcome: z.string(),
  error: maybeText,
  listing_status: maybeText,
  pages_expected: maybeWhole,
  pages_listed: maybeWhole,
  pages_rejected: maybeWhole,
  reports_status: maybeText,
  reports_planned: maybeWhole,
  reports_wanted: maybeWhole,
  reports_fetched: maybeWhole,
  reports_missing: maybeWhole,
  reports_failed: maybeWhole,
  reports_rejected: maybeWhole,
  requests_sent: maybeWhole,
  requests_throttled: maybeWhole,
});
export type WebsiteRun = z.infer<typeof runRow>;
const countRow = z.object({ runs: z.int() });

export interface Runs {
  count: number;
  rows: WebsiteRun[];
  /** What was quarantined since then, by what is wrong with it. */
  since: string;
  rejected: RejectedRow[];
  /** What the service did that its contract does not foresee, the newest first. */
  drift: DriftRow[];
}

/** The runs of a website, a window of them, and the quality of what they brought. @throws ServiceError 404 */
export async function readRuns(reader: Reader, website: string, query: RunsQuery): Promise<Runs> {
  const [counted] = await askRows(reader, 'dashboard/runs_counted', countRow, { website });
  const count = counted?.runs ?? 0;
  checkPage(query, count);
  const rows = await askRows(reader, 'dashboard/runs', runRow, { website, limit: query.per, skip: skipOf(query) });
  const dates = newestDates(reader.markers, website, NIGHTS_LOOKED_AT);
  const since = dates.at(-1) ?? reader.today;
  const rejected = await askRows(reader, 'report/rejected', rejectedRow, {
    website,
    since,
    until: dates[0] ?? reader.today,
    limit: ODDITIES_LISTED,
  });
  const drift = await askOf(reader, 'drift_diary', driftRow, website, { limit: String(DRIFT_READ) });
  return { count, rows, since, rejected, drift: drift.slice(0, ODDITIES_LISTED) };
}

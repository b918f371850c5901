import { z } from 'zod';
import { askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { askOf } from '../../report/ask.js';
import { addDays, type Span } from '../../report/period.js';
import { type SnapshotRow, snapshotRow, type TrendRow, trendRow } from '../../report/rows.js';
import { type Day, trendOf } from '../../report/trend.js';
import { type KindCount, readKinds } from './changes.js';
import { newestDates } from './nights.js';

const DAYS_SHOWN = 90;
const REPORT_ROWS = 10;

const reportAge = z.object({ website_id: z.string(), report_age: z.string(), pages: z.int() });

export interface Overview {
  /** Dates with a complete listing within the days shown, oldest first. */
  listings: TrendRow[];
  days: Day[];
  span: Span;
  /** Null where there is none within the days shown. */
  newest: SnapshotRow | null;
  /** What changed in the newest night. */
  changes: KindCount[];
  reportAges: { span: string; pages: number }[];
}

/** What a website's overview tells: the last 90 days up to its newest snapshot. */
export async function readOverview(reader: Reader, website: string): Promise<Overview> {
  const until = newestDates(reader.markers, website, 1)[0] ?? reader.today;
  const span = { since: addDays(until, 1 - DAYS_SHOWN), until };
  const listings = await askOf(reader, 'indexing_trend', trendRow, website, { since: span.since });
  const dates = { website, from: span.since, until };
  const snapshots = await askRows(reader, 'report/snapshots', snapshotRow, dates);
  const ages = await askOf(reader, 'report_ages', reportAge, website);
  return {
    listings,
    days: trendOf(listings, snapshots, span),
    span,
    newest: snapshots.at(-1) ?? null,
    changes: await readKinds(reader, website, { since: until }),
    reportAges: ages.slice(0, REPORT_ROWS).map(({ report_age, pages }) => ({ span: report_age, pages })),
  };
}

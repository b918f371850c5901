import type { Counts, Day, Span } from '../html/charts/trend-chart.js';
import { NO_ESTIMATE } from './estimate.js';
import { datesOf } from './period.js';
import type { TrendRow } from './rows.js';

const NONE: Counts = { pages: 0, indexed: 0, ...NO_ESTIMATE };

/**
 * The trend over every date of a span, starting with the first that has a complete listing. Of several websites, a date counts
 * each with its newest complete listing up to then, because one that was not listed on a date did not lose its pages.
 *
 * @param rows of each website, by date
 */
export function trendOf(rows: readonly TrendRow[], span: Span): Day[] {
  const byDate = new Map<string, TrendRow[]>();
  for (const row of rows) byDate.set(row.snapshot_date, [...(byDate.get(row.snapshot_date) ?? []), row]);
  const known = new Map<string, Counts>();
  for (const row of rows) if (row.snapshot_date < span.since) known.set(row.website_id, row);
  const days = datesOf(span).map((date): Day => {
    const listed = byDate.get(date) ?? [];
    for (const row of listed) known.set(row.website_id, row);
    return { date, counts: listed.length > 0 ? sum([...known.values()]) : null };
  });
  const first = days.findIndex(({ counts }) => counts !== null);
  return first < 0 ? [] : days.slice(first);
}

function sum(counts: readonly Counts[]): Counts {
  const [only, second] = counts;
  if (only && !second) return only;
  return counts.reduce((total, { pages, indexed }) => {
    return { ...NONE, pages: total.pages + pages, indexed: total.indexed + indexed };
  }, NONE);
}

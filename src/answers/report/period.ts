import { UsageError } from '../../base/exit.js';
import { addDays, DAY_MS } from '../../base/time.js';
import type { Span } from '../html/charts/trend-chart.js';
import { valuesOf } from '../query/parameters.js';

const DAYS_SHOWN = 90;
/** Of a longer period, only the newest part is drawn, because a day needs some width. */
const MOST_DAYS_SHOWN = 400;

export interface Period extends Span {
  days: number;
  /** As many days right before it. */
  previous: Span;
  /** What the trend shows: the last 90 days, or the whole of a longer period. */
  shown: Span;
}

/**
 * The period of a report: by default seven days that end with the newest snapshot.
 *
 * @param given dates in the forms that analyses take: `2025-03-31`, `today`, `7 days ago`
 * @param today the date of the newest snapshot
 * @throws UsageError for an invalid date, and for a period that ends before it begins
 */
export function periodOf(given: { since?: string | undefined; until?: string | undefined }, today: string): Period {
  const until = readDate('until', given.until ?? 'today', today);
  const since = given.since === undefined ? addDays(until, -6) : readDate('since', given.since, today);
  const days = daysBetween(since, until) + 1;
  if (days < 1) throw new UsageError(`the report would begin on ${since}, after its end on ${until}`);
  const first = addDays(until, 1 - Math.min(Math.max(days + 1, DAYS_SHOWN), MOST_DAYS_SHOWN));
  return {
    since,
    until,
    days,
    previous: { since: addDays(since, -days), until: addDays(since, -1) },
    shown: { since: first, until },
  };
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** Every date of a span, in order. */
export function datesOf({ since, until }: Span): string[] {
  return Array.from({ length: daysBetween(since, until) + 1 }, (_, day) => addDays(since, day));
}

function readDate(name: string, text: string, today: string): string {
  const description = name === 'since' ? 'first date' : 'last date';
  const parameters = [{ name, type: 'date' as const, default: null, description }];
  return String(valuesOf({ name: 'report', parameters }, new Map([[name, text]]), today)[name]);
}

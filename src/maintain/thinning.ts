import { DAY_MS } from '../time.js';
import type { Marker } from '../warehouse/markers.js';
import type { ThinnedTable } from '../warehouse/tables.js';

const DATE_LENGTH = 10;
const MONTH_LENGTH = 7;

/** Which Parquet files stay whatever they hold. */
export interface ThinningRule {
  /** `YYYY-MM-DD`: snapshots of this date and later are all kept. */
  dailyFrom: string;
  /** Of earlier ones, the last complete snapshot of each calendar month or ISO week stays. */
  period: 'weekly' | 'monthly';
}

/**
 * Why a file stays, or that it goes:
 *
 * - `goes`: nothing needs it.
 * - `recent`: it is not old enough.
 * - `last_of_period`: the last complete snapshot of its week or month that has rows of the table; without a complete
 *   one, the last.
 * - `newest_listing`: the website's newest complete listing.
 * - `replayed`: rows of a replay, from which the view `quarantine` tells what was replayed.
 * - `last_listings`: pages that are monitored were not listed since.
 * - `newest_reports`: it holds the newest report of a page.
 */
export const FATES = [
  'goes',
  'recent',
  'last_of_period',
  'newest_listing',
  'replayed',
  'last_listings',
  'newest_reports',
] as const;
export type Fate = (typeof FATES)[number];

/**
 * What the rule makes of a website's files of one table. Those that go may still hold what has to stay.
 *
 * @param markers all of the website, oldest first
 */
export function thin(markers: readonly Marker[], table: ThinnedTable, rule: ThinningRule): Map<Marker, Fate> {
  const having = markers.filter((marker) => Object.hasOwn(marker.files, table));
  const snapshots = having.filter(({ kind }) => kind === 'snapshot');
  const newest = markers.findLast(({ listingComplete }) => listingComplete);
  const last = lastOfEachPeriod(snapshots, rule.period);
  const fateOf = (marker: Marker): Fate => {
    if (marker.kind === 'replay') return 'replayed';
    if (marker.date >= rule.dailyFrom) return 'recent';
    if (table === 'coverage' && marker === newest) return 'newest_listing';
    return last.has(marker) ? 'last_of_period' : 'goes';
  };
  return new Map(having.map((marker) => [marker, fateOf(marker)]));
}

function lastOfEachPeriod(snapshots: readonly Marker[], period: ThinningRule['period']): Set<Marker> {
  const last = new Map<string, Marker>();
  for (const marker of snapshots) {
    const key = period === 'monthly' ? marker.date.slice(0, MONTH_LENGTH) : mondayOf(marker.date);
    if (marker.listingComplete || !last.get(key)?.listingComplete) last.set(key, marker);
  }
  return new Set(last.values());
}

/** The Monday of a date's ISO week, `YYYY-MM-DD`. */
function mondayOf(date: string): string {
  const at = new Date(`${date}T00:00:00Z`);
  const sinceMonday = (at.getUTCDay() + 6) % 7;
  return new Date(at.getTime() - sinceMonday * DAY_MS).toISOString().slice(0, DATE_LENGTH);
}

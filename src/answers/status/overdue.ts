import { lastTime } from '../../base/config/cron.js';
import { duration, moment } from '../../base/observe/format.js';
import { DAY_MS, HOUR_MS } from '../../base/time.js';
import type { Marker } from '../../warehouse/log/markers.js';

/** When nights are due. */
export interface Due {
  /** When they begin: a cron expression in a time zone. Null: in the rhythm of the last nights, if they have one. */
  schedule: { cron: string; timeZone: string } | null;
  /** How late one may be, in milliseconds. */
  overdue: number;
}

/** The last nights, of which at least three must be as far from each other, but for a quarter. */
const NIGHTS = 6;
const LEAST_NIGHTS = 3;
const MOST_UNEVEN = 1.25;
const LONGEST_RHYTHM_MS = 31 * DAY_MS;

/** That a night should have begun by now, and why; null if none is missed, or nobody knows when one is due. */
export function overdueText(
  markers: readonly Marker[],
  { due, now }: { due?: Due | undefined; now: number },
): string | null {
  const begun = new Map<string, number>();
  for (const { runId, snapshotAt } of markers) {
    begun.set(runId, Math.min(begun.get(runId) ?? Number.POSITIVE_INFINITY, Date.parse(snapshotAt)));
  }
  const runs = [...begun.values()].sort((one, other) => one - other);
  const last = runs.at(-1);
  if (!due || last === undefined) return null;
  const since = due.schedule ? lastDue(due.schedule, now - due.overdue) : last + (rhythmOf(runs) ?? Number.NaN);
  if (since === null || Number.isNaN(since) || since <= last || now <= since + due.overdue) return null;
  const from = due.schedule ? 'schedule.nightly-sync' : 'the rhythm of the last nights';
  return `no run since ${moment(iso(last))}, though one was due at ${moment(iso(since))} by ${from}, ${duration(now - since)} ago; check that \`indexhouse sync\` runs`;
}

function lastDue({ cron, timeZone }: { cron: string; timeZone: string }, before: number): number | null {
  return lastTime(cron, timeZone, { now: before, since: before - LONGEST_RHYTHM_MS });
}

/** The time between two of the last nights, in milliseconds; null if they have no rhythm. */
function rhythmOf(runs: readonly number[]): number | null {
  const nights = runs.slice(-NIGHTS);
  const gaps = nights.slice(1).map((at, place) => at - (nights[place] ?? at));
  const [least, most] = [Math.min(...gaps), Math.max(...gaps)];
  return nights.length >= LEAST_NIGHTS && least >= HOUR_MS && most <= least * MOST_UNEVEN ? most : null;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

import { lastTime } from '../../base/config/cron.js';
import { duration, moment } from '../../base/observe/format.js';
import { DAY_MS, HOUR_MS } from '../../base/time.js';
import type { Marker } from '../../warehouse/log/markers.js';
import type { WebsiteStatus } from './website-status.js';

/** When nights are due. */
export interface Due {
  /** When they begin: a cron expression in a time zone. Null: in the rhythm of the last nights, if they have one. */
  schedule: { cron: string; timeZone: string } | null;
  /** When they begin while the daemon runs, if `schedule` is null. */
  ofDaemon?: Due['schedule'];
}

/** How late a night may be: a run before it may hold the lock for a while, and cron may start it late. */
const MOST_LATE_MS = 2 * HOUR_MS;
/** So many of the last nights show a rhythm, if they are at least three and no gap is a quarter longer than another. */
const NIGHTS = 6;
const LEAST_NIGHTS = 3;
const MOST_UNEVEN = 1.25;
/** How far back a schedule is searched for the last time that it names. */
const LOOK_BACK_MS = 31 * DAY_MS;

/**
 * That a night should have begun by now, and why; null if none is missed, or nobody knows when one is due.
 *
 * @param nights when each began, in milliseconds since 1970, oldest first
 */
export function overdueText(
  nights: readonly number[],
  { due, now }: { due?: Due | undefined; now: number },
): string | null {
  if (!due) return null;
  const last = nights.at(-1);
  const latest = now - MOST_LATE_MS;
  const since = due.schedule
    ? lastTime(due.schedule.cron, due.schedule.timeZone, { now: latest, since: latest - LOOK_BACK_MS })
    : nextOf(nights);
  if (last === undefined || since === null || since <= last || since >= latest) return null;
  const from = due.schedule ? 'schedule.nightly-sync' : 'the rhythm of the last nights';
  return `no run since ${moment(last)}, though one was due at ${moment(since)} by ${from}, ${duration(now - since)} ago; check that \`indexhouse sync\` runs`;
}

/** When each night began, in milliseconds since 1970, oldest first: those that committed something, and the last runs. */
export function nightsOf(markers: readonly Marker[], websites: readonly Pick<WebsiteStatus, 'last_run'>[]): number[] {
  const begun = new Map<string, number>();
  for (const { runId, snapshotAt } of markers) {
    begun.set(runId, Math.min(begun.get(runId) ?? Number.POSITIVE_INFINITY, Date.parse(snapshotAt)));
  }
  for (const { last_run: run } of websites) if (run) begun.set(run.run_id, Date.parse(run.started_at));
  return [...begun.values()].sort((one, other) => one - other);
}

/** When the night after these is due; null if they have no rhythm. */
function nextOf(all: readonly number[]): number | null {
  const nights = all.slice(-NIGHTS);
  const gaps = nights.slice(1).map((at, place) => at - (nights[place] ?? at));
  const [least, most] = [Math.min(...gaps), Math.max(...gaps)];
  const hasRhythm = nights.length >= LEAST_NIGHTS && least >= HOUR_MS && most <= least * MOST_UNEVEN;
  return hasRhythm ? (nights.at(-1) ?? 0) + most : null;
}

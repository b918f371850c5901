import { createTask } from 'node-cron';
import { MINUTE_MS } from '../time.js';

/** Enough for a week of working days. */
const NEXT_RUNS = 10;

/**
 * When a cron expression comes next, so many times at most.
 *
 * @param timeZone IANA name
 */
export function nextTimes(cron: string, timeZone: string, count: number): Date[] {
  return createTask(cron, () => {}, { timezone: timeZone }).getNextRuns(count);
}

/**
 * The longest time between two of a cron expression's next runs, in milliseconds; null where fewer than two are left.
 *
 * @param timeZone IANA name
 */
export function longestGap(cron: string, timeZone: string): number | null {
  const times = nextTimes(cron, timeZone, NEXT_RUNS).map(Number);
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time));
  return gaps.length > 0 ? Math.max(...gaps) : null;
}

/**
 * When a cron expression last came, not longer ago than that; null where it did not. All in milliseconds since 1970.
 *
 * @param timeZone IANA name
 */
export function lastTime(
  cron: string,
  timeZone: string,
  { now, since }: { now: number; since: number },
): number | null {
  const task = createTask(cron, () => {}, { timezone: timeZone });
  for (let at = now - (now % MINUTE_MS); at >= since; at -= MINUTE_MS) if (task.match(new Date(at))) return at;
  return null;
}

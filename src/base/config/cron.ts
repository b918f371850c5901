import { createRequire } from 'node:module';
import type { Cron } from 'croner';
import { SECOND_MS } from '../time.js';

const load = createRequire(import.meta.url);

/** Enough for a week of working days. */
const NEXT_RUNS = 10;

/** Why a text is not a cron expression, or never matches; null if it is a usable one. */
export function whyNotCron(cron: string): string | null {
  // Croner also accepts a single date.
  if (!/^(@[a-z]+|\S+(\s+\S+){4,5})$/i.test(cron.trim())) return 'it does not have five fields';
  try {
    return parsed(cron, 'UTC').nextRun() === null ? 'there is no such date' : null;
  } catch (error) {
    return String(error).replace(/^.*?CronPattern: /, '');
  }
}

/**
 * The next times of a cron expression, at most `count`. A time in the hour that a change to summer time skips comes
 * right after it; a time in the hour that comes twice comes once.
 *
 * @param timeZone IANA name
 */
export function nextTimes(cron: string, timeZone: string, count: number, after = new Date()): Date[] {
  return parsed(cron, timeZone).nextRuns(count, after);
}

/**
 * The longest time between two of a cron expression's next runs, in milliseconds; null if fewer than two are left.
 *
 * @param timeZone IANA name
 */
export function longestGap(cron: string, timeZone: string): number | null {
  const times = nextTimes(cron, timeZone, NEXT_RUNS).map(Number);
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time));
  return gaps.length > 0 ? Math.max(...gaps) : null;
}

/**
 * The last time of a cron expression, not before `since`; null if there is none. All in milliseconds since 1970.
 *
 * @param timeZone IANA name
 */
export function lastTime(
  cron: string,
  timeZone: string,
  { now, since }: { now: number; since: number },
): number | null {
  // `previousRuns` looks before this, so that a time within the current second counts.
  const before = new Date(now - (now % SECOND_MS) + SECOND_MS);
  const [last] = parsed(cron, timeZone).previousRuns(1, before);
  return last && last.getTime() >= since ? last.getTime() : null;
}

/** Loads the library with the first expression, because most commands have none. */
function parsed(cron: string, timezone: string): Cron {
  const { Cron: Parsed }: typeof import('croner') = load('croner');
  return new Parsed(cron, { timezone, mode: '5-or-6-parts' });
}

import { createRequire } from 'node:module';
import type { Cron } from 'croner';
import { SECOND_MS } from '../time.js';

const load = createRequire(import.meta.url);

/** Enough for a week of working days. */
const NEXT_RUNS = 10;

/** Why a text is no cron expression, or one that never comes; null where it is one. */
export function whyNotCron(cron: string): string | null {
  // Croner also takes a single date.
  if (!/^(@[a-z]+|\S+(\s+\S+){4,5})$/i.test(cron.trim())) return 'it does not have five fields';
  try {
    return parsed(cron, 'UTC').nextRun() === null ? 'there is no such date' : null;
  } catch (error) {
    return String(error).replace(/^.*?CronPattern: /, '');
  }
}

/**
 * When a cron expression comes next, so many times at most. What falls into the hour that a summer-time change skips
 * comes right after it; what falls into the hour that comes twice, comes once.
 *
 * @param timeZone IANA name
 */
export function nextTimes(cron: string, timeZone: string, count: number, after = new Date()): Date[] {
  return parsed(cron, timeZone).nextRuns(count, after);
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
  // What comes before the next whole second.
  const before = new Date(now - (now % SECOND_MS) + SECOND_MS);
  const [last] = parsed(cron, timeZone).previousRuns(1, before);
  return last && last.getTime() >= since ? last.getTime() : null;
}

/** Loaded with the first expression: most commands read none. */
function parsed(cron: string, timezone: string): Cron {
  const { Cron: Parsed }: typeof import('croner') = load('croner');
  return new Parsed(cron, { timezone, mode: '5-or-6-parts' });
}

import { calendarDate, DAY_MS } from '../../../base/time.js';
import { hash } from '../simulator/random.js';
import type { World } from '../simulator/world.js';

const KEPT_MONTHS = 16;
const SALT = 30;

/** The date in California, where the days of Search Console begin and end. */
export function pacificDate(ms: number): string {
  return calendarDate(new Date(ms), 'America/Los_Angeles');
}

/** The date in California of night 0, in milliseconds since 1970. */
export function dayZero({ start }: World): number {
  return Date.parse(pacificDate(start.getTime()));
}

/** The days of which search analytics knows something on the world's night, as nights: today is the last one. */
export function daysOf(world: World) {
  const { seed, night } = world;
  const zero = dayZero(world);
  const kept = new Date(zero + night * DAY_MS);
  kept.setUTCMonth(kept.getUTCMonth() - KEPT_MONTHS);
  return {
    nightOf: (date: string): number => (Date.parse(date) - zero) / DAY_MS,
    dateOf: (one: number): string => new Date(zero + one * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length),
    first: (kept.getTime() - zero) / DAY_MS,
    /** The last two or three days are incomplete, by the night. */
    firstIncomplete: night - 1 - (hash(seed, night, 0, SALT) % 2),
    last: night,
  };
}

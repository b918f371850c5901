import type { Config } from '../../../base/config/schema.js';

/** The calendar date of a moment in a time zone, as `YYYY-MM-DD`. */
export function calendarDate(at: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return parts.format(at);
}

/** The calendar date `ms` milliseconds before `now`, in the warehouse's time zone; null if `ms` is infinite. */
export function dateBefore(ms: number, { warehouse }: Config, now: number): string | null {
  return Number.isFinite(ms) ? calendarDate(new Date(now - ms), warehouse.time_zone) : null;
}

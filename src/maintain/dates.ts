import type { Config } from '../config/schema.js';
import { calendarDate } from '../run/dates.js';

/** The calendar date of so many milliseconds before `now`, in the warehouse's time zone; null where it is for ever. */
export function dateBefore(ms: number, { warehouse }: Config, now: number): string | null {
  return Number.isFinite(ms) ? calendarDate(new Date(now - ms), warehouse.time_zone) : null;
}

/** The date that `indexhouse.duckdb` is to hold rows of `coverage` and `url_reports` from; null for all. */
export function retainedFrom(config: Config, now: number): string | null {
  return dateBefore(config.retention.duckdb_keep, config, now);
}

import { longestGap } from '../config/cron.js';
import type { Config } from '../config/schema.js';
import { followersOf } from '../followers/follow.js';
import { DAY_MS, HOUR_MS } from '../time.js';
import type { StatusInput } from './status.js';

/** DuckDB's memory if only a folder is given. */
export const DEFAULT_MEMORY_LIMIT_BYTES = 1e9;

/** The defaults of the configuration, used if only a folder is given. */
export const STATUS_DEFAULTS = {
  memoryLimit: DEFAULT_MEMORY_LIMIT_BYTES,
  resumeWithin: 6 * HOUR_MS,
  maxRejectRatio: 0.01,
  maxAge: 2 * DAY_MS,
  websites: [],
};

export function statusInputOf(config: Config): StatusInput {
  const { warehouse, sync, quality, websites } = config;
  return {
    warehouse: warehouse.path,
    memoryLimit: warehouse.memory_limit,
    resumeWithin: sync.resume_within,
    maxRejectRatio: quality.max_reject_ratio,
    maxAge: maxAgeOf(config),
    websites: websites === 'all' ? [] : websites.map(({ id, name }) => ({ id, name: name ?? null })),
    followers: followersOf(config),
    now: Date.now(),
  };
}

/** The age above which a snapshot is stale, in milliseconds. If the nightly sync is switched off, one a day is assumed. */
export function maxAgeOf({ status, schedule }: Config): number {
  if (status.max_age !== 'auto') return status.max_age;
  const cron = schedule['nightly-sync'];
  return (cron && 2 * (longestGap(cron, schedule.time_zone) ?? 0)) || STATUS_DEFAULTS.maxAge;
}

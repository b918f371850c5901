import { longestGap } from '../../base/config/cron.js';
import { type Config, configSchema } from '../../base/config/schema.js';
import { isExcepted } from '../../base/config/websites.js';
import { diskOf } from '../../base/storage/free-disk.js';
import { endingSignIns } from '../../source/search-console/credentials.js';
import { DEFAULT_AGE_RULE } from './data-age.js';
import type { StatusInput } from './found.js';
import type { Due } from './overdue.js';

/** The defaults of the configuration, used if only a folder is given. */
export const STATUS_DEFAULTS = {
  memoryLimit: configSchema.shape.warehouse.parse({}).memory_limit,
  ...DEFAULT_AGE_RULE,
};

export function statusInputOf(config: Config): StatusInput {
  const { warehouse } = config;
  const websites = Array.isArray(config.websites) ? config.websites : [];
  return {
    warehouse: warehouse.path,
    memoryLimit: warehouse.memory_limit,
    maxAge: maxAgeOf(config),
    websites: websites.map(({ id, name }) => ({ id, name: name ?? null })),
    isExcepted: (id) => isExcepted(config, id),
    due: dueOf(config),
    diskOf,
    // Loaded here, because a bucket needs an HTTP client.
    followers: async () => (await import('../../warehouse/copies/follow.js')).followersOf(config),
    signIns: (now) => endingSignIns(config, now).map(({ text }) => text),
    now: Date.now(),
  };
}

/** When nights are due: by the schedule, if the configuration has one or the daemon runs; undefined if never. */
export function dueOf({ hasSchedule, schedule: { 'nightly-sync': cron }, sync, warehouse }: Config): Due | undefined {
  // The nights of a simulator come when somebody advances it.
  if (sync.clock === 'service') return undefined;
  const schedule = cron ? { cron, timeZone: warehouse.time_zone } : null;
  return hasSchedule ? { schedule } : { schedule: null, ofDaemon: schedule };
}

/** The age above which a snapshot is stale, in milliseconds. If the nightly sync is switched off, one a day is assumed. */
export function maxAgeOf({ status, schedule, warehouse }: Config): number {
  if (status.max_age !== 'auto') return status.max_age;
  const cron = schedule['nightly-sync'];
  return (cron && 2 * (longestGap(cron, warehouse.time_zone) ?? 0)) || STATUS_DEFAULTS.maxAge;
}

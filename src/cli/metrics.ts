import { metricsOf } from '../analysis/metrics.js';
import { readStatus, type StatusInput } from '../analysis/status.js';
import type { Config } from '../config/schema.js';
import { longestGap } from '../schedule/cron.js';
import { writeDurably } from '../storage/durable.js';
import { DAY_MS, HOUR_MS } from '../time.js';
import { DEFAULT_MEMORY_LIMIT_BYTES } from './configured.js';

/** What holds where only a folder is named: the defaults of the configuration. */
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
    now: Date.now(),
  };
}

/** Milliseconds. Whoever has another clock than our own for the nights most likely has it nightly too. */
function maxAgeOf({ status, schedule }: Config): number {
  if (status.max_age !== 'auto') return status.max_age;
  const cron = schedule['nightly-sync'];
  return (cron && 2 * (longestGap(cron, schedule.time_zone) ?? 0)) || STATUS_DEFAULTS.maxAge;
}

/** Writes how the warehouse is doing for a textfile collector, whole or not at all. Not while this process syncs. */
export async function writeMetrics(config: Config, file: string): Promise<void> {
  await writeDurably(file, await metricsOf(await readStatus(statusInputOf(config))));
}

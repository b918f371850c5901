import type { Config } from '../config/schema.js';
import type { Logger } from '../observe/log.js';
import { writeAnalytics } from './analytics.js';
import { type FollowerState, followDuckdb } from './duckdb.js';

export interface FollowInput {
  config: Config;
  warehouse: string;
  log: Logger;
}

/** Lets everything that follows the log catch up. What cannot only lags: nothing here can stop a sync. */
export async function followAll(input: FollowInput): Promise<FollowerState[]> {
  const { config, warehouse, log } = input;
  const duckdb = await followDuckdb({
    warehouse,
    memoryLimit: config.warehouse.memory_limit,
    lockTimeout: config.warehouse.lock_timeout,
  });
  if (duckdb.reason) log.warn({ follower: duckdb.name, behind: duckdb.behind }, duckdb.reason);
  await writeAnalytics(warehouse, config.warehouse.memory_limit);
  return [duckdb];
}

import type { Config } from '../config/schema.js';
import type { Logger } from '../observe/log.js';
import { withRemedy } from '../storage/disk-error.js';
import { writeAnalytics } from './analytics.js';
import { followDuckdb } from './duckdb.js';
import type { FollowerState } from './follower.js';

export interface FollowInput {
  config: Config;
  warehouse: string;
  log: Logger;
}

/** Lets all followers catch up. One that cannot lags behind: nothing here can fail a sync. */
export async function followAll(input: FollowInput): Promise<FollowerState[]> {
  const { warehouse, log } = input;
  const { memory_limit: memoryLimit, lock_timeout: lockTimeout } = input.config.warehouse;
  const followers = [
    await settled('duckdb', () => followDuckdb({ warehouse, memoryLimit, lockTimeout })),
    await settled('analytics', () => writeAnalytics(warehouse, memoryLimit)),
  ];
  const { bucket } = input.config;
  if (bucket) {
    const follow = async () => (await import('./bucket.js')).followBucket({ bucket, warehouse, memoryLimit });
    followers.push(await settled('bucket', follow));
  }
  for (const { name, behind, reason } of followers) if (reason) log.warn({ follower: name, behind }, reason);
  return followers;
}

async function settled(name: string, follow: () => Promise<FollowerState>): Promise<FollowerState> {
  try {
    return await follow();
  } catch (error) {
    return {
      name,
      behind: 1,
      reason: `${name} could not catch up: ${withRemedy(error)}. The Parquet files are complete; the next sync tries again`,
    };
  }
}

import type { Config } from '../config/schema.js';
import type { Logger } from '../observe/log.js';
import { withRemedy } from '../storage/disk-error.js';
import { withEngine } from '../storage/engine.js';
import { scratchFolder } from '../warehouse/layout.js';
import { updateIndex } from '../warehouse/marker-index.js';
import { OpenWarehouse } from '../warehouse/open.js';
import { writeAnalytics } from './analytics.js';
import { followDuckdb } from './duckdb.js';
import { type CheckedFollower, catchUp, type FollowerState } from './follower.js';

export interface FollowInput {
  config: Config;
  warehouse: string;
  log: Logger;
  /** Only into the bucket, and only the newest commit of this website. */
  websiteId?: string;
}

/** Lets all followers catch up. One that cannot lags behind: nothing here can fail a sync. */
export async function followAll(input: FollowInput): Promise<FollowerState[]> {
  const { warehouse, log, websiteId } = input;
  const { memory_limit: memoryLimit, lock_timeout: lockTimeout } = input.config.warehouse;
  const { bucket } = input.config;
  if (bucket && websiteId !== undefined) {
    const send = async () => (await import('./bucket.js')).sendNewest({ bucket, warehouse, memoryLimit }, websiteId);
    return [await settled('bucket', send)];
  }
  const scratch = { memoryLimit, temporary: scratchFolder(warehouse) };
  await updateIndex(warehouse, scratch, Date.now()).catch((error: unknown) => log.warn(withRemedy(error)));
  const followers = [
    await settled('duckdb', () => followDuckdb({ warehouse, memoryLimit, lockTimeout })),
    await settled('analytics', () => writeAnalytics(warehouse, memoryLimit)),
    ...(await followConfigured(input)),
  ];
  if (bucket) {
    const follow = async () => (await import('./bucket.js')).followBucket({ bucket, warehouse, memoryLimit });
    const state = await settled('bucket', follow);
    followers.push(state);
    const { enabled, history } = input.config.iceberg;
    const publish = async () =>
      (await import('./iceberg/bucket.js')).followIcebergInBucket(bucket, { warehouse, history, engine: scratch });
    // What is not there cannot be in a table.
    if (enabled && state.behind === 0) followers.push(await settled('bucket_iceberg', publish));
  }
  for (const { name, behind, reason } of followers) if (reason) log.warn({ follower: name, behind }, reason);
  return followers;
}

/** A copy of the log elsewhere, and how to reach it. */
export interface ConfiguredFollower {
  name: string;
  open(log: OpenWarehouse): Promise<CheckedFollower>;
}

/** The copies of the log that the configuration asks for, beside the DuckDB files. Their libraries are loaded when opened. */
export function configuredFollowers({ iceberg, clickhouse }: Config): ConfiguredFollower[] {
  const configured: ConfiguredFollower[] = [];
  if (iceberg.enabled) {
    const open = async (log: OpenWarehouse) => {
      const { IcebergTables } = await import('./iceberg/follower.js');
      return IcebergTables.open(log, iceberg);
    };
    configured.push({ name: 'iceberg', open });
  }
  if (clickhouse) {
    const open = async (log: OpenWarehouse) => {
      const { ClickhouseTables } = await import('./clickhouse/follower.js');
      return new ClickhouseTables(clickhouse, log);
    };
    configured.push({ name: 'clickhouse', open });
  }
  return configured;
}

/** Lets the copies that the configuration asks for catch up. */
export async function followConfigured({ config, warehouse }: Omit<FollowInput, 'log'>): Promise<FollowerState[]> {
  const configured = configuredFollowers(config);
  if (configured.length === 0) return [];
  const options = { memoryLimit: config.warehouse.memory_limit, temporary: scratchFolder(warehouse) };
  return withEngine(options, async (engine) => {
    const log = await OpenWarehouse.read(engine, warehouse);
    const states: FollowerState[] = [];
    for (const { name, open } of configured) {
      states.push(await settled(name, async () => catchUp(await open(log), log, options)));
    }
    return states;
  });
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

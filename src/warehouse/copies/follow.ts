import type { Config } from '../../base/config/schema.js';
import type { Logger } from '../../base/observe/log.js';
import { withRemedy } from '../../base/storage/disk-error.js';
import { type Engine, type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { SECOND_MS } from '../../base/time.js';
import { bucketFollower } from '../bucket/copy.js';
import { scratchFolder } from '../log/folder/layout.js';
import { type Log, openLog } from '../log/log.js';
import { prove } from '../log/proven.js';
import { updateIndex } from '../log/update-index.js';
import { isAnalyticsCurrent, writeAnalytics } from './analytics.js';
import { compareDuckdb, followWithDuckdb } from './duckdb.js';
import { duckdbLag } from './duckdb-check.js';
import { type Follower, type FollowerState, titleOf } from './follower.js';

/** How long to wait for a reader of indexhouse.duckdb: most questions take less, and a night can end without it. */
const LOCK_TIMEOUT_MS = 30 * SECOND_MS;

export interface FollowInput {
  config: Config;
  logger: Logger;
  /** Milliseconds. */
  lockTimeout?: number;
  /** The time of a night, in milliseconds since 1970: then it proves files, before anything follows them. */
  proveAt?: number;
  /** The engine of that night. */
  engine?: Engine;
}

/** Lets all followers catch up. A follower that cannot only lags: nothing here can fail a sync. */
export async function followAll(input: FollowInput): Promise<FollowerState[]> {
  const { config, logger, lockTimeout, proveAt, engine } = input;
  const scratch = scratchOf(config, engine);
  await updateIndex(config.warehouse.path, scratch, Date.now()).catch((error: unknown) =>
    logger.info(withRemedy(error)),
  );
  const proving = async (log: Log) => {
    if (proveAt === undefined) return;
    await prove(log, scratch, proveAt).catch((error: unknown) => logger.warn(withRemedy(error)));
  };
  const states = await follow(followersOf(config, lockTimeout), config, proving, engine);
  for (const { name, behind, reason } of states) if (reason) logger.warn({ follower: name, behind }, reason);
  return states;
}

/** Lets these followers catch up with the current log, one after the other. */
export async function follow(
  followers: readonly Follower[],
  config: Config,
  before?: (log: Log) => Promise<void>,
  within?: Engine,
): Promise<FollowerState[]> {
  const scratch = scratchOf(config, within);
  const states: FollowerState[] = [];
  try {
    await withEngine(scratch, async (engine) => {
      const log = await openLog(engine, config.warehouse.path, { index: 'at once' });
      await before?.(log);
      for (const follower of followers) {
        const { name } = follower;
        states.push(await follower.follow(log, scratch).catch((error: unknown) => couldNot(name, error)));
      }
    });
    return states;
  } catch (error) {
    return followers.map(({ name }) => couldNot(name, error));
  }
}

function scratchOf({ warehouse }: Config, within: Engine | undefined): EngineOptions {
  return { memoryLimit: warehouse.memory_limit, temporary: scratchFolder(warehouse.path), within };
}

function couldNot(name: string, error: unknown): FollowerState {
  const reason = `${titleOf({ name })} could not catch up: ${withRemedy(error)}. The Parquet files are complete; the next sync tries again`;
  return { name, behind: 1, reason };
}

/** All followers of this configuration, in the order in which they catch up. */
export function followersOf(config: Config, lockTimeout = LOCK_TIMEOUT_MS): Follower[] {
  const { bucket, warehouse } = config;
  const followers = localFollowers({ memoryLimit: warehouse.memory_limit, lockTimeout });
  return bucket ? [...followers, bucketFollower(bucket)] : followers;
}

/** The DuckDB files, which every warehouse has. */
export function localFollowers(options: { memoryLimit: number; lockTimeout: number }): Follower[] {
  return [
    {
      name: 'duckdb',
      follow: (log) => followWithDuckdb({ ...options, warehouse: log.path }, log),
      lag: (log, engine) => duckdbLag(log, engine),
      compare: (log, engine, { repair }) => compareDuckdb(log, { ...options, engine, repair }),
    },
    {
      name: 'analytics',
      follow: (log) => writeAnalytics(log.path, options.memoryLimit),
      async lag({ path, markers }) {
        const isCurrent = markers.length === 0 || (await isAnalyticsCurrent(path));
        return { name: 'analytics', behind: isCurrent ? 0 : markers.length, exact: true, held: null, error: null };
      },
      // Views of its own text hold nothing.
      compare: async () => ({ differences: [], repaired: [] }),
    },
  ];
}

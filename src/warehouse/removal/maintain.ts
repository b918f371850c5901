import { join } from 'node:path';
import type { Config } from '../../base/config/schema.js';
import { websiteIds } from '../../base/config/websites.js';
import type { Logger } from '../../base/observe/log.js';
import { type Engine, type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { isWholeParquet } from '../../base/storage/parquet-file.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { calendarDate } from '../../base/time.js';
import { checkOwnership } from '../bucket/owner.js';
import { follow, followAll, followersOf } from '../copies/follow.js';
import type { Follower } from '../copies/follower.js';
import { scratchFolder } from '../log/folder/layout.js';
import { checkIdentity, checkWarehouseThere, prepareWarehouse } from '../log/folder/prepare.js';
import { DATA_TABLES } from '../log/folder/tables.js';
import { withRunLock } from '../log/lock.js';
import { type Log, openLog } from '../log/log.js';
import { type Marker, markersOf, newestMarkers, stateFileOf } from '../log/markers.js';
import { currentState, rebuildState } from '../log/state.js';
import { forgetRemoval, removeForGood, unfinishedRemoval } from './steps.js';
import { type PlannedFile, planFiles, thinnedTables } from './thin.js';
import { dropOldCheckpoints, keepState, removeDue, writeTombstone } from './tombstone.js';
import { unlessRemoved } from './unless-removed.js';

interface MaintainOptions {
  config: Config;
  /** Only says what would be removed; takes no lock and changes nothing. */
  dryRun: boolean;
  logger: Logger;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** What follows the log; all of the configuration if left out. */
  followers?: readonly Follower[];
}

/** The names are those of `maintain --json`. */
export type MaintainReceipt = Awaited<ReturnType<typeof maintain>>;

/**
 * Removes what `retention` says is too old: deletes the Parquet files whose tombstone is more than an hour old, writes
 * tombstones for those that are due, and lets the followers drop them. Can be started again after any interruption.
 *
 * @throws BusyError, WarehouseError, CheckpointError; OwnerError if the bucket belongs to another folder; Failure if a
 * state differs from the log
 */
export async function maintain(options: MaintainOptions) {
  const { config, logger } = options;
  const { path, time_zone } = config.warehouse;
  await checkWarehouseThere(path);
  await checkIdentity(path, time_zone);
  // With temporary files elsewhere, so that it works on a read-only folder.
  if (options.dryRun) return withTemporary('maintain', (folder) => maintainIn(options, folder));
  await checkOwnership({ config, warehouse: path, logger });
  return withRunLock(path, 'maintain', async () => {
    await prepareWarehouse(path, time_zone);
    return maintainIn(options, scratchFolder(path));
  });
}

/** 3 if a follower lags, such as `indexhouse.duckdb` while somebody has it open. */
export function maintainExitCode({ followers }: MaintainReceipt): 0 | 3 {
  return followers.some(({ behind }) => behind > 0) ? 3 : 0;
}

function maintainIn(options: MaintainOptions, temporary: string) {
  const { path, memory_limit: memoryLimit } = options.config.warehouse;
  return withEngine({ memoryLimit, temporary }, async (engine) => {
    const log = await openLog(engine, path, { temporary, whole: true });
    return new Maintenance(options, engine, log, { memoryLimit, temporary }).run();
  });
}

class Maintenance {
  readonly #warehouse: string;
  readonly #now: number;
  /** `YYYY-MM-DD`: older files are thinned; null if every file is kept. */
  readonly #dailyFrom: string | null;

  constructor(
    private readonly options: MaintainOptions,
    private readonly engine: Engine,
    private readonly log: Log,
    /** For work that needs an engine of its own. */
    private readonly engineOptions: EngineOptions,
  ) {
    const { warehouse, retention } = options.config;
    this.#warehouse = warehouse.path;
    this.#now = (options.now ?? Date.now)();
    const dailyFrom = () => calendarDate(new Date(this.#now - retention), warehouse.time_zone);
    this.#dailyFrom = Number.isFinite(retention) ? dailyFrom() : null;
  }

  async run() {
    const { config, dryRun, followers = followersOf(config) } = this.options;
    const { markers } = this.log;
    const removed = await removeDue(this.log, { now: this.#now, dryRun });
    const parquet: ReturnType<typeof thinnedTables> = [];
    for (const { websiteId } of this.#dailyFrom ? newestMarkers(markers) : []) {
      parquet.push(...thinnedTables(websiteId, await this.#thin(markersOf(markers, websiteId))));
    }
    return {
      dry_run: dryRun,
      /** Whether `retention` limits anything. */
      configured: this.#dailyFrom !== null,
      thinned_before: this.#dailyFrom,
      parquet,
      deleted: removed.deleted,
      waiting: {
        files: removed.waiting.files + parquet.reduce((all, { files }) => all + files, 0),
        bytes: removed.waiting.bytes + parquet.reduce((all, { bytes }) => all + bytes, 0),
      },
      // Before the files are deleted, an hour later.
      followers: dryRun ? [] : await follow(followers, config),
    };
  }

  /** Writes a tombstone for the files of one website that are due, and returns what happens to each file. */
  async #thin(markers: Marker[]): Promise<PlannedFile[]> {
    const [newest] = markers.slice(-1);
    const dailyFrom = this.#dailyFrom;
    if (dailyFrom === null || !newest) return [];
    const { websiteId } = newest;
    const [warehouse, now, log] = [this.#warehouse, this.#now, this.log];
    const [engine, options] = [this.engine, this.engineOptions];
    const state = await this.#stateOf(newest, markers);
    const planned = await planFiles({ log, engine, markers, dailyFrom, state });
    const files = planned.filter(({ fate }) => fate === 'goes');
    if (this.options.dryRun) return planned;
    if (files.length > 0) {
      const kept = await keepState(engine, log, { markers, state, options });
      await writeTombstone({
        warehouse,
        engine,
        temporary: options.temporary,
        websiteId,
        files,
        kept,
        now,
        date: calendarDate(new Date(now), this.options.config.warehouse.time_zone),
        reason: `thinned to one a month before ${dailyFrom}`,
      });
    }
    await dropOldCheckpoints(warehouse, websiteId, now);
    return planned;
  }

  async #stateOf(newest: Marker, markers: Marker[]): Promise<string> {
    const file = stateFileOf(this.#warehouse, newest);
    if (await isWholeParquet(file)) return file;
    if (!this.options.dryRun) return (await currentState(this.#warehouse, markers, this.engineOptions)) ?? file;
    const rebuilt = join(this.engineOptions.temporary, 'state.rebuilt');
    await rebuildState(this.#warehouse, markers, this.engineOptions, rebuilt);
    return rebuilt;
  }
}

interface RemoveOptions {
  config: Config;
  /** A website, by id or name. */
  website: string;
  /** Called with what would be removed, before anything changes; throws if it must not be. */
  confirm: (removal: Removal) => Promise<void>;
  logger: Logger;
}

/**
 * Removes a website from the log, and lets the followers catch up. Killed at any step, it has not begun, or whoever
 * takes the run lock next finishes it.
 *
 * @throws UsageError for an unknown website; WarehouseError, DamageError, BusyError; OwnerError if the bucket belongs to
 * another folder
 */
export async function remove({ config, website, confirm, logger }: RemoveOptions) {
  const { path, time_zone, memory_limit: memoryLimit } = config.warehouse;
  await checkWarehouseThere(path);
  await checkIdentity(path, time_zone);
  await checkOwnership({ config, warehouse: path, logger });
  const begun = (await unfinishedRemoval(path))?.removal;
  const isBegun = begun?.website_id === website;
  if (!isBegun) {
    const found = removalOf(path, website, memoryLimit).then(confirm);
    await found.catch(async (error: unknown) => Promise.reject(await unlessRemoved(error, path, memoryLimit)));
  }
  return withRunLock(path, 'remove', async () => {
    await prepareWarehouse(path, time_zone);
    const removal = isBegun ? begun : await removalOf(path, website, memoryLimit);
    if (!isBegun) await removeForGood(path, { removal, in_bucket: config.bucket !== undefined });
    const followers = await followAll({ config, logger });
    await forgetRemoval(path);
    return { ...removal, removed: true, followers };
  });
}

/** What is removed, under the names of `remove --json`. */
export type Removal = Awaited<ReturnType<typeof removalOf>>;

/** @throws UsageError, DamageError */
function removalOf(warehouse: string, website: string, memoryLimit: number) {
  return withTemporary('remove', (temporary) =>
    withEngine({ memoryLimit, temporary }, async (engine) => {
      const log = await openLog(engine, warehouse, { temporary });
      const [websiteId = ''] = websiteIds([website], await log.websites(), 'the warehouse');
      const own = markersOf(log.markers, websiteId);
      const dates = own.map(({ date }) => date).sort();
      const tables = DATA_TABLES.map((table) => {
        const files = own.flatMap((marker) => marker.files[table] ?? []);
        return { table, files: files.length, rows: files.reduce((all, { rows }) => all + rows, 0) };
      });
      return {
        website_id: websiteId,
        snapshots: own.length,
        first_date: dates.at(0) ?? null,
        last_date: dates.at(-1) ?? null,
        tables: tables.filter(({ files }) => files > 0),
      };
    }),
  );
}

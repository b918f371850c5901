import { basename, join, relative } from 'node:path';
import type { Config } from '../../base/config/schema.js';
import { idsOf, websiteIds } from '../../base/config/websites.js';
import { UsageError } from '../../base/exit.js';
import type { Logger } from '../../base/observe/log.js';
import { withEngine } from '../../base/storage/engine.js';
import { parquetFormat, rowsIn } from '../../base/storage/parquet-file.js';
import { literal } from '../../base/storage/sql.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { checkLease } from '../bucket/lease.js';
import { followAll } from '../copies/follow.js';
import { journalFolder, unfinishedJournals } from '../journal/folder.js';
import { CheckpointError, stateBase } from '../log/checkpoints.js';
import { commitStaged, isStagedWhole } from '../log/commit.js';
import { DamageError } from '../log/folder/damage.js';
import { listTableFiles, namesIn, scratchFolder, stateFolder, websiteOf } from '../log/folder/layout.js';
import { checkIdentity, checkWarehouseThere, prepareWarehouse } from '../log/folder/prepare.js';
import { copyRows } from '../log/folder/sums.js';
import { DATA_TABLES } from '../log/folder/tables.js';
import { withRunLock } from '../log/lock.js';
import { type Log, openLog } from '../log/log.js';
import { type CommittedFiles, fileOf, type Marker, markersOf, stateFileOf } from '../log/markers.js';
import { copySummary, copyVersions, factsOf, readManifest } from '../log/stage/commit-files.js';
import { type OnCompared, rebuildState } from '../log/state.js';
import { finishRemoval, foldersOf, removeForGood, type Step, stageBucketRemoval, unfinishedRemoval } from './steps.js';
import { unlessRemoved } from './unless-removed.js';

export interface RemoveOptions {
  config: Config;
  /** One of both: a website by id or name, or a snapshot by id. */
  target: { website?: string | undefined; snapshot?: string | undefined };
  /** Called with what would be removed, before anything changes; throws if it must not be. */
  confirm: (removal: Removal) => Promise<void>;
  logger: Logger;
}

/**
 * Removes a website, or one snapshot of it, from the log, and lets the followers catch up. What follows a snapshot is
 * derived again. Killed at any step, it has not begun, or whoever takes the run lock next finishes it.
 *
 * @throws UsageError for an unknown target or one that cannot be removed; WarehouseError, DamageError, BusyError;
 * LeaseError if another machine writes to the bucket
 */
export async function remove({ config, target, confirm, logger }: RemoveOptions) {
  const { path, time_zone, memory_limit: memoryLimit } = config.warehouse;
  await checkWarehouseThere(path);
  await checkIdentity(path, time_zone);
  await checkLease({ config, warehouse: path, logger });
  const begun = (await unfinishedRemoval(path))?.removal;
  const { website = begun?.website_id, snapshot = null } = target;
  const isBegun = begun?.website_id === website && begun?.snapshot_id === snapshot;
  const find = <T>(temporary: string, use: (going: Going) => Promise<T>) =>
    withEngine({ memoryLimit, temporary }, async (engine) =>
      use(await goingIn(await openLog(engine, path, { temporary }), target)),
    );
  if (!isBegun) {
    const found = withTemporary('remove', (temporary) => find(temporary, (going) => confirm(removalOf(going))));
    await found.catch(async (error: unknown) => Promise.reject(await unlessRemoved(error, path, memoryLimit)));
  }
  return withRunLock(path, 'remove', async () => {
    await prepareWarehouse(path, time_zone, memoryLimit);
    await commitAllStaged(path);
    const removal = isBegun ? begun : await find(scratchFolder(path), (going) => removeNow(going, config));
    const followers = await followAll({ config, warehouse: path, logger });
    await finishRemoval(path);
    return { ...removal, removed: true, followers };
  });
}

/** What was staged when its process died was compared with the log as it is now. */
async function commitAllStaged(warehouse: string): Promise<void> {
  for (const folder of await unfinishedJournals(warehouse)) {
    const manifest = await readManifest(folder);
    if (manifest && (await isStagedWhole(warehouse, folder, manifest))) await commitStaged(warehouse, folder, manifest);
  }
}

/** What is to go: a website, or a snapshot. */
interface Going {
  log: Log;
  websiteId: string;
  /** Null: the whole website. */
  snapshotId: string | null;
  own: Marker[];
  /** The other commits of a snapshot's website: before it, and those that are derived again. */
  earlier: Marker[];
  later: Marker[];
}

/** @throws UsageError, DamageError */
async function goingIn(log: Log, { website, snapshot = '' }: RemoveOptions['target']): Promise<Going> {
  if (website !== undefined) {
    const [websiteId = ''] = websiteIds([website], await log.websites(), 'the warehouse');
    return { log, websiteId, snapshotId: null, own: markersOf(log.markers, websiteId), earlier: [], later: [] };
  }
  if (log.damaged.length > 0) throw new DamageError(log.damaged);
  const known = log.markers.map(({ snapshotId, date, websiteId }) => ({
    id: snapshotId,
    name: `${date}  ${websiteId}`,
  }));
  const [snapshotId = ''] = idsOf('snapshot', [snapshot], known, 'the warehouse');
  const own = log.markers.filter((marker) => marker.snapshotId === snapshotId);
  const websiteId = own[0]?.websiteId ?? '';
  const rest = markersOf(log.markers, websiteId).filter((marker) => !own.includes(marker));
  const earlier = rest.filter((marker) => marker.snapshotId < snapshotId);
  const going = { log, websiteId, snapshotId, own, earlier, later: rest.slice(earlier.length) };
  await baseOf(going);
  return going;
}

/** What the state before a snapshot is built from. @throws UsageError if retention removed what that or a later one needs */
async function baseOf({ log, own, earlier, later }: Going) {
  const thinned = [...own, ...later].find(({ dropped, absent }) => Object.keys({ ...dropped, ...absent }).length > 0);
  const base = await stateBase(log.path, earlier).catch((error) => {
    if (!(error instanceof CheckpointError)) throw error;
  });
  if (base && !thinned) return base;
  const whose = thinned ? `the snapshot of ${thinned.date}` : 'earlier snapshots';
  throw new UsageError(
    `it cannot be removed: what follows would be derived from rows of ${whose} that retention removed`,
  );
}

/** What is removed, under the names of `remove --json`. */
export type Removal = ReturnType<typeof removalOf>;

function removalOf({ websiteId, snapshotId, own, later }: Going) {
  const dates = own.map(({ date }) => date).sort();
  const tables = DATA_TABLES.map((table) => {
    const files = own.flatMap((marker) => marker.files[table] ?? []);
    return { table, files: files.length, rows: files.reduce((all, { rows }) => all + rows, 0) };
  });
  return {
    website_id: websiteId,
    snapshot_id: snapshotId,
    snapshots: own.length,
    first_date: dates.at(0) ?? null,
    last_date: dates.at(-1) ?? null,
    tables: tables.filter(({ files }) => files > 0),
    /** Later snapshots, whose changes are derived again. */
    derived_again: later.length,
  };
}

async function removeNow(going: Going, { warehouse, bucket }: Config): Promise<Removal> {
  const removal = removalOf(going);
  await removeForGood(warehouse.path, async (folder) => {
    const derived = await derivedAgain(going, { folder, ...warehouse });
    // Markers go once other files are replaced: a running service looks again when markers come or go.
    const gone = going.snapshotId ? await filesOf(going) : await foldersOf(warehouse.path, going.websiteId);
    const steps: Step[] = [{ path: 'index' }, ...derived, ...gone.map((path) => ({ path }))];
    if (bucket) steps.unshift(await stageBucketRemoval(warehouse.path, folder, steps));
    return { removal, steps };
  });
  return removal;
}

/** Every file of a snapshot, its markers first, and the states and checkpoints that were derived with it. */
async function filesOf({ log, websiteId, snapshotId, own, earlier, later }: Going): Promise<string[]> {
  const newest = [...earlier, ...later].at(-1)?.snapshotId;
  const runs = own.map(({ runId }) => runId);
  const states = stateFolder(log.path, websiteId);
  const checkpoints = await listTableFiles(log.path, 'checkpoints', { websiteId });
  const files = [
    ...own.map(({ path }) => path).reverse(),
    ...log.runs.filter((file) => websiteOf(file) === websiteId && runs.includes(basename(file, '.parquet'))),
    ...runs.map((run) => journalFolder(log.path, run, websiteId).path),
    ...own.flatMap((marker) => DATA_TABLES.map((table) => fileOf(log.path, marker, table))),
    ...checkpoints.filter((file) => basename(file) >= `${snapshotId}`),
    ...(await namesIn(states)).filter((name) => name !== `${newest}.parquet`).map((name) => join(states, name)),
  ];
  return files.map((file) => relative(log.path, file));
}

/** The steps that replace the versions of pages and the summaries of the commits after a snapshot, and the newest state. */
async function derivedAgain(going: Going, { folder, ...warehouse }: { folder: string } & Config['warehouse']) {
  const { log, earlier, later } = going;
  const { memory_limit: memoryLimit, parquet_compression: compression } = warehouse;
  const rest = [...earlier, ...later];
  const newest = rest.at(-1);
  if (!newest) return [];
  const steps: Step[] = [];
  const rewritten = new Map<Marker, Record<string, CommittedFiles[string] | undefined>>();
  const replace = (file: string, from?: string) => steps.push({ path: relative(log.path, file), from });
  const onCompared: OnCompared = async (engine, marker, bounds) => {
    if (!later.includes(marker)) return;
    const derive = async (table: 'page_versions' | 'coverage_summary', copy: (file: string) => Promise<number>) => {
      const made = `${marker.snapshotId}.${table}`;
      const rows = await copy(join(folder, made));
      const facts = rows > 0 ? await factsOf(join(folder, made), rows) : undefined;
      if (facts?.sha256 === marker.files[table]?.sha256) return;
      rewritten.set(marker, { ...rewritten.get(marker), [table]: facts });
      replace(fileOf(log.path, marker, table), facts && made);
    };
    await derive('page_versions', (file) => copyVersions(engine, file, { bounds, compression }));
    await derive('coverage_summary', (file) => copySummary(engine, file, compression));
  };
  const options = { memoryLimit, temporary: scratchFolder(log.path) };
  const state = join(folder, 'state');
  await rebuildState(log.path, rest, options, state, { base: await baseOf(going), onCompared });
  replace(stateFileOf(log.path, newest), 'state');
  await withEngine(options, async (engine) => {
    const page_state = await factsOf(state, await rowsIn(engine, state));
    if (page_state.sha256 !== newest.files['page_state']?.sha256)
      rewritten.set(newest, { ...rewritten.get(newest), page_state });
    for (const [marker, facts] of rewritten) {
      const made = `${marker.snapshotId}.marker`;
      const files = literal(JSON.stringify({ ...marker.files, ...marker.dropped, ...facts }));
      const old = `read_parquet(${literal(marker.path)}, hive_partitioning = false)`;
      const format = parquetFormat(compression);
      await copyRows(engine, `select * replace (${files} as files) from ${old}`, { file: join(folder, made), format });
      replace(marker.path, made);
    }
  });
  return steps;
}

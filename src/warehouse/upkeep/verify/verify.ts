import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { exists } from '../../../base/storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../../../base/storage/engine.js';
import { whyNotParquet } from '../../../base/storage/parquet-file.js';
import { rowsDiffer } from '../../../base/storage/rows-differ.js';
import { sql, sqlNames } from '../../../base/storage/sql.js';
import { withTemporary } from '../../../base/storage/temporary.js';
import { localFollowers } from '../../copies/follow.js';
import type { Follower } from '../../copies/follower.js';
import { findDamaged, firstLine } from '../../log/folder/damage.js';
import { checkWarehouseThere, timeZoneOf } from '../../log/folder/prepare.js';
import { forgetChecked } from '../../log/folder/sums.js';
import { DATA_TABLES, macroStatements, type Table } from '../../log/folder/tables.js';
import { listLog } from '../../log/listed-log.js';
import { withRunLock } from '../../log/lock.js';
import { type Log, openLog } from '../../log/log.js';
import { dropIndex } from '../../log/marker-index.js';
import { filesOf, type Marker, markersOf, newestMarkers, stateFileOf } from '../../log/markers.js';
import { copyVersions } from '../../log/stage/commit-files.js';
import { type OnCompared, rebuildState } from '../../log/state.js';
import { unfinishedRemoval } from '../../removal/steps.js';
import { checkCheckpoints, checkFiles, isIndexRight } from './files.js';
import { damaged, type Finding, type Verified } from './finding.js';
import { lostMarkers, orphans, type RunsRead, readRuns } from './runs.js';

const MAX_PROBLEMS = 5;
/** How often it looks at a log that changes meanwhile. */
const LOOKS = 3;
const A_BUG = 'a bug in indexhouse: please report it; the rows are kept as they are';
/** How many differences of a follower are reported. */
const MAX_DIFFERENCES = 20;

export interface VerifyOptions {
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
  engine: EngineOptions;
  /** The followers to check; left out: only the DuckDB files. */
  followers?: readonly Follower[] | undefined;
  /** Fixes what is provably safe to fix. The caller holds the run lock. */
  repair: boolean;
}

/**
 * Runs `verify` on a warehouse with temporary files elsewhere, under the run lock if it repairs.
 *
 * @throws WarehouseError if there is no warehouse; BusyError
 */
export async function verifyWarehouse(
  { warehouse, memoryLimit, followers }: Pick<VerifyOptions, 'warehouse' | 'memoryLimit' | 'followers'>,
  repair = false,
) {
  await checkWarehouseThere(warehouse);
  const run = () =>
    withTemporary('verify', (temporary) =>
      verify({ warehouse, followers, memoryLimit, engine: { memoryLimit, temporary }, repair }),
    );
  return repair ? withRunLock(warehouse, 'verify --repair', run) : run();
}

/**
 * Proves that the warehouse is what it claims to be: every marked file has its bytes and rows, every listed entry and
 * planned report is accounted for, no key is duplicated, no file is orphaned, the state is the one that the log gives,
 * and the native DuckDB file holds what the Parquet files hold. Read-only unless `repair` is set. If other processes
 * change the log meanwhile, differences count only if another look finds some, too.
 */
export async function verify(options: VerifyOptions): Promise<Verified> {
  const { warehouse, repair } = options;
  const listed = () => listLog(warehouse, { websites: null, index: null, everyRun: true });
  for (let look = 1; ; look++) {
    const removal = await unfinishedRemoval(warehouse);
    if (removal) {
      const { message, remedy } = removal;
      const findings: Finding[] = [{ check: 'removal', level: 'lag', message, remedy }];
      return { snapshots: 0, files: 0, rows: 0, findings, repaired: [] };
    }
    const before = await listed();
    const isChanged = async () =>
      (await unfinishedRemoval(warehouse)) !== null ||
      (!repair && look < LOOKS && !isDeepStrictEqual(await listed(), before));
    try {
      const verified = await lookOnce(options);
      if (!verified.findings.some(({ level }) => level === 'difference') || !(await isChanged())) return verified;
    } catch (error) {
      if (!(await isChanged())) throw error;
    }
  }
}

async function lookOnce(options: VerifyOptions): Promise<Verified> {
  forgetChecked();
  return withEngine(options.engine, async (engine) => {
    const log = await openLog(engine, options.warehouse, { temporary: options.engine.temporary });
    const { markers, damaged: unreadable } = log;
    const { whole, files, rows, findings } = await checkFiles(engine, options.warehouse, markers);
    const verified: Verified = { snapshots: markers.length, files, rows, findings, repaired: [] };
    findings.push(...unreadable.map(({ path, reason }) => damaged(`the marker ${path} ${reason}`)));
    const runs = await readRuns(engine, log);
    findings.push(...runs.findings, ...(await checkRows(engine, log, whole, runs)));
    const notes = await findDamaged(engine, 'note_log', log.files('note_log'));
    findings.push(...notes.map(({ path, reason }) => damaged(`the note ${path} ${reason}`)));
    const lost = await lostMarkers(options.warehouse, runs.committed);
    findings.push(...lost.map(({ message }) => damaged(message)));
    await lookAtOrphans(options, new Set(lost.map(({ snapshotId }) => snapshotId)), verified);
    // What is derived from the log can only be compared if the whole log can be read.
    if (whole.length < markers.length || unreadable.length > 0 || lost.length > 0) return verified;
    if (!(await isIndexRight(engine, log))) await reportIndex(options, verified);
    const checkpoints = await checkCheckpoints(log);
    findings.push(...checkpoints);
    if (checkpoints.length === 0) await lookAtStates(engine, options, log, verified);
    const { memoryLimit } = options;
    for (const follower of options.followers ?? localFollowers({ memoryLimit, lockTimeout: 0 })) {
      await lookAtFollower(follower, log, options, verified);
    }
    return verified;
  });
}

const problemRow = z.object({ website_id: z.string(), snapshot_id: z.string(), problem: z.string() });

/** Runs each statement of `sql/warehouse/checks`, which returns the rows that break an invariant. */
async function checkRows(engine: Engine, log: Log, whole: readonly Marker[], runs: RunsRead): Promise<Finding[]> {
  for (const table of DATA_TABLES) await engine.view(table, log.query(table, filesOf(log.path, whole, table)));
  const paths = whole.map(({ path }) => path);
  await engine.view('snapshots', log.query('snapshots', paths));
  await engine.view('tombstones', log.query('tombstones', log.tombstoneFiles));
  await engine.set({ unfinished: runs.unfinished, is_whole: whole.length === log.markers.length });
  await engine.view('runs', log.query('runs', runs.files));
  for (const statement of macroStatements(await timeZoneOf(log.path))) await engine.run(statement);
  const findings: Finding[] = [];
  for (const name of sqlNames('warehouse/checks')) {
    const check = basename(name).replaceAll('_', ' ');
    const level = /^-- level: note$/m.test(sql(name)) ? 'note' : 'difference';
    const [, written] = /^-- remedy: (.*)$/m.exec(sql(name)) ?? [];
    const usual = level === 'note' ? 'nothing to do' : A_BUG;
    for (const row of await engine.rows(problemRow, `select * from (${sql(name)}\n) limit ${MAX_PROBLEMS}`)) {
      const message = `${row.website_id}, snapshot ${row.snapshot_id}: ${row.problem}`;
      findings.push({ check, level, message, remedy: written ?? usual });
    }
  }
  return findings;
}

/** @param lost commits whose marker is gone: their files are kept, because nothing else is left of them */
async function lookAtOrphans(
  { warehouse, repair }: VerifyOptions,
  lost: ReadonlySet<string>,
  verified: Verified,
): Promise<void> {
  for (const file of await orphans(warehouse)) {
    if (repair && !lost.has(basename(file, '.parquet'))) {
      await rm(file);
      verified.repaired.push(`deleted ${file}, which no marker names`);
    } else {
      const remedy = lost.has(basename(file, '.parquet'))
        ? 'keep it: once you restore its marker from a backup, the snapshot is complete again'
        : '`indexhouse verify --repair` deletes it; readers ignore it';
      verified.findings.push({ check: 'orphans', level: 'note', message: `no marker names ${file}`, remedy });
    }
  }
}

async function reportIndex({ warehouse, repair }: VerifyOptions, { findings, repaired }: Verified): Promise<void> {
  if (repair) {
    await dropIndex(warehouse);
    repaired.push('dropped the index of old markers: the next sync rebuilds it');
  } else {
    const message = 'the index of old markers differs from them';
    const remedy = '`indexhouse verify --repair` drops it, and the next sync rebuilds it';
    findings.push({ check: 'marker index', level: 'difference', message, remedy });
  }
}

async function lookAtStates(engine: Engine, options: VerifyOptions, log: Log, verified: Verified): Promise<void> {
  const { warehouse, repair } = options;
  for (const { websiteId, file, kind, message } of await checkStates(engine, log, options.engine)) {
    if (kind === 'written') {
      verified.findings.push({ check: 'versions of pages', level: 'difference', message, remedy: A_BUG });
    } else if (repair) {
      await rebuildState(warehouse, markersOf(log.markers, websiteId), options.engine, file);
      verified.repaired.push(`rebuilt ${file} from the log`);
    } else {
      const remedy = '`indexhouse verify --repair` rebuilds it from the log';
      verified.findings.push({ check: 'state', level: kind === 'missing' ? 'note' : 'difference', message, remedy });
    }
  }
}

async function lookAtFollower(
  follower: Follower,
  log: Log,
  { engine, repair }: VerifyOptions,
  verified: Verified,
): Promise<void> {
  const { differences, repaired } = await follower.compare(log, engine, { repair });
  const found = differences.map(({ level, message, remedy }) => ({ check: follower.name, level, message, remedy }));
  const [last] = found.splice(MAX_DIFFERENCES);
  if (last) found.push({ ...last, message: `${last.message}, and ${differences.length - found.length - 1} more` });
  verified.repaired.push(...repaired);
  verified.findings.push(...found);
}

/** A website whose state, or whose versions of pages, differ from those that its log gives. */
export interface WrongState {
  websiteId: string;
  file: string;
  /** `missing`: the next sync rebuilds it, because it is derived. `written`: in the log itself. */
  kind: 'missing' | 'different' | 'written';
  message: string;
}

/** Rebuilds the state of each website from the log and compares the result with its state file. */
async function checkStates(engine: Engine, log: Log, options: EngineOptions): Promise<WrongState[]> {
  const { path: warehouse, markers } = log;
  const wrong: WrongState[] = [];
  for (const newest of newestMarkers(markers)) {
    const { websiteId } = newest;
    const file = stateFileOf(warehouse, newest);
    if (!(await exists(file))) {
      wrong.push({ websiteId, file, kind: 'missing', message: `${file} is missing` });
      continue;
    }
    const rebuilt = join(options.temporary, 'state.rebuilt');
    const onCompared: OnCompared = async (comparing, marker, bounds) => {
      const made = join(options.temporary, 'versions.made');
      const rows = await copyVersions(comparing, made, bounds);
      const written = filesOf(warehouse, [marker], 'page_versions');
      const differs = await filesDiffer(engine, log, 'page_versions', written, rows > 0 ? [made] : []);
      const message = `${written[0] ?? marker.path}: page_versions differs from the log: ${differs}`;
      if (differs) wrong.push({ websiteId, file, kind: 'written', message });
    };
    await rebuildState(warehouse, markersOf(markers, websiteId), options, rebuilt, onCompared);
    const torn = await whyNotParquet(file);
    const differs = torn ? `it ${torn}` : await filesDiffer(engine, log, 'page_state', [file], [rebuilt]);
    if (differs)
      wrong.push({ websiteId, file, kind: 'different', message: `${file} differs from the log: ${differs}` });
  }
  return wrong;
}

/** Why files of a table differ from those made anew; null if they do not. Files that cannot be read differ, too. */
async function filesDiffer(
  engine: Engine,
  log: Log,
  table: Table,
  written: string[],
  made: string[],
): Promise<string | null> {
  try {
    await engine.view('made', log.query(table, made));
    await engine.view('written', log.query(table, written));
    return await rowsDiffer(engine, 'made', 'written');
  } catch (error) {
    return firstLine(error);
  }
}

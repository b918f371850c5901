import { rename } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { counted } from '../../../base/observe/format.js';
import { exists, makeFolder, syncPath } from '../../../base/storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../../../base/storage/engine.js';
import { checkWithin } from '../../../base/storage/only-files.js';
import { whyNotParquet } from '../../../base/storage/parquet-file.js';
import { rowsDiffer } from '../../../base/storage/rows-differ.js';
import { sql, sqlNames } from '../../../base/storage/sql.js';
import { withTemporary } from '../../../base/storage/temporary.js';
import { localFollowers } from '../../copies/follow.js';
import type { Follower } from '../../copies/follower.js';
import { findDamaged, firstLine } from '../../log/folder/damage.js';
import { listTableFiles, scratchFolder } from '../../log/folder/layout.js';
import { checkWarehouseThere, timeZoneOf } from '../../log/folder/prepare.js';
import { forgetChecked } from '../../log/folder/sums.js';
import { DATA_TABLES, type Table, viewScript } from '../../log/folder/tables.js';
import { listLog } from '../../log/listed-log.js';
import { withRunLock } from '../../log/lock.js';
import { type Log, openLog } from '../../log/log.js';
import { filesOf, type Marker, markersOf, newestMarkers, stateFileOf } from '../../log/markers.js';
import { type OnCompared, rebuildState } from '../../log/state.js';
import { dropIndex } from '../../log/update-index.js';
import { unfinishedRemoval } from '../../removal/steps.js';
import { checkCheckpoints, checkFiles, findLost, isIndexRight } from './files.js';
import { damaged, type Finding, type Repairable, type Verified } from './finding.js';
import { lostMarkers, type RunsRead, readRuns, unmarked } from './runs.js';

const MAX_PROBLEMS = 5;
/** How often it looks at a log that changes meanwhile. */
const LOOKS = 3;
const A_BUG = 'a bug in indexhouse: please report it; the rows are kept as they are';
const RESTORE_MARKER =
  'its marker is lost: restore `parquet/snapshots` and `parquet/runs` from a newer backup, or move these files away';
/** How many differences of a follower are reported. */
const MAX_DIFFERENCES = 20;

export interface VerifyOptions {
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
  /** The followers to check; left out: only the DuckDB files. */
  followers?: readonly Follower[] | undefined;
}

/**
 * Proves that the warehouse is what it claims to be: every marked file has its bytes and rows, every listed entry and
 * planned report is accounted for, no key is duplicated, no file is orphaned, the state is the one that the log gives,
 * and the native DuckDB file holds what the Parquet files hold. Temporary files are elsewhere. If other processes change
 * the log meanwhile, differences count only if another look finds some, too.
 *
 * @param repair fixes what is provably safe to fix, under the run lock, and deletes nothing that the log does not give
 *   again; read-only without
 * @throws WarehouseError if there is no warehouse; BusyError
 */
export async function verifyWarehouse(options: VerifyOptions, repair = false): Promise<Verified> {
  const { warehouse, memoryLimit } = options;
  await checkWarehouseThere(warehouse);
  if (!repair) return withTemporary('verify', (temporary) => verify(options, { memoryLimit, temporary }, false));
  // What is repaired is moved into its place, so it is made on the same file system.
  const engine = { memoryLimit, temporary: scratchFolder(warehouse) };
  return withRunLock(warehouse, 'verify --repair', async () => {
    const isRemoved = (await unfinishedRemoval(warehouse)) !== null;
    const written = isRemoved ? [] : await writeLost(options, engine);
    const verified = await verify(options, engine, true);
    return { ...verified, repaired: [...written, ...verified.repaired] };
  });
}

/** Writes again what only copies of the log still have. @returns what was done */
function writeLost(options: VerifyOptions, scratch: EngineOptions): Promise<string[]> {
  return withEngine(scratch, async (engine) => {
    const log = await openLog(engine, options.warehouse);
    const written: string[] = [];
    for (const { repair } of await findLost(engine, log, { ...scratch, followers: followersIn(options) })) {
      if (repair) written.push(await repair());
    }
    return written;
  });
}

function followersIn({ followers, memoryLimit }: VerifyOptions): readonly Follower[] {
  return followers ?? localFollowers({ memoryLimit, lockTimeout: 0 });
}

async function verify(options: VerifyOptions, engine: EngineOptions, repair: boolean): Promise<Verified> {
  const { warehouse } = options;
  const listed = () => listLog(warehouse, null, null, true);
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
      const verified = await lookOnce(options, engine, repair);
      if (!verified.findings.some(({ level }) => level === 'difference') || !(await isChanged())) return verified;
    } catch (error) {
      if (!(await isChanged())) throw error;
    }
  }
}

async function lookOnce(options: VerifyOptions, scratch: EngineOptions, repair: boolean): Promise<Verified> {
  const { warehouse } = options;
  const followers = followersIn(options);
  forgetChecked();
  return withEngine(scratch, async (engine) => {
    const log = await openLog(engine, warehouse, { temporary: scratch.temporary });
    const { markers, damaged: unreadable } = log;
    const { whole, files, rows, findings } = await checkFiles(engine, warehouse, markers);
    const repaired: string[] = [];
    const verified: Verified = { snapshots: markers.length, files, rows, findings, repaired };
    const settle = async (found: readonly Repairable[]) => {
      for (const { repair: fix, ...finding } of found) {
        if (repair && fix) repaired.push(await fix());
        else findings.push(finding);
      }
    };
    findings.push(...unreadable.map(({ path, reason }) => damaged(`the marker ${path} ${reason}`)));
    const runs = await readRuns(engine, log);
    findings.push(...runs.findings, ...(await checkRows(engine, log, whole, runs)));
    const notes = await findDamaged(engine, 'note_log', log.files('note_log'));
    findings.push(...notes.map(({ path, reason }) => damaged(`the note ${path} ${reason}`)));
    const lost = await findLost(engine, log, { ...scratch, followers });
    const known = new Set(lost.map(({ id }) => id));
    const recorded = (await lostMarkers(warehouse, runs.committed)).filter(({ id }) => !known.has(id));
    findings.push(...lost.map(({ id, repair: _, ...finding }) => finding));
    findings.push(...recorded.map(({ message }) => damaged(message)));
    for (const { id } of recorded) known.add(id);
    await settle(await leftovers(warehouse, known));
    // What is derived from the log, or a copy of it, can only be judged if the whole log can be read.
    if (findings.some(({ check, level }) => ['files', 'lost'].includes(check) && level === 'difference'))
      return verified;
    if (!(await isIndexRight(engine, log))) await settle([wrongIndex(warehouse)]);
    const checkpoints = await checkCheckpoints(log);
    findings.push(...checkpoints);
    if (checkpoints.length === 0) await settle(await checkStates(engine, log, scratch));
    for (const follower of followers) {
      const compared = await follower.compare(log, scratch, { repair });
      const found = compared.differences.map((difference) => ({ check: follower.name, ...difference }));
      const [last] = found.splice(MAX_DIFFERENCES);
      const more = compared.differences.length - found.length - 1;
      if (last) found.push({ ...last, message: `${last.message}, and ${more} more` });
      repaired.push(...compared.repaired);
      findings.push(...found);
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
  await engine.run(viewScript(await timeZoneOf(log.path), ['macros']));
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

/**
 * Files that no marker names. A file that stands alone is a leftover; several of one commit, or one with a checkpoint,
 * mean that its marker is lost.
 *
 * @param known ids of commits that are lost for sure: their files are reported with them
 */
async function leftovers(warehouse: string, known: ReadonlySet<string>): Promise<Repairable[]> {
  const checkpoints = new Set((await listTableFiles(warehouse, 'checkpoints')).map((file) => basename(file)));
  const folder = join('set-aside', new Date().toISOString().replaceAll(':', '-'));
  return [...(await unmarked(warehouse))].flatMap(([id, files]): Repairable[] => {
    const [file = '', ...more] = files;
    if (known.has(id)) return [];
    if (more.length === 0 && !checkpoints.has(basename(file))) return [leftover(warehouse, file, folder)];
    const all = `${counted(files.length, 'file')} of snapshot ${id}, such as ${file}`;
    return [{ check: 'lost', level: 'difference', message: `no marker names ${all}`, remedy: RESTORE_MARKER }];
  });
}

function leftover(warehouse: string, file: string, folder: string): Repairable {
  const found = { check: 'orphans', level: 'note', message: `no marker names ${file}` } as const;
  const repair = async () => {
    const to = join(warehouse, folder, relative(warehouse, file));
    for (const path of [file, to]) checkWithin(warehouse, dirname(path));
    await makeFolder(dirname(to));
    await rename(file, to);
    await syncPath(dirname(to));
    return `moved ${file}, which no marker names, to ${to}: nothing needs it`;
  };
  return { ...found, remedy: `\`indexhouse verify --repair\` moves it below set-aside/; readers ignore it`, repair };
}

function wrongIndex(warehouse: string): Repairable {
  const message = 'the index of old markers differs from them';
  const remedy = '`indexhouse verify --repair` drops it, and the next sync rebuilds it';
  const repair = async () => {
    await dropIndex(warehouse);
    return 'dropped the index of old markers: the next sync rebuilds it';
  };
  return { check: 'marker index', level: 'difference', message, remedy, repair };
}

/** Rebuilds the state of each website from the log and compares the result with its state file. */
async function checkStates(engine: Engine, log: Log, options: EngineOptions): Promise<Repairable[]> {
  const { path: warehouse } = log;
  const wrong: Repairable[] = [];
  for (const newest of newestMarkers(log.markers)) {
    const markers = markersOf(log.markers, newest.websiteId);
    const file = stateFileOf(warehouse, newest);
    const repair = async () => {
      await rebuildState(warehouse, markers, options, file);
      return `rebuilt ${file} from the log`;
    };
    const state = { check: 'state', remedy: '`indexhouse verify --repair` rebuilds it from the log', repair };
    if (!(await exists(file))) {
      // The next sync rebuilds it, because it is derived.
      wrong.push({ ...state, level: 'note', message: `${file} is missing` });
      continue;
    }
    const rebuilt = join(options.temporary, 'state.rebuilt');
    const onCompared: OnCompared = async (marker, versions) => {
      const written = filesOf(warehouse, [marker], 'page_versions');
      const differs = await filesDiffer(engine, log, 'page_versions', written, versions);
      const message = `${written[0] ?? marker.path}: page_versions differs from the log: ${differs}`;
      if (differs) wrong.push({ check: 'versions of pages', level: 'difference', message, remedy: A_BUG });
    };
    await rebuildState(warehouse, markers, options, rebuilt, onCompared);
    const torn = await whyNotParquet(file);
    const differs = torn ? `it ${torn}` : await filesDiffer(engine, log, 'page_state', [file], [rebuilt]);
    if (differs) wrong.push({ ...state, level: 'difference', message: `${file} differs from the log: ${differs}` });
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

import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../base/exit.js';
import { counted } from '../../base/observe/format.js';
import { exists } from '../../base/storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { lockHolder, probeLock } from '../../base/storage/locks.js';
import { checkAreFiles } from '../../base/storage/only-files.js';
import { rowsDiffer } from '../../base/storage/rows-differ.js';
import { literal } from '../../base/storage/sql.js';
import { findDamaged } from '../log/folder/damage.js';
import { listTableFiles, warehouseFolder, websiteOf } from '../log/folder/layout.js';
import { DATA_TABLES, LOOSE_TABLES, ROW_FILES, type Table } from '../log/folder/tables.js';
import { type Log, openLog } from '../log/log.js';
import { filesOf, lackingIn, type Marker } from '../log/markers.js';
import { findStates } from '../log/state.js';
import { readDuckdbRemoval } from '../removal/steps.js';
import { type Difference, type FollowerLag, lagging } from './follower.js';

const countRow = z.object({ rows: z.coerce.number() });
const REBUILD = '`indexhouse verify --repair` rebuilds it from the Parquet files';

const logTables = z.enum(['runs', 'snapshots', 'note_log']);

/** A run, a commit or a note. */
const heldRow = z.object({ table: logTables, websiteId: z.string(), id: z.uuid(), date: z.iso.date() });
export type Held = z.infer<typeof heldRow>;

/**
 * What a file has and the log lacks. `removed`: rows that `indexhouse remove` took out; `tombstoned`: how many of its
 * commits have rows that retention put out of use. With either the file is rebuilt. Whatever else is gone is `lost`.
 *
 * @param prefix the name that the file is attached by, with a dot
 */
export async function heldWithoutFile(engine: Engine, log: Log, prefix = '') {
  const queries = logTables.options.map((table) => {
    const { id, date } = ROW_FILES[table];
    return `select '${table}' as "table", website_id as "websiteId", ${id} as id, ${date} as date from ${prefix}${table}`;
  });
  const held = await engine.rows(heldRow, queries.join(' union all '));
  const listed = [...log.runs, ...log.files('note_log'), ...[...log.markers, ...log.damaged].map(({ path }) => path)];
  let gone = without(held, listed);
  // Listed again: a run that was committed and copied since the log was opened is not gone.
  const list = () => Promise.all(logTables.options.map((table) => listTableFiles(log.path, table)));
  if (gone.length > 0) gone = without(gone, (await list()).flat());
  const websites = gone.length > 0 ? await readDuckdbRemoval(log.path) : [];
  const isRemoved = ({ websiteId }: Held) => websites.includes(websiteId);
  const removed = gone.filter(isRemoved);
  const lost = gone.filter((one) => !isRemoved(one));
  const tombstoned = await countTombstoned(engine, log, prefix);
  return { removed, lost, tombstoned, isOutdated: removed.length > 0 || tombstoned > 0 };
}

function without(held: readonly Held[], paths: readonly string[]): Held[] {
  const there = new Set(paths.map((path) => `${websiteOf(path)} ${basename(path, '.parquet')}`));
  return held.filter(({ websiteId, id }) => !there.has(`${websiteId} ${id}`));
}

/** Of how many commits a file holds rows that a tombstone put out of use. */
async function countTombstoned(engine: Engine, log: Log, prefix: string): Promise<number> {
  if (log.tombstoneFiles.length === 0) return 0;
  const from = `(${lackingTombstones(log, prefix)}) semi join ${prefix}snapshots using (snapshot_id)`;
  return countOf(engine, from, 'distinct snapshot_id');
}

/** The tombstones that a file has not taken over yet. */
export function lackingTombstones(log: Log, prefix = ''): string {
  const all = log.query('tombstones', log.tombstoneFiles);
  return `select * from (${all}) anti join ${prefix}tombstones using (tombstone_id)`;
}

/** The ids of the snapshots that a native DuckDB file holds; `prefix` as for `heldWithoutFile`. */
export async function knownCommits(engine: Engine, prefix = ''): Promise<Set<string>> {
  const rows = await engine.rows(z.object({ id: z.string() }), `select snapshot_id as id from ${prefix}snapshots`);
  return new Set(rows.map(({ id }) => id));
}

/**
 * How far `indexhouse.duckdb` is, without writing to it or waiting for a process that has it open.
 *
 * @param engine with a temporary folder outside the warehouse, if nothing may be written into it
 */
export async function duckdbLag(
  log: Log,
  engine: EngineOptions,
  file = warehouseFolder(log.path).database,
): Promise<FollowerLag> {
  const { markers } = log;
  const lag = { name: 'duckdb', exact: true, held: null, error: null };
  if (!(await exists(file))) return { ...lag, behind: markers.length };
  const held = await probeLock(file);
  if (held?.access === 'write') return { ...lag, behind: await newerThan(file, markers), exact: false, held };
  try {
    return await withEngine({ ...engine, file, readOnly: true }, async (opened) => {
      const lacking = lackingIn(await knownCommits(opened), markers).length;
      const { removed, lost, tombstoned } = await heldWithoutFile(opened, log);
      const commits = removed.filter(({ table }) => table === 'snapshots').length;
      const behind = lacking + commits + lost.length + tombstoned;
      return { ...lag, behind, ...(lost.length > 0 ? { ahead: lost.length } : {}), held };
    });
  } catch (error) {
    // A writer has opened it since we checked.
    if (lockHolder(error)) return { ...lag, behind: await newerThan(file, markers), exact: false, held };
    return { ...lag, behind: markers.length, exact: false, held, error: messageOf(error) };
  }
}

async function newerThan(file: string, markers: readonly Marker[]): Promise<number> {
  const { mtimeMs } = await stat(file);
  const times = await Promise.all(markers.map(({ path }) => stat(path)));
  return times.filter((time) => time.mtimeMs > mtimeMs).length;
}

/**
 * The markers are read while the file is open: nobody can write to it then, so everything in it has a marker. Files of
 * the log that cannot be read are not differences here: they are separate findings.
 *
 * @param listed the log when the check began: it is not behind for lacking what was committed since
 * @param temporary a folder outside the warehouse
 */
export async function checkDuckdb(engine: Engine, listed: Log, temporary: string): Promise<Difference[]> {
  const file = warehouseFolder(listed.path).database;
  if (!(await exists(file))) {
    if (listed.markers.length === 0) return [];
    return [lagging(`${file} is missing`, 'the next sync creates it')];
  }
  try {
    checkAreFiles([file]);
    await engine.run(`attach ${literal(file)} as follower (read_only)`);
  } catch (error) {
    const holder = lockHolder(error);
    if (holder)
      return [lagging(`${file} cannot be compared now: ${holder} has it open`, 'try again once it is closed')];
    return [difference(`${file} cannot be opened: ${messageOf(error)}`)];
  }
  try {
    return await compare(engine, await openLog(engine, listed.path, { temporary }), listed);
  } catch (error) {
    return [difference(`${file} cannot be compared: ${messageOf(error)}`)];
  } finally {
    await engine.run('detach follower');
  }
}

async function compare(engine: Engine, log: Log, listed: Log): Promise<Difference[]> {
  const { markers } = log;
  // The next sync rebuilds it, so there is nothing to compare.
  const { isOutdated } = await heldWithoutFile(engine, log, 'follower.');
  if (isOutdated) return [lagging('indexhouse.duckdb still holds what was removed')];
  const taken = await knownCommits(engine, 'follower.');
  const has = markers.filter(({ snapshotId }) => taken.has(snapshotId));
  const paths = has.map(({ path }) => path);
  const parquet = new Map<Table, string>([
    ...DATA_TABLES.map((table) => [table, log.query(table, filesOf(log.path, has, table))] as const),
    ['snapshots', log.query('snapshots', paths)],
    ['tombstones', log.query('tombstones', log.tombstoneFiles)],
  ]);
  const lacking = lackingIn(taken, listed.markers).length;
  const lags = lacking > 0 ? [lagging(`indexhouse.duckdb is ${counted(lacking, 'snapshot')} behind`)] : [];
  for (const table of LOOSE_TABLES) {
    const { id } = ROW_FILES[table];
    const files = log.files(table);
    // Rows of a damaged Parquet file cannot be compared; the native file is not to blame.
    if ((await findDamaged(engine, table, files)).length > 0) continue;
    const there = `join follower.${table} using (${id}, website_id)`;
    parquet.set(table, `select * from (${log.query(table, files)}) semi ${there}`);
    // A run's row comes last, or alone if the run failed, and a note at any time: without it, the file is only behind.
    const older = new Set(listed.files(table));
    const due = files.filter((path) => older.has(path));
    const rows = await countOf(engine, `(${log.query(table, due)}) anti ${there}`);
    if (rows > 0) lags.push(lagging(`${table} in indexhouse.duckdb is ${counted(rows, 'row')} behind`));
  }
  const states = await findStates(engine, log);
  if (markers.length === has.length && states.lacking.length === 0) {
    const files = states.present.map(({ file }) => file);
    parquet.set('page_state', log.query('page_state', files));
  }
  const differences: Difference[] = [];
  for (const [table, query] of parquet) {
    await engine.view('parquet_side', query);
    const differs = await rowsDiffer(engine, 'parquet_side', `follower.${table}`);
    if (differs)
      differences.push(difference(`${table} in indexhouse.duckdb differs from the Parquet files: ${differs}`));
  }
  return [...differences, ...lags];
}

async function countOf(engine: Engine, from: string, what = '*'): Promise<number> {
  const [row] = await engine.rows(countRow, `select count(${what}) as rows from ${from}`);
  return row?.rows ?? 0;
}

function difference(message: string): Difference {
  return { level: 'difference', message, remedy: REBUILD };
}

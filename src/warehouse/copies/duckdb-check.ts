import { z } from 'zod';
import { BusyError, messageOf } from '../../base/exit.js';
import { counted } from '../../base/observe/format.js';
import { exists } from '../../base/storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { lockHolder } from '../../base/storage/locks.js';
import { columnsOf, rowsDiffer } from '../../base/storage/rows-differ.js';
import { literal } from '../../base/storage/sql.js';
import { findDamaged } from '../log/folder/damage.js';
import { listTableFiles, warehouseFolder } from '../log/folder/layout.js';
import { DATA_TABLES, LOOSE_TABLES, type Table } from '../log/folder/tables.js';
import { type Log, openLog } from '../log/log.js';
import { filesOf } from '../log/markers.js';
import { findStates } from '../log/state.js';
import { type Compared, type Difference, lagging } from './follower.js';
import { isOutdated, knownCommits } from './native-file.js';
import { RebuildError, rebuildDuckdb } from './rebuild.js';

const REBUILD = '`indexhouse verify --repair` rebuilds it from the Parquet files';

/**
 * Compares `indexhouse.duckdb` row by row with the commits that it holds. Being behind is not a difference. With
 * `repair`, it is rebuilt if it differs or lags.
 */
export async function compareDuckdb(
  warehouse: string,
  { memoryLimit, engine, repair }: { memoryLimit: number; engine: EngineOptions; repair: boolean },
): Promise<Compared> {
  const check = () => withEngine(engine, (opened) => checkDuckdb(opened, warehouse, engine.temporary));
  const differences = await check();
  if (!repair || differences.length === 0) return { differences, repaired: [] };
  try {
    await rebuildDuckdb({ warehouse, memoryLimit });
  } catch (error) {
    if (!(error instanceof BusyError || error instanceof RebuildError)) throw error;
    return { differences: differences.map((one) => ({ ...one, remedy: error.message })), repaired: [] };
  }
  return { differences: await check(), repaired: ['rebuilt indexhouse.duckdb from the Parquet files'] };
}

/**
 * The markers are read while the file is open: nobody can write to it then, so everything in it has a marker. Files of
 * the log that cannot be read are not differences here: they are separate findings.
 *
 * @param temporary a folder outside the warehouse
 */
async function checkDuckdb(engine: Engine, warehouse: string, temporary: string): Promise<Difference[]> {
  const file = warehouseFolder(warehouse).database;
  if (!(await exists(file))) {
    if ((await listTableFiles(warehouse, 'snapshots')).length === 0) return [];
    return [lagging(`${file} is missing`, 'the next sync creates it')];
  }
  try {
    await engine.run(`attach ${literal(file)} as follower (read_only)`);
  } catch (error) {
    const holder = lockHolder(error);
    if (holder)
      return [lagging(`${file} cannot be compared now: ${holder} has it open`, 'try again once it is closed')];
    return [difference(`${file} cannot be opened: ${messageOf(error)}`)];
  }
  try {
    return await compare(engine, await openLog(engine, warehouse, { temporary }));
  } catch (error) {
    return [difference(`${file} cannot be compared: ${messageOf(error)}`)];
  } finally {
    await engine.run('detach follower');
  }
}

const countRow = z.object({ rows: z.coerce.number() });

async function compare(engine: Engine, log: Log): Promise<Difference[]> {
  const { markers } = log;
  // The next sync rebuilds it, so there is nothing to compare.
  if (await isOutdated(engine, log, 'follower.')) return [lagging('indexhouse.duckdb still holds what was removed')];
  const taken = await knownCommits(engine, 'follower.');
  const has = markers.filter(({ snapshotId }) => taken.has(snapshotId));
  const compared: [Table, string][] = [
    ...DATA_TABLES.map((table): [Table, string] => [table, log.query(table, filesOf(log.path, has, table))]),
    [
      'snapshots',
      log.query(
        'snapshots',
        has.map(({ path }) => path),
      ),
    ],
    ['tombstones', log.query('tombstones', log.tombstoneFiles)],
  ];
  const lags: [number, (rows: number) => Difference][] = [
    [markers.length - has.length, (lacking) => lagging(`indexhouse.duckdb is ${counted(lacking, 'snapshot')} behind`)],
  ];
  for (const [table, id] of LOOSE_TABLES) {
    // Rows of a damaged Parquet file cannot be compared; the native file is not to blame.
    if ((await findDamaged(engine, table, log.files(table))).length > 0) continue;
    const all = log.query(table, log.files(table));
    compared.push([table, `select * from (${all}) semi join follower.${table} using (${id}, website_id)`]);
    // A run's row comes last, or alone if the run failed, and a note at any time: without it, the file is only behind.
    const lacking = await countOf(engine, `(${all}) anti join follower.${table} using (${id}, website_id)`);
    lags.push([lacking, (rows) => lagging(`${table} in indexhouse.duckdb is ${rows} rows behind`)]);
  }
  const states = await findStates(engine, log);
  if (markers.length === has.length && states.lacking.length === 0) {
    const files = states.present.map(({ file }) => file);
    compared.push(['page_state', log.query('page_state', files)]);
  }
  const findings: Difference[] = [];
  for (const [table, parquet] of compared) findings.push(...(await compareTable(engine, table, parquet)));
  return [...findings, ...lags.flatMap(([rows, lag]) => (rows > 0 ? [lag(rows)] : []))];
}

async function compareTable(engine: Engine, table: Table, parquet: string): Promise<Difference[]> {
  await engine.view('parquet_side', parquet);
  const columns = await columnsOf(engine, `follower.${table}`);
  const differs = await rowsDiffer(engine, columns, 'parquet_side', `follower.${table}`);
  if (!differs) return [];
  return [difference(`${table} in indexhouse.duckdb differs from the Parquet files: ${differs}`)];
}

async function countOf(engine: Engine, from: string): Promise<number> {
  const [row] = await engine.rows(countRow, `select count(*) as rows from ${from}`);
  return row?.rows ?? 0;
}

function difference(message: string): Difference {
  return { level: 'difference', message, remedy: REBUILD };
}

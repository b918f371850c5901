import { z } from 'zod';
import { BusyError, messageOf } from '../exit.js';
import { counted } from '../observe/format.js';
import { exists } from '../storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../storage/engine.js';
import { lockHolder } from '../storage/locks.js';
import { columnsOf, rowsDiffer } from '../storage/rows-differ.js';
import { literal } from '../storage/sql.js';
import { findDamaged } from '../warehouse/damage.js';
import { listTableFiles, warehouseFolder } from '../warehouse/layout.js';
import { filesOf, markerPaths } from '../warehouse/markers.js';
import { OpenWarehouse } from '../warehouse/open.js';
import { findStates } from '../warehouse/state.js';
import { DATA_TABLES, isThinned, MARKER_TABLES, type Table } from '../warehouse/tables.js';
import { type Compared, type Difference, lagging } from './follower.js';
import { isDropped, knownCommits, readRetention, removedInFile } from './native-file.js';
import { RebuildError, rebuildDuckdb } from './rebuild.js';

const REBUILD = 'run `indexhouse rebuild` to rebuild it from the Parquet files';

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
    return [lagging(`${file} is missing`, 'the next sync or `indexhouse rebuild` creates it')];
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
    return await compare(engine, await OpenWarehouse.read(engine, warehouse, temporary));
  } catch (error) {
    return [difference(`${file} cannot be compared: ${messageOf(error)}`)];
  } finally {
    await engine.run('detach follower');
  }
}

const countRow = z.object({ rows: z.coerce.number() });

async function compare(engine: Engine, log: OpenWarehouse): Promise<Difference[]> {
  const { markers } = log;
  if ((await removedInFile(engine, log, 'follower.')).size > 0)
    return [lagging('indexhouse.duckdb still holds what was removed')];
  const taken = await knownCommits(engine, 'follower');
  const has = markers.filter(({ commitId }) => taken.has(commitId));
  const { retainedFrom } = await readRetention(engine, 'follower');
  const kept = (table: Table) => has.filter((marker) => !isDropped(marker, table, retainedFrom));
  // Includes tombstones that the file lacks: it may still hold rows of the files that they put out of use, and nothing
  // is left to compare those rows with.
  const tombstones = log.query('tombstones', log.tombstoneFiles);
  await engine.run(
    `create or replace temp table new_tombstones as
     select * from (${tombstones}) anti join follower.tombstones using (tombstone_id)`,
  );
  const findings = await compareTaken(engine, 'tombstones', tombstones, {
    by: 'tombstone_id',
    behind: (files) =>
      lagging(
        `indexhouse.duckdb may hold rows of ${files} removed files`,
        'the next sync catches up; `indexhouse maintain` also makes the file smaller',
      ),
  });
  for (const table of DATA_TABLES) {
    findings.push(...(await compareTable(engine, table, log.query(table, filesOf(log.path, kept(table), table)))));
  }
  for (const table of MARKER_TABLES) {
    findings.push(...(await compareTable(engine, table, log.query(table, markerPaths(has, table)))));
  }
  // Rows of a damaged Parquet file cannot be compared; the native file is not to blame.
  if ((await findDamaged(engine, 'runs', log.runs)).length === 0) {
    // A run's row comes last, or alone if the run failed: without it, the file is only behind.
    const behind = (rows: number) => lagging(`runs in indexhouse.duckdb is ${rows} rows behind`);
    findings.push(
      ...(await compareTaken(engine, 'runs', log.query('runs', log.runs), { by: 'run_id, website_id', behind })),
    );
  }
  const lacking = markers.length - has.length;
  if (lacking === 0) return [...findings, ...(await compareState(engine, log))];
  return [...findings, lagging(`indexhouse.duckdb is ${counted(lacking, 'snapshot')} behind`)];
}

/** Compares the rows of a table that the file takes over row by row; rows that it lacks are not a difference. */
async function compareTaken(
  engine: Engine,
  table: 'runs' | 'tombstones',
  all: string,
  { by, behind }: { by: string; behind: (rows: number) => Difference },
): Promise<Difference[]> {
  const findings = await compareTable(
    engine,
    table,
    `select * from (${all}) semi join follower.${table} using (${by})`,
  );
  const query = `select count(*) as rows from (${all}) anti join follower.${table} using (${by})`;
  const [lacking] = await engine.rows(countRow, query);
  return lacking && lacking.rows > 0 ? [...findings, behind(lacking.rows)] : findings;
}

async function compareTable(engine: Engine, table: Table, parquet: string): Promise<Difference[]> {
  await engine.view('parquet_side', parquet);
  const columns = await columnsOf(engine, `follower.${table}`);
  const compared = `commit_id not in (select commit_id from new_tombstones where table_name = ${literal(table)})`;
  const follower = `follower.${table}${isThinned(table) ? ` where ${compared}` : ''}`;
  const differs = await rowsDiffer(engine, columns, 'parquet_side', follower);
  if (!differs) return [];
  return [difference(`${table} in indexhouse.duckdb differs from the Parquet files: ${differs}`)];
}

/** Compares the state, unless the newest one cannot be read. Only for a file that lacks nothing. */
async function compareState(engine: Engine, log: OpenWarehouse): Promise<Difference[]> {
  const { present, lacking } = await findStates(engine, log);
  if (lacking.length > 0) return [];
  const files = present.map(({ file }) => file);
  return compareTable(engine, 'page_state', log.query('page_state', files));
}

function difference(message: string): Difference {
  return { level: 'difference', message, remedy: REBUILD };
}

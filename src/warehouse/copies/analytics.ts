import { realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, win32 } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../../base/exit.js';
import { crashPoint } from '../../base/storage/crash-point.js';
import { exists, readIfThere, removeDatabase, replaceDatabase, writeDurably } from '../../base/storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { lockHolder } from '../../base/storage/locks.js';
import { whyNotFile } from '../../base/storage/only-files.js';
import { identifier, literal, sql } from '../../base/storage/sql.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { commentOn } from '../log/folder/dictionary.js';
import { listTableFiles, namesIn, scratchFolder, warehouseFolder } from '../log/folder/layout.js';
import { checkPath, checkWarehouseThere, isStamped, tableQuery, timeZoneOf } from '../log/folder/prepare.js';
import {
  DATA_TABLES,
  type DataTable,
  isThinned,
  TABLES,
  type Table,
  tablesScript,
  typedColumns,
  viewScript,
} from '../log/folder/tables.js';
import type { FollowerState } from './follower.js';

/** The oldest format that DuckDB 1.5 still writes for every reader since 1.0. */
const STORAGE_VERSION = 'v1.0.0';

const TEXT = join('schema', 'analytics.sql');

/** Whether the views of `analytics.duckdb` show the files of this folder: they hold absolute paths, and it may have moved. */
export async function isAnalyticsCurrent(warehouse: string): Promise<boolean> {
  return shows(warehouse, await analyticsScript({ warehouse, root: warehouse }));
}

async function shows(warehouse: string, { base, derived }: AnalyticsScript): Promise<boolean> {
  const { analytics } = warehouseFolder(warehouse);
  // What is no file is named by whoever writes it.
  const known = await readIfThere(join(warehouse, TEXT)).catch(() => null);
  return known === base + derived && (await exists(analytics)) && whyNotFile(analytics) === null;
}

/**
 * Writes `analytics.duckdb`: views over the Parquet files with absolute paths, for BI tools that want a single file and
 * may keep it open all day. It is replaced by rename, and only if its views change.
 */
export async function writeAnalytics(warehouse: string, memoryLimit: number): Promise<FollowerState> {
  const upToDate = { name: 'analytics', behind: 0 };
  const engine = { memoryLimit, temporary: scratchFolder(warehouse) };
  const script = await analyticsScript({ warehouse, root: warehouse });
  if (await shows(warehouse, script)) return upToDate;
  await publishAnalytics(warehouseFolder(warehouse).analytics, script, engine);
  crashPoint('published analytics.duckdb');
  await writeDurably(join(warehouse, TEXT), script.base + script.derived);
  return upToDate;
}

/**
 * Writes the views of `analytics.duckdb` for readers that see the warehouse under another path. Takes no lock, and does
 * not change the warehouse.
 *
 * @param input the root is where the readers see the warehouse: an absolute path on their machine
 * @returns the names of the views, too
 * @throws WarehouseError if there is none that can be read; UsageError for an unusable root or file
 */
export async function exportAnalytics(input: AnalyticsPlace & { out: string; memoryLimit: number }) {
  const { warehouse, out, memoryLimit } = input;
  const root = rootOf(input.root);
  await checkWarehouseThere(warehouse);
  return withTemporary('analytics', async (temporary) => {
    const engine = { memoryLimit, temporary };
    await isStamped(warehouse);
    const file = await replaceable(out, warehouse, engine);
    await publishAnalytics(file, await analyticsScript({ warehouse, root }), engine);
    return { file, root, views: await viewsIn(file, engine) };
  });
}

/** The root without a trailing slash. */
function rootOf(root: string): string {
  // Readers may run on Windows, where POSIX absolute paths count as absolute, too.
  if (!win32.isAbsolute(root)) {
    throw new UsageError(`--root must be the absolute path of the warehouse as readers see it (given: ${root})`);
  }
  checkPath('--root', root);
  return root.replace(/(?<=.)[/\\]+$/, '');
}

/** The file to write. Only a file of views over a warehouse is overwritten, so nothing is lost. */
async function replaceable(out: string, warehouse: string, engine: EngineOptions): Promise<string> {
  const folder = dirname(resolve(out));
  if (!(await isFolder(folder))) throw new UsageError(`folder ${folder} does not exist`);
  const file = join(await realpath(folder), basename(resolve(out)));
  const { database, analytics, lock } = warehouseFolder(await realpath(warehouse));
  if ([database, analytics, lock].includes(file)) {
    throw new UsageError(`${file} is the warehouse's own: choose another name for --out`);
  }
  if (!(await exists(file))) return file;
  if (await isFolder(file)) throw new UsageError(`${file} is a folder: name a file in it, such as analytics.duckdb`);
  if (await isAnalytics(file, engine)) return file;
  throw new UsageError(`${file} exists and is not an analytics file: choose another name for --out, or delete it`);
}

async function isFolder(path: string): Promise<boolean> {
  return (await exists(path)) && (await stat(path)).isDirectory();
}

/** Whether a file holds only views, among them those of a warehouse. */
async function isAnalytics(file: string, engine: EngineOptions): Promise<boolean> {
  try {
    const views = await viewsIn(file, engine);
    return ['snapshots', 'coverage', 'page_state'].every((name) => views.includes(name));
  } catch (error) {
    const holder = lockHolder(error);
    if (holder) throw new UsageError(`${basename(file)} is locked by ${holder}, which has it open for writing`);
    return false;
  }
}

/** The names of the views in a file; none if it holds a table. */
async function viewsIn(file: string, engine: EngineOptions): Promise<string[]> {
  return withEngine({ ...engine, file, readOnly: true }, async (opened) => {
    const row = z.object({ name: z.string(), is_view: z.boolean() });
    const relations = await opened.rows(
      row,
      `select view_name as name, true as is_view from duckdb_views() where not internal
       union all select table_name, false from duckdb_tables()
       order by name`,
    );
    return relations.some(({ is_view }) => !is_view) ? [] : relations.map(({ name }) => name);
  });
}

/** Creates a DuckDB file of views, which replaces an earlier one. */
async function publishAnalytics(file: string, script: AnalyticsScript, engine: EngineOptions): Promise<void> {
  const temporary = `${file}.indexhouse.tmp`;
  // The WAL of an attempt that crashed would be replayed into the new file.
  await removeDatabase(temporary);
  try {
    await withEngine({ ...engine, file: temporary, storageVersion: STORAGE_VERSION }, async (opened) => {
      await replaceReadParquet(opened);
      // In one transaction, because outside one each statement waits for the disk. Over tables, because a view binds all
      // views below it, and those over files take five times as long.
      const dropped = TABLES.map((table) => `drop table ${table};\n`).join('');
      await opened.run(`begin; ${tablesScript()};\n${script.derived}${dropped}${script.base}`);
      await commentOn(opened);
      await opened.run('commit; checkpoint');
    });
    crashPoint('made analytics.duckdb');
    await replaceDatabase(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** The warehouse whose files the views read. */
interface AnalyticsPlace {
  warehouse: string;
  /** The path under which readers see it: absolute, and possibly on another machine. */
  root: string;
}

/**
 * Replaces `read_parquet` in this engine by empty tables with our columns. A view created meanwhile keeps the call as
 * it is written, so it reads the files when it is opened later.
 */
async function replaceReadParquet(engine: Engine): Promise<void> {
  const [home] = await engine.rows(z.object({ name: z.string() }), 'select current_database() as name');
  const columns = `${tablesScript()};\nalter table page_state add column filename varchar`;
  await engine.run(`attach ':memory:' as columns_of; use columns_of; ${columns}; use ${identifier(home?.name ?? '')}`);
  await engine.run(sql('warehouse/analytics/read_parquet'));
}

/** Scripts that create the views over the Parquet files, one for each table, and the views over those. */
type AnalyticsScript = Record<'base' | 'derived', string>;

/**
 * The views over the Parquet files; see `replaceReadParquet` for creating them. Each view filters by markers and
 * tombstones, because files without a marker or with a tombstone do not count.
 */
async function analyticsScript(place: AnalyticsPlace): Promise<AnalyticsScript> {
  const views: string[] = [];
  for (const table of ['snapshots', 'runs', 'note_log', 'tombstones'] as const) {
    views.push(`create or replace view ${table} as select ${typedColumns(table)} from ${await source(place, table)}`);
  }
  for (const table of [...DATA_TABLES, 'page_state'] as const) views.push(await committedView(place, table));
  return { base: `${views.join(';\n')};\n`, derived: `${viewScript(await timeZoneOf(place.warehouse))};\n` };
}

/**
 * The view of a table that commits have files of. It fails if one of these files is missing, because a pattern cannot
 * miss any; a question about another website does not. The commits are listed before the files.
 */
async function committedView(place: AnalyticsPlace, table: DataTable | 'page_state'): Promise<string> {
  const id = table === 'page_state' ? 'parse_filename(filename, true)' : 'snapshot_id';
  const pattern = literal(patternOf(place.root, table));
  const missing = `'${table} of website ' || website_id || ': the file ' || snapshot_id || '.parquet is missing; run \`indexhouse verify\`'`;
  // The error needs both sides of the join: DuckDB 1.1 evaluates one that needs a single side before it joins.
  return `create or replace view ${table} as
with committed as materialized (${committedOf(table)})
select ${typedColumns(table)} from ${await source(place, table)}
where ${id} in (select snapshot_id from committed)
union all
select ${failingColumns(table)}
from (
  select website_id, snapshot_id, found, if(found is null, error(${missing}), null) as lost
  from committed
  left join (select parse_filename(file, true) as found from glob(${pattern})) on found = snapshot_id
)
where lost is null and found is null`;
}

/** The commits whose files of a table count. */
function committedOf(table: DataTable | 'page_state'): string {
  if (table === 'page_state')
    return 'select website_id, max(snapshot_id) as snapshot_id from snapshots group by website_id';
  const dropped = `select snapshot_id from tombstones where table_name = ${literal(table)}`;
  return `select website_id, snapshot_id from snapshots
where json_exists(files, '$.${table}')${isThinned(table) ? ` and snapshot_id not in (${dropped})` : ''}`;
}

/** Columns that fail when they are read, except those that tell whether a row is selected at all. */
function failingColumns(table: Table): string {
  return typedColumns(table, (name) => (['website_id', 'snapshot_id'].includes(name) ? name : 'lost'));
}

/** A pattern that matches no file is an error, so it is left out until there is one. */
async function source({ warehouse, root }: AnalyticsPlace, table: Table): Promise<string> {
  const isState = table === 'page_state';
  const found = isState ? await namesIn(join(warehouse, 'state')) : await listTableFiles(warehouse, table);
  if (found.length === 0) return `(select *, null::varchar as filename from (${tableQuery(table, [])}))`;
  const named = isState ? ', filename = true' : '';
  return `read_parquet([${literal(patternOf(root, table))}], union_by_name = true, hive_partitioning = false${named})`;
}

function patternOf(root: string, table: Table): string {
  return table === 'page_state'
    ? join(root, 'state', '*', '*.parquet')
    : join(root, 'parquet', table, '*', '*', '*.parquet');
}

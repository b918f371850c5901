import { join } from 'node:path';
import { z } from 'zod';
import type { Engine } from '../storage/engine.js';
import { identifier, literal, sql } from '../storage/sql.js';
import { type Column, columnsOfTables, createTables } from '../warehouse/columns.js';
import { listTableFiles, namesIn, schemaFile } from '../warehouse/layout.js';
import { DATA_TABLES, isThinned, MARKER_TABLES, type Table } from '../warehouse/tables.js';
import { viewStatements } from '../warehouse/views.js';

const COMMITS = 'select snapshot_id from snapshots union all select replay_id from replays';

/** The warehouse whose files the views read. */
export interface AnalyticsPlace {
  warehouse: string;
  /** Where their readers see it: an absolute path, which need not exist on this machine. */
  root: string;
}

/** The columns that a table's view shows, as a list for `select`. */
type Columns = ReadonlyMap<Table, string>;

/**
 * Makes `read_parquet` stand for empty tables with the columns of ours, for as long as this engine is open. Views that
 * are made meanwhile keep the call as it is written, so whoever opens them later reads the files.
 */
export async function standInForFiles(engine: Engine): Promise<void> {
  const [home] = await engine.rows(z.object({ name: z.string() }), 'select current_database() as name');
  await engine.run("attach ':memory:' as columns_of");
  await engine.run('use columns_of');
  await createTables(engine);
  await engine.run('alter table page_state add column filename varchar');
  await engine.run(`use ${identifier(home?.name ?? '')}`);
  await engine.run(sql('analytics/read_parquet'));
}

/** The statements that make every view over the Parquet files, in order. Who runs them has to stand in for the files. */
export async function analyticsStatements(place: AnalyticsPlace): Promise<string[]> {
  return [...(await tableViews(place, shownColumns())), ...viewStatements()];
}

/**
 * By name, so that a file of a newer version does not change what a view promises. JSON is told as such: DuckDB 1.0
 * takes it for text.
 */
function shownColumns(): Columns {
  const shown = (column: Column) => {
    const name = identifier(column.name);
    return column.type === 'JSON' ? `${name}::json as ${name}` : name;
  };
  return new Map([...columnsOfTables()].map(([table, columns]) => [table, columns.map(shown).join(', ')]));
}

/** What has no marker does not exist, so every view joins the markers; nor does what has a tombstone. */
async function tableViews(place: AnalyticsPlace, columns: Columns): Promise<string[]> {
  const views: string[] = [];
  for (const table of [...MARKER_TABLES, 'runs', 'tombstones'] as const) {
    views.push(`create or replace view ${table} as select ${columns.get(table)} from ${await source(place, table)}`);
  }
  for (const table of DATA_TABLES) {
    views.push(`create or replace view ${table} as
select ${columns.get(table)} from ${await source(place, table)}
where commit_id in (${COMMITS})${isThinned(table) ? `\n  and ${notDropped(table)}` : ''}`);
  }
  views.push(await stateView(place, columns));
  return views;
}

function notDropped(table: Table): string {
  return `commit_id not in (select commit_id from tombstones where table_name = ${literal(table)})`;
}

async function stateView({ warehouse, root }: AnalyticsPlace, columns: Columns): Promise<string> {
  const any = (await namesIn(join(warehouse, 'state'))).length > 0;
  const files = [schemaFile(root, 'page_state'), ...(any ? [join(root, 'state', '*', '*.parquet')] : [])];
  return `create or replace view page_state as
select ${columns.get('page_state')} from ${readParquet(files, ', filename = true')}
where parse_filename(filename, true) in (
  select max(id)
  from (select website_id, snapshot_id as id from snapshots union all select website_id, replay_id from replays)
  group by website_id
)`;
}

/** A pattern without files is an error, so it is left out until there are some. */
async function source({ warehouse, root }: AnalyticsPlace, table: Table): Promise<string> {
  const any = (await listTableFiles(warehouse, table)).length > 0;
  const pattern = join(root, 'parquet', table, '*', '*', '*.parquet');
  return readParquet([schemaFile(root, table), ...(any ? [pattern] : [])]);
}

function readParquet(files: string[], options = ''): string {
  return `read_parquet([${files.map(literal).join(', ')}], union_by_name = true, hive_partitioning = false${options})`;
}

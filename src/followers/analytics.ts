import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoint } from '../storage/crash-point.js';
import { exists, publish, syncFile, writeDurably } from '../storage/durable.js';
import { withEngine } from '../storage/engine.js';
import { literal, sql } from '../storage/sql.js';
import { listTableFiles, namesIn, schemaFile, scratchFolder, warehouseFolder } from '../warehouse/layout.js';
import { DATA_TABLES, MARKER_TABLES, type Table, tableStatements } from '../warehouse/tables.js';
import { viewStatements } from '../warehouse/views.js';
import type { FollowerState } from './duckdb.js';

const COMMITS = 'select snapshot_id from snapshots union all select replay_id from replays';

/**
 * Writes `analytics.duckdb`: views over the Parquet files with absolute paths, for BI tools that want one file to open
 * and may hold it open all day. It is replaced by rename, and only when its text changes.
 */
export async function writeAnalytics(warehouse: string, memoryLimit: number): Promise<FollowerState> {
  const upToDate = { name: 'analytics', behind: 0 };
  const statements = [...(await tableViews(warehouse)), ...viewStatements()];
  const { analytics } = warehouseFolder(warehouse);
  const textFile = join(warehouse, 'schema', 'analytics.sql');
  // A view keeps the columns that it was made with, so a new one of a table counts as another text.
  const text = `${statements.join(';\n')};\n${tableStatements()
    .map((name) => sql(name).replace(/^/gm, '-- '))
    .join('\n')}\n`;
  if ((await exists(analytics)) && (await readText(textFile)) === text) return upToDate;
  const temporary = `${analytics}.tmp`;
  // The log of an attempt that died would be played into the new file.
  for (const left of [temporary, `${temporary}.wal`]) await rm(left, { force: true });
  await withEngine({ file: temporary, memoryLimit, temporary: scratchFolder(warehouse) }, async (engine) => {
    for (const statement of statements) await engine.run(statement);
    await engine.run('checkpoint');
  });
  crashPoint('made analytics.duckdb');
  await syncFile(temporary);
  await publish(temporary, analytics);
  crashPoint('published analytics.duckdb');
  await writeDurably(textFile, text);
  return upToDate;
}

async function readText(file: string): Promise<string | null> {
  return (await exists(file)) ? readFile(file, 'utf8') : null;
}

/** What has no marker does not exist, so every view joins the markers. */
async function tableViews(warehouse: string): Promise<string[]> {
  const views: string[] = [];
  for (const table of [...MARKER_TABLES, 'runs'] as const) {
    views.push(`create or replace view ${table} as select * from ${await source(warehouse, table)}`);
  }
  for (const table of DATA_TABLES) {
    const from = await source(warehouse, table);
    views.push(`create or replace view ${table} as
select * from ${from}
where commit_id in (${COMMITS})`);
  }
  views.push(await stateView(warehouse));
  return views;
}

async function stateView(warehouse: string): Promise<string> {
  const any = (await namesIn(join(warehouse, 'state'))).length > 0;
  const files = [schemaFile(warehouse, 'page_state'), ...(any ? [join(warehouse, 'state', '*', '*.parquet')] : [])];
  return `create or replace view page_state as
select * exclude (filename) from ${readParquet(files, ', filename = true')}
where parse_filename(filename, true) in (
  select max(id)
  from (select website_id, snapshot_id as id from snapshots union all select website_id, replay_id from replays)
  group by website_id
)`;
}

/** A pattern without files is an error, so it is left out until there are some. */
async function source(warehouse: string, table: Table): Promise<string> {
  const any = (await listTableFiles(warehouse, table)).length > 0;
  const pattern = join(warehouse, 'parquet', table, '*', '*', '*.parquet');
  return readParquet([schemaFile(warehouse, table), ...(any ? [pattern] : [])]);
}

function readParquet(files: string[], options = ''): string {
  return `read_parquet([${files.map(literal).join(', ')}], union_by_name = true, hive_partitioning = false${options})`;
}

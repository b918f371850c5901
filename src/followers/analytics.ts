import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoint } from '../storage/crash-point.js';
import { exists, publish, syncFile, writeDurably } from '../storage/durable.js';
import { withEngine } from '../storage/engine.js';
import { literal } from '../storage/sql.js';
import { listTableFiles, namesIn, schemaFile, scratchFolder, warehouseFolder } from '../warehouse/layout.js';
import { DATA_TABLES, type Table } from '../warehouse/tables.js';
import { viewStatements } from '../warehouse/views.js';
import type { FollowerState } from './duckdb.js';

/**
 * Writes `analytics.duckdb`: views over the Parquet files with absolute paths, for BI tools that want one file to open
 * and may hold it open all day. It is replaced by rename, and only when its text changes.
 */
export async function writeAnalytics(warehouse: string, memoryLimit: number): Promise<FollowerState> {
  const upToDate = { name: 'analytics', behind: 0 };
  const statements = [...(await tableViews(warehouse)), ...viewStatements()];
  const { analytics } = warehouseFolder(warehouse);
  const textFile = join(warehouse, 'schema', 'analytics.sql');
  const text = `${statements.join(';\n')};\n`;
  if ((await exists(analytics)) && (await readText(textFile)) === text) return upToDate;
  const temporary = `${analytics}.tmp`;
  await rm(temporary, { force: true });
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
  for (const table of ['snapshots', 'runs'] as const) {
    views.push(`create or replace view ${table} as select * from ${await source(warehouse, table)}`);
  }
  for (const table of DATA_TABLES) {
    const from = await source(warehouse, table);
    views.push(`create or replace view ${table} as
select * from ${from}
where commit_id in (select snapshot_id from snapshots)`);
  }
  views.push(await stateView(warehouse));
  return views;
}

async function stateView(warehouse: string): Promise<string> {
  const any = (await namesIn(join(warehouse, 'state'))).length > 0;
  const files = [schemaFile(warehouse, 'page_state'), ...(any ? [join(warehouse, 'state', '*', '*.parquet')] : [])];
  return `create or replace view page_state as
select * exclude (filename) from ${readParquet(files, ', filename = true')}
where parse_filename(filename, true) in (select max(snapshot_id) from snapshots group by website_id)`;
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

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { crashPoint } from '../storage/crash-point.js';
import { exists, publish, readIfThere, syncFile, writeDurably } from '../storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../storage/engine.js';
import { identifier, literal, sql } from '../storage/sql.js';
import { listTableFiles, namesIn, schemaFile, scratchFolder, warehouseFolder } from '../warehouse/layout.js';
import {
  columnsOf,
  createTables,
  DATA_TABLES,
  isThinned,
  MARKER_TABLES,
  type Table,
  viewStatements,
} from '../warehouse/tables.js';
import type { FollowerState } from './follower.js';

/** The oldest format that DuckDB 1.5 still writes for every reader since 1.0. */
const STORAGE_VERSION = 'v1.0.0';
const COMMITS = 'select snapshot_id from snapshots union all select replay_id from replays';

const TEXT = join('schema', 'analytics.sql');

/** Whether `analytics.duckdb` shows the files of this folder: views hold absolute paths, and a folder may be moved. */
export async function isAnalyticsCurrent(warehouse: string): Promise<boolean> {
  return shows(warehouse, (await analyticsText(warehouse)).text);
}

async function shows(warehouse: string, text: string): Promise<boolean> {
  const known = await readIfThere(join(warehouse, TEXT));
  return known === text && (await exists(warehouseFolder(warehouse).analytics));
}

async function analyticsText(warehouse: string): Promise<{ statements: string[]; text: string }> {
  const statements = await analyticsStatements({ warehouse, root: warehouse });
  return { statements, text: `${statements.join(';\n')};\n` };
}

/**
 * Writes `analytics.duckdb`: views over the Parquet files with absolute paths, for BI tools that want one file to open
 * and may hold it open all day. It is replaced by rename, and only when its text changes.
 */
export async function writeAnalytics(warehouse: string, memoryLimit: number): Promise<FollowerState> {
  const upToDate = { name: 'analytics', behind: 0 };
  const engine = { memoryLimit, temporary: scratchFolder(warehouse) };
  const { statements, text } = await analyticsText(warehouse);
  if (await shows(warehouse, text)) return upToDate;
  await publishAnalytics(warehouseFolder(warehouse).analytics, statements, engine);
  crashPoint('published analytics.duckdb');
  await writeDurably(join(warehouse, TEXT), text);
  return upToDate;
}

/** Puts a DuckDB file of nothing but views in its place. */
export async function publishAnalytics(file: string, statements: string[], engine: EngineOptions): Promise<void> {
  const temporary = `${file}.indexhouse.tmp`;
  // The log of an attempt that died would be played into the new file.
  for (const left of [temporary, `${temporary}.wal`]) await rm(left, { force: true });
  try {
    await withEngine({ ...engine, file: temporary, storageVersion: STORAGE_VERSION }, async (opened) => {
      await standInForFiles(opened);
      for (const statement of statements) await opened.run(statement);
      await opened.run('checkpoint');
    });
    crashPoint('made analytics.duckdb');
    await syncFile(temporary);
    // So would what somebody who died wrote into the old one.
    await rm(`${file}.wal`, { force: true });
    await publish(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** The warehouse whose files the views read. */
export interface AnalyticsPlace {
  warehouse: string;
  /** Where their readers see it: an absolute path, which need not exist on this machine. */
  root: string;
}

/**
 * Makes `read_parquet` stand for empty tables with the columns of ours, for as long as this engine is open. Views that
 * are made meanwhile keep the call as it is written, so whoever opens them later reads the files.
 */
async function standInForFiles(engine: Engine): Promise<void> {
  const [home] = await engine.rows(z.object({ name: z.string() }), 'select current_database() as name');
  await engine.run("attach ':memory:' as columns_of");
  await engine.run('use columns_of');
  await createTables(engine);
  await engine.run('alter table page_state add column filename varchar');
  await engine.run(`use ${identifier(home?.name ?? '')}`);
  await engine.run(sql('analytics/read_parquet'));
}

/**
 * The statements that make every view over the Parquet files, in order. Who runs them has to stand in for the files.
 * What has no marker does not exist, so every view joins the markers; nor does what has a tombstone.
 */
export async function analyticsStatements(place: AnalyticsPlace): Promise<string[]> {
  const views: string[] = [];
  for (const table of [...MARKER_TABLES, 'runs', 'tombstones'] as const) {
    views.push(`create or replace view ${table} as select ${shownColumns(table)} from ${await source(place, table)}`);
  }
  for (const table of DATA_TABLES) {
    const dropped = `select commit_id from tombstones where table_name = ${literal(table)}`;
    views.push(`create or replace view ${table} as
select ${shownColumns(table)} from ${await source(place, table)}
where commit_id in (${COMMITS})${isThinned(table) ? `\n  and commit_id not in (${dropped})` : ''}`);
  }
  return [...views, await stateView(place), ...viewStatements()];
}

/**
 * By name, so that a file of a newer version does not change what a view promises. JSON is told as such: DuckDB 1.0
 * takes it for text.
 */
function shownColumns(table: Table): string {
  const columns = columnsOf(table).map(({ name, type }) => {
    const column = identifier(name);
    return type === 'JSON' ? `${column}::json as ${column}` : column;
  });
  return columns.join(', ');
}

async function stateView({ warehouse, root }: AnalyticsPlace): Promise<string> {
  const any = (await namesIn(join(warehouse, 'state'))).length > 0;
  const files = [schemaFile(root, 'page_state'), ...(any ? [join(root, 'state', '*', '*.parquet')] : [])];
  return `create or replace view page_state as
select ${shownColumns('page_state')} from ${readParquet(files, ', filename = true')}
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

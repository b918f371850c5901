import { createHash } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Engine, withEngine } from '../../src/base/storage/engine.js';
import { literal } from '../../src/base/storage/sql.js';
import { listTableFiles } from '../../src/warehouse/log/folder/layout.js';
import { copyRows } from '../../src/warehouse/log/folder/sums.js';
import { DATA_TABLES, type Table } from '../../src/warehouse/log/folder/tables.js';

const MEMORY_BYTES = 256e6;

/** The newest file of a table. */
export async function newestFile(warehouse: string, table: Table): Promise<string> {
  const file = (await listTableFiles(warehouse, table)).at(-1);
  if (file === undefined) throw new Error(`${table} has no file`);
  return file;
}

/** Rewrites a Parquet file from a query over itself, which is named `self`, as if it had been written so. */
export async function rewrite(file: string, query: string, format = 'format parquet'): Promise<void> {
  await withEngine({ memoryLimit: MEMORY_BYTES, temporary: dirname(file) }, async (engine) => {
    await engine.view('self', `select * from read_parquet(${literal(file)}, hive_partitioning = false)`);
    await copyRows(engine, query, { file: `${file}.tmp`, format });
  });
  renameSync(`${file}.tmp`, file);
}

/** Runs statements on `indexhouse.duckdb`, as somebody with a shell might. */
export async function inDuckdb(warehouse: string, ...statements: string[]): Promise<void> {
  await onDuckdb(warehouse, async (engine) => {
    for (const statement of statements) await engine.run(statement);
  });
}

export function onDuckdb<T>(warehouse: string, use: (engine: Engine) => Promise<T>): Promise<T> {
  const file = join(warehouse, 'indexhouse.duckdb');
  return withEngine({ file, memoryLimit: MEMORY_BYTES, temporary: join(warehouse, 'tmp', 'tamper') }, use);
}

/** Hashes of all files that are the truth, by their paths. */
export async function truth(warehouse: string): Promise<Record<string, string>> {
  const files = await Promise.all(
    [...DATA_TABLES, 'snapshots', 'runs'].map((table) => listTableFiles(warehouse, table as Table)),
  );
  return Object.fromEntries(files.flat().map((file) => [file, hashOf(file)]));
}

export function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Engine, withEngine } from '../src/base/storage/engine.js';
import { literal } from '../src/base/storage/sql.js';
import { followDuckdb } from '../src/warehouse/copies/duckdb.js';
import { listTableFiles, stateFile, warehouseFolder } from '../src/warehouse/log/folder/layout.js';
import { print, whole } from './figures.js';
import { generateHistory } from './generate-history.js';
import { engineOptions, MEMORY_LIMIT, snapshotId, WEBSITE_ID } from './generated-nights.js';

/**
 * What a warehouse takes on disk: bytes a row of each table in Parquet and in `indexhouse.duckdb`, and the columns that
 * most of them are for.
 *
 * Run with: npm run bench:storage. `BENCH_PAGES` and `BENCH_NIGHTS` say of how much.
 */
const PAGES = Number(process.env['BENCH_PAGES'] ?? 100_000);
const NIGHTS = Number(process.env['BENCH_NIGHTS'] ?? 10);
const REPORT_EVERY = 20;
const TABLES = ['coverage', 'url_reports', 'page_versions', 'coverage_summary'] as const;
const COLUMNS_TOLD = 8;

const columnRow = z.object({ name: z.string(), bytes: z.coerce.number() });
const fileRow = z.object({ rows: z.coerce.number() });

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const warehouse = join(folder, 'warehouse');
  try {
    print(`${whole(PAGES)} pages on ${NIGHTS} nights`);
    await generateHistory({ warehouse, pages: PAGES, nights: NIGHTS, reportEvery: REPORT_EVERY });
    await followDuckdb({ warehouse, memoryLimit: MEMORY_LIMIT, lockTimeout: 0 });
    await withEngine(engineOptions(join(folder, 'tmp')), (engine) => tellParquet(engine, warehouse));
    const file = warehouseFolder(warehouse).database;
    const options = { ...engineOptions(join(folder, 'tmp')), file, readOnly: true };
    await withEngine(options, (engine) => tellDatabase(engine, file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  print('again: npm run bench:storage');
}

async function tellParquet(engine: Engine, warehouse: string): Promise<void> {
  let all = 0;
  for (const table of TABLES) all += await tellFiles(engine, table, await listTableFiles(warehouse, table));
  await tellFiles(engine, 'page_state', [stateFile(warehouse, WEBSITE_ID, snapshotId(NIGHTS - 1))]);
  print(`Parquet without the state: ${(all / PAGES / NIGHTS).toFixed(1)} bytes a page and night`);
}

async function tellFiles(engine: Engine, table: string, files: string[]): Promise<number> {
  const list = `[${files.map(literal).join(', ')}]`;
  const rows = await engine.rows(fileRow, `select sum(num_rows) as rows from parquet_file_metadata(${list})`);
  const columns = await engine.rows(
    columnRow,
    `select path_in_schema as name, sum(total_compressed_size) as bytes
     from parquet_metadata(${list}) group by 1 order by bytes desc limit ${COLUMNS_TOLD}`,
  );
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const count = rows[0]?.rows ?? Number.NaN;
  const largest = columns.map((column) => `${column.name} ${(column.bytes / count).toFixed(2)}`).join(', ');
  print(`Parquet ${table}: ${(bytes / count).toFixed(1)} bytes a row of ${whole(count)} (${largest})`);
  return bytes;
}

/** By blocks of the file: those that several segments share count in parts. */
async function tellDatabase(engine: Engine, file: string): Promise<void> {
  for (const table of [...TABLES, 'page_state']) {
    const rows = await engine.rows(fileRow, `select count(*) as rows from ${table}`);
    const compressed = z.object({ compression: z.string(), values: z.coerce.number() });
    const segments = await engine.rows(
      compressed,
      `select compression, sum("count") as values from pragma_storage_info('${table}')
       where segment_type = 'VARCHAR' group by 1 order by 2 desc limit 3`,
    );
    const how = segments.map(({ compression, values }) => `${compression} ${whole(values)} values`).join(', ');
    print(`DuckDB ${table}: ${whole(rows[0]?.rows ?? 0)} rows (texts: ${how})`);
  }
  const { size } = statSync(file);
  print(`indexhouse.duckdb: ${whole(size / 1e6)} MB, ${(size / PAGES / NIGHTS).toFixed(1)} bytes a page and night`);
}

await main();

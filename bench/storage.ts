import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { withEngine } from '../src/base/storage/engine.js';
import { literal } from '../src/base/storage/sql.js';
import { followDuckdb } from '../src/warehouse/copies/duckdb.js';
import { listTableFiles, stateFile, warehouseFolder } from '../src/warehouse/log/folder/layout.js';
import { print, shown, sizeOf, tell } from './figures.js';
import { engineOptions, generateHistory, MEMORY_LIMIT, snapshotId, WEBSITE_ID } from './generate-history.js';
import { inFolder } from './processes.js';

/** What a warehouse takes on disk. `BENCH_PAGES` and `BENCH_NIGHTS` set of how much. */
const PAGES = sizeOf('BENCH_PAGES', 100_000);
const NIGHTS = sizeOf('BENCH_NIGHTS', 10);
const REPORT_EVERY = 20;
const TABLES = ['coverage', 'url_reports', 'page_versions', 'coverage_summary'] as const;
const COLUMNS_TOLD = 5;

const columnRow = z.object({ name: z.string(), bytes: z.coerce.number(), rows: z.coerce.number() });

await inFolder(async (folder) => {
  const warehouse = join(folder, 'warehouse');
  print(`${PAGES} pages on ${NIGHTS} nights`);
  await generateHistory({ warehouse, pages: PAGES, nights: NIGHTS, reportEvery: REPORT_EVERY });
  await followDuckdb({ warehouse, memoryLimit: MEMORY_LIMIT, lockTimeout: 0 });
  let parquet = 0;
  for (const table of TABLES) parquet += await tellFiles(folder, table, await listTableFiles(warehouse, table));
  await tellFiles(folder, 'page_state', [stateFile(warehouse, WEBSITE_ID, snapshotId(NIGHTS - 1))]);
  const files = readdirSync(warehouse, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  tell('files', { 'a night': files.length / NIGHTS });
  const { size } = statSync(warehouseFolder(warehouse).database);
  const each = PAGES * NIGHTS;
  tell('bytes a page and night', {
    'in Parquet, without the state': parquet / each,
    'in indexhouse.duckdb': size / each,
  });
});

/** @returns the bytes of these files */
async function tellFiles(folder: string, table: string, files: string[]): Promise<number> {
  const query = `select path_in_schema as name, sum(total_compressed_size) as bytes, sum(row_group_num_rows) as rows
    from parquet_metadata([${files.map(literal).join(', ')}]) group by name order by bytes desc`;
  // Each column has a row group of the same rows.
  const columns = await withEngine(engineOptions(join(folder, 'tmp')), (engine) => engine.rows(columnRow, query));
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const rows = columns[0]?.rows ?? Number.NaN;
  const largest = columns.slice(0, COLUMNS_TOLD).map((column) => [column.name, column.bytes / rows]);
  tell(`${table}: ${shown(bytes / rows)} bytes a row of ${shown(rows)}; of that`, Object.fromEntries(largest));
  return bytes;
}

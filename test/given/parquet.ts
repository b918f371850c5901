import { readFileSync } from 'node:fs';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { listTableFiles } from '../../src/warehouse/log/folder/layout.js';
import type { Table } from '../../src/warehouse/log/folder/tables.js';

export type Row = Record<string, unknown>;

/** Every row of a table's Parquet files, read by a reader that did not write them. */
export async function readTable(warehouse: string, table: Table): Promise<Row[]> {
  const files = await listTableFiles(warehouse, table);
  const rows = await Promise.all(files.map((file) => readParquet(file)));
  return rows.flat();
}

export async function readParquet(path: string): Promise<Row[]> {
  const bytes = readFileSync(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const rows: Row[] = await parquetReadObjects({ file, compressors });
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, parsed(name, value)])));
}

/** Columns of JSON, which the files hold as text. */
const JSON_COLUMNS = new Set(['extra', 'issues', 'files', 'reports_by_reason']);

function parsed(column: string, value: unknown): unknown {
  return JSON_COLUMNS.has(column) && typeof value === 'string' ? JSON.parse(value) : value;
}

import { readFileSync } from 'node:fs';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { z } from 'zod';
import { listTableFiles } from '../../src/warehouse/log/folder/layout.js';
import type { Table } from '../../src/warehouse/log/folder/tables.js';

export type Row = Record<string, unknown>;

/** Every row of a table's Parquet files, read by a reader that did not write them. */
export async function readTable(warehouse: string, table: Table | 'page_changes'): Promise<Row[]> {
  if (table === 'page_changes') return (await readTable(warehouse, 'page_versions')).flatMap(changesOf);
  const files = await listTableFiles(warehouse, table);
  const rows = await Promise.all(files.map((file) => readParquet(file)));
  return rows.flat();
}

/** The rows of the view `page_changes` that a row of `page_versions` holds. */
export function changesOf({
  snapshot_id,
  website_id,
  snapshot_at,
  snapshot_date,
  url,
  changes,
  change_details,
}: Row): Row[] {
  const kinds = z.array(z.string()).parse(changes);
  const details = z.array(z.record(z.string(), z.unknown())).parse(change_details);
  return details.map((one, at) => ({
    change: kinds[at],
    snapshot_id,
    website_id,
    snapshot_at,
    snapshot_date,
    url,
    to_snapshot_id: snapshot_id,
    ...one,
  }));
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

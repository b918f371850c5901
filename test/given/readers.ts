import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Engine, withEngine } from '../../src/base/storage/engine.js';
import { literal } from '../../src/base/storage/sql.js';
import { createTables, TABLES, type Table } from '../../src/warehouse/log/folder/tables.js';
import { temporaryFolder } from './folder.js';
import { type Row, readParquet } from './parquet.js';

/** A column as the schema has it: its name and its type, such as `INTEGER`. */
export interface Column {
  name: string;
  type: string;
}

/** Reads every row of these files. */
type ParquetReading = (files: string[]) => Promise<Row[]>;

/** The columns of every table, in the order of the documentation. */
export async function documentedColumns(): Promise<Map<Table, Column[]>> {
  const row = z.object({ column_name: z.string(), column_type: z.string() });
  return inEngine(async (engine) => {
    await createTables(engine);
    const columns = new Map<Table, Column[]>();
    for (const table of TABLES) {
      const described = await engine.rows(row, `describe ${table}`);
      columns.set(
        table,
        described.map(({ column_name: name, column_type: type }) => ({ name, type })),
      );
    }
    return columns;
  });
}

export const byDuckdb: ParquetReading = async (files) => {
  if (files.length === 0) return [];
  const list = files.map(literal).join(', ');
  return inEngine(async (engine) => {
    const read = await engine.raw.runAndReadAll(`from read_parquet([${list}], hive_partitioning = false)`);
    return z.array(z.record(z.string(), z.unknown())).parse(read.getRowObjectsJS());
  });
};

export const byHyparquet: ParquetReading = async (files) =>
  (await Promise.all(files.map((file) => readParquet(file)))).flat();

/**
 * One text a row, sorted: what a value is, whatever a reader makes of its type. Lists that are null and empty count as
 * the same, because two readers cannot distinguish them; every other null is null.
 */
export function canonical(rows: readonly Row[], columns: readonly Column[]): string[] {
  return rows.map((row) => JSON.stringify(columns.map(({ name, type }) => valueText(row[name], type)))).sort();
}

/** How many rows, and a hash of what they hold. */
export function fingerprint(rows: readonly string[]): string {
  return `${rows.length} rows, ${createHash('sha256').update(rows.join('\n')).digest('hex').slice(0, 16)}`;
}

const standardList = z.object({ list: z.array(z.object({ element: z.unknown() })).default([]) });

function valueText(value: unknown, type: string): string | null {
  if (type.startsWith('STRUCT')) return JSON.stringify(listOf(value).map(changeText));
  if (type.endsWith('[]')) return JSON.stringify(listOf(value));
  if (value === null || value === undefined) return null;
  if (type === 'DATE') return instant(value).slice(0, 'YYYY-MM-DD'.length);
  if (type.startsWith('TIMESTAMP')) return instant(value);
  // Some readers parse the JSON type, which files of older versions carry.
  if (type === 'JSON') return JSON.stringify(typeof value === 'string' ? JSON.parse(value) : value);
  return String(value);
}

const CHANGE = ['change', 'from_value', 'to_value', 'from_snapshot_id', 'observed_at'];
const changeValues = z.union([
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()).transform((change) => CHANGE.map((name) => change[name] ?? null)),
]);

/** A change in a version of a page: an array to some readers, an object to others, of which one leaves out what is null. */
function changeText(value: unknown): unknown[] {
  const values = changeValues.parse(value);
  const at = values.at(-1);
  return [...values.slice(0, -1), instant(typeof at === 'string' ? `${at.replace(' ', 'T').replace('Z', '')}Z` : at)];
}

/** A list; one reader shows a standard list as the groups that it is made of. */
function listOf(value: unknown): unknown[] {
  const groups = standardList.safeParse(value);
  if (groups.success) return groups.data.list.map(({ element }) => element);
  return Array.isArray(value) ? value : [];
}

function instant(value: unknown): string {
  return (value instanceof Date ? value : new Date(typeof value === 'number' ? value : String(value))).toISOString();
}

function inEngine<T>(use: (engine: Engine) => Promise<T>): Promise<T> {
  return withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, use);
}

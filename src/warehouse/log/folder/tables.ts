import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { Engine, Parameters } from '../../../base/storage/engine.js';
import { identifier, literal, packageFolder, sql, sqlNames, sqlScript } from '../../../base/storage/sql.js';
import { coverageEntrySchema } from '../../../source/contract/coverage.js';
import { sqlType } from '../../../source/contract/fields.js';
import { urlReportSchema } from '../../../source/contract/report.js';

/** Tables whose rows belong to a commit. A table without rows in a commit has no file. */
export const DATA_TABLES = [
  'coverage',
  'coverage_summary',
  'url_reports',
  'report_failures',
  'rejected_records',
  'drift_observations',
  'page_versions',
  'search_final',
  'search_fresh',
  'search_fetches',
  'listing_sources',
  'rich_results',
  'referring_urls',
] as const;
export type DataTable = (typeof DATA_TABLES)[number];

/** The tables of search analytics. */
export const SEARCH_TABLES = ['search_final', 'search_fresh', 'search_fetches'] as const satisfies DataTable[];
export type SearchTable = (typeof SEARCH_TABLES)[number];

/** The tables whose old rows retention may drop. All others are kept for good. */
export const THINNED_TABLES = [
  'coverage',
  'url_reports',
  'search_fresh',
  'rich_results',
  'referring_urls',
] as const satisfies DataTable[];
export type ThinnedTable = (typeof THINNED_TABLES)[number];

export function isThinned(table: Table): table is ThinnedTable {
  return THINNED_TABLES.some((thinned) => thinned === table);
}

/** All tables. Each file of `snapshots` is a marker, which makes one commit visible. */
export const TABLES = ['snapshots', 'runs', 'note_log', 'tombstones', ...DATA_TABLES, 'page_state'] as const;
export type Table = (typeof TABLES)[number];

/** Tables with one row in each file: the columns after which a file and the folder of its date are named. */
export const ROW_FILES = {
  runs: { id: 'run_id', date: 'snapshot_date' },
  snapshots: { id: 'snapshot_id', date: 'snapshot_date' },
  note_log: { id: 'note_id', date: 'note_date' },
} as const;
type RowFileTable = keyof typeof ROW_FILES;

/** Those of them whose rows belong to no commit. */
export const LOOSE_TABLES = ['runs', 'note_log'] as const satisfies RowFileTable[];

/** Whether each file of a table holds one row: nearly every query of such a table reads all of them. */
export function hasRowPerFile(table: Table): table is RowFileTable {
  return Object.hasOwn(ROW_FILES, table);
}

/** Whether a table is part of the log itself: its files have a sum of their own rows. */
export function isLogTable(table: Table): boolean {
  return hasRowPerFile(table) || table === 'tombstones';
}

/** A column of a table: its name and its DuckDB type, such as `INTEGER`. */
export interface Column {
  name: string;
  type: string;
}

const columnsSchema = z.record(
  z.enum(TABLES),
  z.record(z.string(), z.string()).transform((types) => Object.entries(types).map(([name, type]) => ({ name, type }))),
);

let text: string | undefined;
let known: z.infer<typeof columnsSchema> | undefined;

/** `sql/warehouse/columns.json`: the columns that the statements of `sql/warehouse/tables` create. A test compares the two. */
export function columnsText(): string {
  text ??= readFileSync(join(packageFolder(), 'sql', 'warehouse', 'columns.json'), 'utf8');
  return text;
}

/** The columns that a table has in this version, in order. */
export function columnsOf(table: Table): readonly Column[] {
  known ??= columnsSchema.parse(JSON.parse(columnsText()));
  return known[table];
}

/**
 * The columns of a table, each with its type, whatever it is selected from.
 *
 * @param exprOf the value of a column; left out: the column of that name
 * @param json `VARCHAR` for files: many readers cannot open columns of Parquet's JSON type
 */
export function typedColumns(table: Table, exprOf = identifier, json = 'JSON'): string {
  const columns = columnsOf(table).map(({ name, type }) => {
    return `${exprOf(name)}::${type === 'JSON' ? json : type} as ${identifier(name)}`;
  });
  return columns.join(', ');
}

/**
 * A query that returns rows for a table, with values bound by column name: one row, or one per element if values are
 * lists.
 */
export function rowsQuery(table: Table, values: Parameters): string {
  const exprOf = (name: string) => (Array.isArray(values[name]) ? `unnest($${name})` : `$${name}`);
  return `select ${typedColumns(table, exprOf, 'VARCHAR')}`;
}

/** Statements that add a column for each field of the contract that `sql/warehouse/tables` does not name. */
function contractColumns(): string[] {
  return Object.entries({ coverage: coverageEntrySchema, url_reports: urlReportSchema }).flatMap(([table, { shape }]) =>
    Object.entries(shape).map(
      ([name, field]) => `alter table ${table} add column if not exists ${name} ${sqlType(field)}`,
    ),
  );
}

/** A script that creates all tables, empty. */
export function tablesScript(): string {
  return [sqlScript(sqlNames('warehouse/tables')), ...contractColumns()].join(';\n');
}

export async function createTables(engine: Engine): Promise<void> {
  await engine.run(tablesScript());
}

/** The folders of `sql/warehouse` with the ready-made views and the macros that they use: over Parquet files and over tables. */
export const VIEW_FOLDERS = ['macros', 'search', 'views', 'periods'];

/** What folders of `sql/warehouse` create, by name, in an order in which it can be created; read when it is needed. */
export function definitionsIn(folders: readonly string[], timeZone: string): Map<string, () => string> {
  const names = folders.flatMap((folder) => sqlNames(`warehouse/${folder}`));
  const own = names.map((name) => [basename(name).replace(/^\d+_/, ''), () => sql(name)] as const);
  const ofZone = () => `create or replace macro warehouse_time_zone() as ${literal(timeZone)}`;
  return new Map([['warehouse_time_zone', ofZone], ...own]);
}

/** A script of some of these folders. `day_of` returns dates of this time zone. */
export function viewScript(timeZone: string, folders = VIEW_FOLDERS): string {
  return [...definitionsIn(folders, timeZone).values()].map((text) => text()).join(';\n');
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { coverageEntrySchema } from '../contract/coverage.js';
import { sqlType } from '../contract/fields.js';
import { urlReportSchema } from '../contract/report.js';
import type { Engine, Parameters } from '../storage/engine.js';
import { identifier, packageFolder, sql, sqlNames } from '../storage/sql.js';

/** Tables whose rows belong to a commit. A table without rows in a commit has no file. */
export const DATA_TABLES = [
  'coverage',
  'coverage_summary',
  'url_reports',
  'report_failures',
  'rejected_records',
  'drift_observations',
  'page_changes',
] as const;
export type DataTable = (typeof DATA_TABLES)[number];

/** Tables whose files are markers: each makes one commit visible. */
export const MARKER_TABLES = ['snapshots', 'replays'] as const;
export type MarkerTable = (typeof MARKER_TABLES)[number];

/** The tables whose old rows retention may drop. Every other one is kept for good. */
export const THINNED_TABLES = ['coverage', 'url_reports'] as const satisfies DataTable[];
export type ThinnedTable = (typeof THINNED_TABLES)[number];

export function isThinned(table: Table): table is ThinnedTable {
  return THINNED_TABLES.some((thinned) => thinned === table);
}

export const TABLES = [...MARKER_TABLES, 'runs', 'tombstones', ...DATA_TABLES, 'page_state'] as const;
export type Table = (typeof TABLES)[number];

/** Whether each file of a table holds one row: nearly every question that names such a table reads all of them. */
export function hasRowPerFile(table: Table): table is 'runs' | MarkerTable {
  return table === 'runs' || MARKER_TABLES.some((marker) => marker === table);
}

/** A column of a table: its name and DuckDB's name of its type, such as `INTEGER`. */
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

/** `sql/columns.json`: the columns that the statements of `sql/tables` make. A test holds one against the other. */
export function columnsText(): string {
  text ??= readFileSync(join(packageFolder(), 'sql', 'columns.json'), 'utf8');
  return text;
}

/** The columns that this version gives a table, in their order. */
export function columnsOf(table: Table): readonly Column[] {
  known ??= columnsSchema.parse(JSON.parse(columnsText()));
  return known[table];
}

/**
 * A query for rows of a table, whose values are bound by the names of the columns: one row, or one for each element of
 * those that are lists. JSON is text: many readers cannot open a file whose columns carry Parquet's JSON type.
 */
export function rowsQuery(table: Table, values: Parameters): string {
  const columns = columnsOf(table).map(({ name, type }) => {
    const value = Array.isArray(values[name]) ? `unnest($${name})` : `$${name}`;
    return `${value}::${type === 'JSON' ? 'VARCHAR' : type} as ${identifier(name)}`;
  });
  return `select ${columns.join(', ')}`;
}

/** The statements of `sql/tables` that make all tables, in order. */
export function tableStatements(): string[] {
  return sqlNames('tables');
}

/** Adds the columns of fields that the contract has and the statements of `sql/tables` do not name. */
export function contractColumns(): string[] {
  return Object.entries({ coverage: coverageEntrySchema, url_reports: urlReportSchema }).flatMap(([table, { shape }]) =>
    Object.entries(shape).map(
      ([name, field]) => `alter table ${table} add column if not exists ${name} ${sqlType(field)}`,
    ),
  );
}

/** Makes all tables, empty. */
export async function createTables(engine: Engine): Promise<void> {
  const statements = tableStatements().map((name) => sql(name));
  for (const statement of [...statements, ...contractColumns()]) await engine.run(statement);
}

/** The macros that views, analyses and staging share, in order. */
export function macroStatements(): string[] {
  return sqlNames('macros').map((name) => sql(name));
}

/**
 * The ready-made views with the macros that they use, the same text over Parquet files and over the tables of
 * `indexhouse.duckdb`.
 *
 * @param unsummarized the statement that makes the macro `unsummarized_coverage`
 */
export function viewStatements(unsummarized = sql('summary/unsummarized_coverage')): string[] {
  return [...macroStatements(), unsummarized, ...sqlNames('views').map((name) => sql(name))];
}

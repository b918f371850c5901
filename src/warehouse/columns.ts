import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Engine } from '../storage/engine.js';
import { packageFolder, sql } from '../storage/sql.js';
import { TABLES, type Table, tableStatements } from './tables.js';

/** A column of a table: its name and DuckDB's name of its type, such as `INTEGER`. */
export interface Column {
  name: string;
  type: string;
}

const columnsSchema = z.record(z.enum(TABLES), z.record(z.string(), z.string()));

let text: string | undefined;
let known: ReadonlyMap<Table, readonly Column[]> | undefined;

/** `sql/columns.json`: the columns that the statements of `sql/tables` make. A test holds one against the other. */
export function columnsText(): string {
  text ??= readFileSync(join(packageFolder(), 'sql', 'columns.json'), 'utf8');
  return text;
}

/** The columns that this version gives each table, in their order. */
export function columnsOfTables(): ReadonlyMap<Table, readonly Column[]> {
  if (known) return known;
  const columns = columnsSchema.parse(JSON.parse(columnsText()));
  const listed = (table: Table) => Object.entries(columns[table]).map(([name, type]) => ({ name, type }));
  known = new Map(TABLES.map((table) => [table, listed(table)]));
  return known;
}

/** Makes all tables, empty. */
export async function createTables(engine: Engine): Promise<void> {
  for (const statement of tableStatements()) await engine.run(sql(statement));
}

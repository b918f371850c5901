import { z } from 'zod';
import { type Engine, type EngineOptions, withEngine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { TABLES, type Table, tableStatements } from './tables.js';

/** A column of a table: its name and DuckDB's name of its type, such as `INTEGER`. */
export interface Column {
  name: string;
  type: string;
}
/** The columns of each table, in their order. */
export type TableColumns = ReadonlyMap<Table, readonly Column[]>;

const columnRow = z.object({ table_name: z.enum(TABLES), column_name: z.string(), data_type: z.string() });

/** They change with the version only, and each command asks for them several times. */
let known: TableColumns | null = null;

/** Makes all tables, empty. */
export async function createTables(engine: Engine): Promise<void> {
  for (const statement of tableStatements()) await engine.run(sql(statement));
}

/** The columns that this version gives every table, asked of an engine that has no tables, and leaves it without. */
export async function columnsOfTables(engine: Engine): Promise<TableColumns> {
  known ??= await readColumns(engine);
  return known;
}

/** The same where no engine is open. */
export async function knownColumns(options: EngineOptions): Promise<TableColumns> {
  return known ?? withEngine(options, columnsOfTables);
}

async function readColumns(engine: Engine): Promise<TableColumns> {
  await engine.run('begin');
  try {
    await createTables(engine);
    const rows = await engine.rows(
      columnRow,
      `select table_name, column_name, data_type from duckdb_columns()
       where database_name = current_database() and not internal
       order by table_name, column_index`,
    );
    const columnsOf = (table: Table) => rows.filter(({ table_name }) => table_name === table);
    return new Map(
      TABLES.map((table) => [
        table,
        columnsOf(table).map(({ column_name: name, data_type: type }) => ({ name, type })),
      ]),
    );
  } finally {
    await engine.run('rollback');
  }
}

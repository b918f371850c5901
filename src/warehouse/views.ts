import { sql, sqlNames } from '../storage/sql.js';

/** The ready-made views, the same text over Parquet files and over the tables of `indexhouse.duckdb`. */
export function viewStatements(): string[] {
  return sqlNames('views').map((name) => sql(name));
}

import { sql, sqlNames } from '../storage/sql.js';

/** The macros that views, analyses and staging share, in order. */
export function macroStatements(): string[] {
  return sqlNames('macros').map((name) => sql(name));
}

/**
 * The ready-made views with the macros that they use, the same text over Parquet files and over the tables of
 * `indexhouse.duckdb`.
 */
export function viewStatements(): string[] {
  return [...macroStatements(), ...sqlNames('views').map((name) => sql(name))];
}

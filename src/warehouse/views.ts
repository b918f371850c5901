import { sql, sqlNames } from '../storage/sql.js';

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

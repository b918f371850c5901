import { sqlNames } from '../storage/sql.js';

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

/** The statements of `sql/tables` that make all tables, in order. */
export function tableStatements(): string[] {
  return sqlNames('tables');
}

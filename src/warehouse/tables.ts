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

export const TABLES = [...MARKER_TABLES, 'runs', ...DATA_TABLES, 'page_state'] as const;
export type Table = (typeof TABLES)[number];

/** The statements of `sql/tables` that make all tables, in order. */
export function tableStatements(): string[] {
  return sqlNames('tables');
}

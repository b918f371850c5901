import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { Engine } from '../../../base/storage/engine.js';
import { PARQUET_FORMAT } from '../../../base/storage/parquet-file.js';
import { identifier, sql, sqlScript } from '../../../base/storage/sql.js';
import { tableQuery } from '../folder/prepare.js';
import { type Column, columnsOf, type DataTable } from '../folder/tables.js';

/** What a commit is: its ids, and what the comparison with earlier commits needs to know. */
export interface CommitFacts {
  snapshotId: string;
  websiteId: string;
  snapshotAt: Date;
  /** The calendar date of `snapshotAt` in the warehouse's time zone. */
  date: string;
  listingComplete: boolean;
  /**
   * Whether an earlier commit of this website has a complete listing. Without one, no page counts as having appeared.
   */
  hadComplete: boolean;
  /** Whether the state of a page is what its last inspection says: tonight's, or an earlier one. */
  byInspection: boolean;
}

/** Passes the facts of a commit to the statements of `sql/warehouse/stage` and `sql/sync/plan`. */
export async function setCommitFacts(engine: Engine, facts: CommitFacts): Promise<void> {
  await engine.set({
    snapshot_id: facts.snapshotId,
    website_id: facts.websiteId,
    snapshot_date: facts.date,
    listing_complete: facts.listingComplete,
    had_complete: facts.hadComplete,
    by_inspection: facts.byInspection,
    snapshot_at: facts.snapshotAt,
    range_from: null,
    range_to: null,
  });
}

/** The query of the view `previous_state`, the state before this commit. */
export function previousState(file: string | null): { previous_state: string } {
  return { previous_state: tableQuery('page_state', file === null ? [] : [file]) };
}

/** Bytes of DuckDB's memory limit that a join needs per row. */
const BYTES_PER_ROW = 2_500;
const LEAST_ROWS_PER_RANGE = 50_000;

/** The tables of a commit that are compared, range by range. */
export const COMPARED = [
  'coverage',
  'url_reports',
  'report_failures',
  'rejected_records',
] as const satisfies DataTable[];
const COMPARISON = [
  ...['warehouse/stage/compared', 'warehouse/stage/report_attempts', 'warehouse/stage/absences'],
  ...['warehouse/macros/031_page_status', 'warehouse/stage/next_state', 'warehouse/stage/page_change'],
  // For the summary and the counts.
  ...['warehouse/macros/001_directory_of', 'warehouse/macros/029_california_date'],
];
/** In a journal, these have one value for all rows. */
const OF_THE_COMMIT = ['snapshot_id', 'website_id', 'snapshot_at', 'snapshot_date'];

/**
 * Creates the views that compare a commit with the previous state. They read `now_coverage`,
 * `now_url_reports`, `now_report_failures`, `now_rejected_records` and `previous_state`. These may come from a journal
 * or from the warehouse, and may be replaced later, so the same statements also rebuild a state.
 */
export async function viewComparison(engine: Engine): Promise<void> {
  const ranged = engine.viewsScript({
    ...Object.fromEntries(
      COMPARED.map((table) => [`ranged_${table}`, `select ${comparable(table)} from now_${table} where in_range(url)`]),
    ),
    ranged_state: 'select * from previous_state where in_range(url)',
  });
  await engine.run([sql('warehouse/stage/in_range'), ranged, sqlScript(COMPARISON)].join(';\n'));
}

/**
 * The columns that a journal and a file have in common: a view remains valid as long as its relation has the same
 * columns.
 */
function comparable(table: DataTable): string {
  const columns = ownColumnsOf(table).filter(({ type }) => type !== 'JSON');
  return columns.map(({ name }) => identifier(name)).join(', ');
}

/** The columns of a table but for those that have one value for all rows of a commit. */
export function ownColumnsOf(table: DataTable): Column[] {
  return columnsOf(table).filter(({ name }) => !OF_THE_COMMIT.includes(name));
}

/**
 * Writes a query over the comparison to a file sorted by URL, one range of URLs at a time, so that the memory that
 * joins need does not grow with the number of pages.
 *
 * @param sortedBy columns, `url` first
 * @param bounds where to cut the ranges, from `rangeBounds`
 * @returns the number of rows
 */
export async function copyComparison(
  engine: Engine,
  query: string,
  { file, format, sortedBy, bounds }: { file: string; format: string; sortedBy: string; bounds: string[] },
): Promise<number> {
  const sorted = `select * from (${query}\n) order by ${sortedBy}`;
  if (bounds.length < 2) return engine.copy(sorted, file, format);
  const parts = bounds.map((_, at) => `${file}.part${at}`);
  for (const [at, part] of parts.entries()) {
    await engine.set({ range_from: at === 0 ? null : (bounds[at] ?? null), range_to: bounds[at + 1] ?? null });
    await engine.copy(sorted, part, PARQUET_FORMAT);
  }
  await engine.set({ range_from: null, range_to: null });
  const rows = await engine.copyInOrder(parts, file, format);
  await Promise.all(parts.map((part) => rm(part)));
  return rows;
}

/** Where to cut the compared pages into ranges that fit into memory; empty if all pages fit at once. */
export async function rangeBounds(engine: Engine): Promise<string[]> {
  const [row] = await engine.rows(z.object({ rows: z.coerce.number() }), sql('warehouse/stage/joined_rows'));
  const rowsPerRange = Math.max(LEAST_ROWS_PER_RANGE, Math.floor(engine.memoryLimit / BYTES_PER_ROW));
  const ranges = Math.ceil((row?.rows ?? 0) / rowsPerRange);
  if (ranges < 2) return [];
  await engine.set({ ranges });
  const bounds = await engine.rows(z.object({ bound: z.string() }), sql('warehouse/stage/range_bounds'));
  return bounds.map(({ bound }) => bound);
}

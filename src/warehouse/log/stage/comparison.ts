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
/** The engines that have the views. */
const viewed = new WeakSet<Engine>();
const COMPARISON = [
  ...['warehouse/stage/compared', 'warehouse/stage/report_attempts'],
  ...['warehouse/macros/031_page_status', 'warehouse/stage/page_change'],
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
  if (viewed.has(engine)) return;
  const ranged = engine.viewsScript({
    ...Object.fromEntries(
      COMPARED.map((table) => [`ranged_${table}`, `select ${comparable(table)} from now_${table} where in_range(url)`]),
    ),
    ranged_state: 'select * from previous_state where in_range(url)',
  });
  await engine.run([sql('warehouse/stage/in_range'), ranged, sqlScript(COMPARISON)].join(';\n'));
  viewed.add(engine);
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

/** Adds the commit to each row of a query. Materializing the rows would take as long as reading them again. */
export function ofTheCommit(query: string): string {
  return `with own_rows as not materialized (${query}\n) ${sql('warehouse/stage/of_the_commit')}`;
}

/**
 * Writes the state after the commit, and the pages that the commit says something new of: sorted by URL, and made one
 * range of URLs at a time, so that the memory that joins need does not grow with the number of pages.
 *
 * @param files where to; no `versions`: those are not asked for
 * @returns the number of rows of each; a file of versions without rows is removed
 */
export async function copyComparison(engine: Engine, files: { state: string; versions?: string }) {
  const columns = columnsOf('page_state').map(({ name }) => identifier(name));
  const outputs = [{ file: files.state, query: `select ${columns.join(', ')} from next_state` }];
  if (files.versions) outputs.push({ file: files.versions, query: ofTheCommit(sql('warehouse/stage/page_versions')) });
  const rows = [0, 0];
  const ranges = await rangesOf(engine);
  const partOf = (file: string, range: number) => (ranges.length === 1 ? file : `${file}.part${range}`);
  for (const [range, bounds] of ranges.entries()) {
    await engine.set(bounds);
    await engine.run(sql('warehouse/stage/next_state'));
    for (const [at, { file, query }] of outputs.entries()) {
      const sorted = `select * from (${query}\n) order by url`;
      rows[at] = (rows[at] ?? 0) + (await engine.copy(sorted, partOf(file, range), PARQUET_FORMAT));
    }
  }
  await engine.run('drop table next_state');
  if (ranges.length > 1) {
    await engine.set({ range_from: null, range_to: null });
    for (const { file } of outputs) {
      const parts = ranges.map((_, range) => partOf(file, range));
      await engine.copyInOrder(parts, file, PARQUET_FORMAT);
      await Promise.all(parts.map((part) => rm(part)));
    }
  }
  const [state = 0, versions = 0] = rows;
  if (files.versions && versions === 0) await rm(files.versions);
  return { state, versions };
}

/** The ranges of URLs whose comparison fits into memory, in order. */
async function rangesOf(engine: Engine): Promise<{ range_from: string | null; range_to: string | null }[]> {
  const [row] = await engine.rows(z.object({ rows: z.coerce.number() }), sql('warehouse/stage/joined_rows'));
  const rowsPerRange = Math.max(LEAST_ROWS_PER_RANGE, Math.floor(engine.memoryLimit / BYTES_PER_ROW));
  const ranges = Math.ceil((row?.rows ?? 0) / rowsPerRange);
  if (ranges < 2) return [{ range_from: null, range_to: null }];
  await engine.set({ ranges });
  const bounds = await engine.rows(z.object({ bound: z.string() }), sql('warehouse/stage/range_bounds'));
  return bounds.map(({ bound }, at) => ({
    range_from: at === 0 ? null : bound,
    range_to: bounds[at + 1]?.bound ?? null,
  }));
}

import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { Engine } from '../storage/engine.js';
import { identifier, sql } from '../storage/sql.js';
import { tableQuery } from './prepare.js';
import { columnsOf, type DataTable } from './tables.js';

/** What a commit is: its ids, and what the comparison with earlier commits needs to know. */
export interface CommitFacts {
  commitId: string;
  snapshotId: string;
  websiteId: string;
  snapshotAt: Date;
  /** The calendar date of `snapshotAt` in the warehouse's time zone. */
  date: string;
  listingComplete: boolean;
  /** Whether an earlier commit of this website has a complete listing: without one, no page can have appeared. */
  hadComplete: boolean;
  /** Quarantined records of an earlier snapshot: they may be older than what is known of their pages. */
  isReplay: boolean;
}

/** Hands the facts of a commit to the statements of `sql/stage` and `sql/plan`. */
export async function setCommitFacts(engine: Engine, facts: CommitFacts): Promise<void> {
  await engine.set({
    commit_id: facts.commitId,
    snapshot_id: facts.snapshotId,
    website_id: facts.websiteId,
    snapshot_date: facts.date,
    listing_complete: facts.listingComplete,
    had_complete: facts.hadComplete,
    is_replay: facts.isReplay,
  });
  await engine.setTimes({ snapshot_at: facts.snapshotAt });
}

/** Makes the view `previous_state` of the state that this commit follows. */
export async function viewPreviousState(engine: Engine, warehouse: string, file: string | null): Promise<void> {
  await engine.view('previous_state', tableQuery(warehouse, 'page_state', file === null ? [] : [file]));
}

/** Rows that fit into a join within this many bytes of DuckDB's memory limit. */
const BYTES_PER_ROW = 2_500;
const LEAST_ROWS_PER_RANGE = 50_000;
const PART_FORMAT = 'format parquet, compression zstd, row_group_size 20480';

/** What of a commit is compared, range by range. Of a replay only what is newer. */
const COMPARED = ['coverage', 'url_reports', 'report_failures', 'rejected_records'] as const satisfies DataTable[];
/** A journal has these once for all rows. */
const OF_THE_COMMIT = ['commit_id', 'snapshot_id', 'website_id', 'snapshot_at', 'snapshot_date'];

/** Engines that have the views of the comparison, and whether they are those for a replay. */
const viewed = new WeakMap<Engine, boolean>();

/**
 * Makes the views that compare this commit with the state before it, once for each engine. They stand over
 * `now_coverage`, `now_url_reports`, `now_report_failures`, `now_rejected_records` and `previous_state`, and do not care
 * whether those come from a journal or from the warehouse, nor whether they are replaced later: a state that is rebuilt
 * is made by the same statements.
 */
export async function viewComparison(engine: Engine, { isReplay }: CommitFacts): Promise<void> {
  await engine.set({ range_from: null, range_to: null });
  if (viewed.get(engine) === isReplay) return;
  const newer: Record<string, string> = {
    coverage: `(${sql('stage/newer_coverage')})`,
    url_reports: `(${sql('stage/newer_url_reports')})`,
  };
  await engine.run(sql('stage/in_range'));
  for (const table of COMPARED) {
    const from = (isReplay && newer[table]) || `now_${table}`;
    await engine.view(`ranged_${table}`, `select ${comparable(table)} from ${from} where in_range(url)`);
  }
  await engine.view('ranged_state', 'select * from previous_state where in_range(url)');
  await engine.run(sql('stage/compared'));
  await engine.run(sql('stage/report_attempts'));
  await engine.run(sql('stage/absences'));
  viewed.set(engine, isReplay);
}

/** The columns that a journal and a file have alike: a view stays good while those of its relation do. */
function comparable(table: DataTable): string {
  const columns = columnsOf(table).filter(({ name, type }) => type !== 'JSON' && !OF_THE_COMMIT.includes(name));
  return columns.map(({ name }) => identifier(name)).join(', ');
}

/**
 * Runs a query over the comparison into a file that is sorted by URL, a range of URLs at a time: what a join needs then
 * depends on the memory limit and not on the number of pages.
 *
 * @param sortedBy columns, `url` first
 * @param bounds where to cut the ranges, from `rangeBounds`
 * @returns rows
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
    await engine.copy(sorted, part, PART_FORMAT);
  }
  await engine.set({ range_from: null, range_to: null });
  const rows = await engine.copyInOrder(parts, file, format);
  await Promise.all(parts.map((part) => rm(part)));
  return rows;
}

/** Where to cut the pages that are compared into ranges, each of which fits into memory; empty where all fit. */
export async function rangeBounds(engine: Engine): Promise<string[]> {
  const [row] = await engine.rows(z.object({ rows: z.coerce.number() }), sql('stage/joined_rows'));
  const rowsPerRange = Math.max(LEAST_ROWS_PER_RANGE, Math.floor(engine.memoryLimit / BYTES_PER_ROW));
  const ranges = Math.ceil((row?.rows ?? 0) / rowsPerRange);
  if (ranges < 2) return [];
  await engine.set({ ranges });
  const bounds = await engine.rows(z.object({ bound: z.string() }), sql('stage/range_bounds'));
  return bounds.map(({ bound }) => bound);
}

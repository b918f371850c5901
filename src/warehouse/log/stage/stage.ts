import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { crashPoint } from '../../../base/storage/crash-point.js';
import { makeFolder, sha256Of, sizeOf, syncFile } from '../../../base/storage/durable.js';
import type { Engine, EngineOptions, Scalar } from '../../../base/storage/engine.js';
import { sql } from '../../../base/storage/sql.js';
import type { JournalFolder } from '../../journal/folder.js';
import { readSealed, writeSealed } from '../../journal/seal.js';
import { tableQuery } from '../folder/prepare.js';
import { copyRows } from '../folder/sums.js';
import { type DataTable, rowsQuery } from '../folder/tables.js';
import { type CommittedFiles, filesSchema } from '../markers.js';
import { copyState } from '../state.js';
import {
  type CommitFacts,
  copyComparison,
  rangeBounds,
  setCommitFacts,
  viewComparison,
  viewPreviousState,
} from './comparison.js';
import { JournalEngine, keepOddRecords } from './journal-views.js';

const ROW_GROUP_SIZE = 20_480;

/** How the files of a commit are sorted, so that equal values are next to each other. */
const SORTED_BY: Record<(typeof FROM_THE_JOURNAL)[number] | 'coverage_summary', string> = {
  coverage: 'url',
  coverage_summary: 'directory, index_summary, index_coverage_state, canonicals_match',
  url_reports: 'url',
  report_failures: 'url',
  rejected_records: 'source, position, url',
  drift_observations: 'source, kind, field, value',
  page_traffic: 'url',
};
/** Made from the journal alone; summary, changes and state compare these with the state before. */
const FROM_THE_JOURNAL = [
  'coverage',
  'url_reports',
  'report_failures',
  'rejected_records',
  'drift_observations',
  'page_traffic',
] as const satisfies DataTable[];

const manifestSchema = z.object({
  website_id: z.string(),
  date: z.string(),
  snapshot_id: z.string(),
  files: filesSchema,
  /** The columns of the marker's row and of the row of `runs`. */
  snapshot: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  run: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  /** SHA-256 of the other staged files: the marker and the run's row. */
  others: z.record(z.string(), z.string()).default({}),
  /** Where a damaged journal is kept, if the commit was recovered from part of it. */
  set_aside: z.string().optional(),
});
/** What a commit consists of. It is written last: every other file of the commit is staged by then. */
export type Manifest = z.infer<typeof manifestSchema>;

export interface StageInput {
  warehouse: string;
  folder: JournalFolder;
  facts: CommitFacts;
  /** The walk whose entries are kept. */
  walk: number;
  previousState: string | null;
  compression: 'zstd' | 'snappy' | 'gzip';
  engine: EngineOptions;
  /** The rows of the marker and of `runs`, without the counts, which are taken from the staged files. */
  snapshot: Record<string, Scalar>;
  run: Record<string, Scalar>;
  /** Where a damaged journal is kept, if the commit is recovered from part of it. */
  setAside?: string | undefined;
}

export function stagedFile(folder: JournalFolder, table: string): string {
  return join(folder.staged, `${table}.staged`);
}

/**
 * Writes every file of a commit, from the journal and the previous state: sorted, typed Parquet for each table that has
 * rows, the changes, the new state, the marker and the run's row. None of it is visible yet.
 */
export async function stageCommit(
  input: StageInput,
  journal = new JournalEngine(input.folder, input.engine),
): Promise<Manifest> {
  try {
    return await journal.use(input.walk, (engine) => stageViews(engine, input));
  } finally {
    journal.close();
  }
}

/**
 * Like `stageCommit`, for an engine that already has the views of a journal, under the names of those in `sql/warehouse/stage`.
 */
export async function stageViews(engine: Engine, input: StageInput): Promise<Manifest> {
  const { folder, warehouse } = input;
  await rm(folder.staged, { recursive: true, force: true });
  await makeFolder(folder.staged);
  await setCommitFacts(engine, input.facts);
  await keepOddRecords(engine);
  const rows = new Map<DataTable | 'page_state', number>();
  await viewPreviousState(engine, warehouse, input.previousState);
  for (const table of FROM_THE_JOURNAL) {
    const query = journalQuery(table, input.facts);
    const file = stagedFile(folder, table);
    if (query !== null) rows.set(table, await copyTable(engine, { table, query, file }, input.compression));
    crashPoint(`staged ${table}`);
    const staged = rows.get(table) ? [file] : [];
    await engine.view(`now_${table}`, tableQuery(warehouse, table, staged));
  }
  // DuckDB knows the sizes of the staged files.
  await engine.run('reset disabled_optimizers');
  await viewComparison(engine);
  const summary = stagedFile(folder, 'coverage_summary');
  rows.set('coverage_summary', await copySummary(engine, summary, input.compression));
  const bounds = await rangeBounds(engine);
  // A first night changes nothing.
  const { previousState, compression } = input;
  const changed = stagedFile(folder, 'page_changes');
  rows.set('page_changes', previousState === null ? 0 : await copyChanges(engine, changed, { bounds, compression }));
  rows.set('page_state', await copyState(engine, stagedFile(folder, 'page_state'), bounds));
  crashPoint('staged page_state');
  return writeManifest(engine, input, rows);
}

/**
 * Writes the changes of a commit, by comparing it with the state before it; without changes there is no file.
 *
 * @param bounds from `rangeBounds`
 * @returns the number of rows
 */
export async function copyChanges(
  engine: Engine,
  file: string,
  { bounds, compression }: { bounds: string[]; compression: string },
): Promise<number> {
  const format = parquetFormat(compression);
  const query = ofTheCommit(sql('warehouse/stage/page_changes'));
  const rows = await copyComparison(engine, query, { file, format, sortedBy: 'url, change', bounds });
  if (rows === 0) await rm(file, { force: true });
  return rows;
}

/** Writes the summary of a commit's listing, which knows the state before it; without pages there is no file. */
export async function copySummary(engine: Engine, file: string, compression: string): Promise<number> {
  await engine.run(sql('warehouse/macros/001_directory_of'));
  const query = sql('warehouse/stage/coverage_summary');
  return copyTable(engine, { table: 'coverage_summary', query, file }, compression);
}

/** The statement that makes the rows of a table from a journal; null if the source has none. */
export function journalQuery(table: (typeof FROM_THE_JOURNAL)[number], { byInspection }: CommitFacts): string | null {
  if (table === 'page_traffic' && !byInspection) return null;
  return sql(`warehouse/stage/${table === 'coverage' && byInspection ? 'inspected_coverage' : table}`);
}

async function copyTable(
  engine: Engine,
  { table, query, file }: { table: keyof typeof SORTED_BY; query: string; file: string },
  compression: string,
): Promise<number> {
  const sorted = `select * from (${query}\n) order by ${SORTED_BY[table]}`;
  const rows = await engine.copy(ofTheCommit(sorted), file, parquetFormat(compression));
  if (rows === 0) await rm(file, { force: true });
  return rows;
}

/** Adds the commit to each row of a query. Materializing the rows would take as long as reading them again. */
function ofTheCommit(query: string): string {
  return `with own_rows as not materialized (${query}\n) ${sql('warehouse/stage/of_the_commit')}`;
}

/**
 * Snappy and gzip are for readers without zstd support. The same readers return the values of a dictionary as text, so
 * those files have none and are 10 to 20% larger.
 */
export function parquetFormat(compression: string): string {
  const format = `format parquet, compression ${compression}, row_group_size ${ROW_GROUP_SIZE}`;
  return compression === 'zstd' ? format : `${format}, dictionary_size_limit 0`;
}

async function writeManifest(
  engine: Engine,
  input: StageInput,
  rows: Map<DataTable | 'page_state', number>,
): Promise<Manifest> {
  const files: Manifest['files'] = {};
  for (const [table, count] of rows) {
    if (count > 0 || table === 'page_state') files[table] = await factsOf(stagedFile(input.folder, table), count);
  }
  const { websiteId, date, snapshotId } = input.facts;
  const snapshot = { ...input.snapshot, ...(await countStaged(engine)), files: JSON.stringify(files) };
  await stageRow(engine, 'snapshots', snapshot, input);
  await stageRow(engine, 'runs', input.run, input);
  // The manifest says that every file is complete, so the files reach the disk first.
  const others: Record<string, string> = {};
  for (const table of ['snapshots', 'runs']) {
    others[table] = await sha256Of(stagedFile(input.folder, table));
  }
  for (const table of [...Object.keys(files), ...Object.keys(others)]) {
    await syncFile(stagedFile(input.folder, table));
  }
  const manifest: Manifest = {
    website_id: websiteId,
    date,
    snapshot_id: snapshotId,
    files,
    snapshot,
    run: input.run,
    others,
    ...(input.setAside === undefined ? {} : { set_aside: input.setAside }),
  };
  crashPoint('staged all');
  await writeSealed(input.folder, input.folder.manifest, manifest);
  crashPoint('wrote the manifest');
  return manifest;
}

/** What a marker says about a file of its commit. */
export async function factsOf(file: string, rows: number): Promise<CommittedFiles[string]> {
  return { rows, bytes: await sizeOf(file), sha256: await sha256Of(file) };
}

/** The counts by the columns of the marker that hold them; counts by reason are JSON. */
async function countStaged(engine: Engine): Promise<Record<string, number | string>> {
  const counted = z.record(z.string(), z.union([z.int(), z.string()]));
  const [counts] = await engine.rows(counted, sql('warehouse/stage/counts'));
  return counts ?? {};
}

/** Writes the one-row file of a marker. */
export async function stageRow(
  engine: Engine,
  table: 'snapshots' | 'runs',
  row: Record<string, Scalar>,
  { folder, compression }: Pick<StageInput, 'folder' | 'compression'>,
): Promise<void> {
  const file = stagedFile(folder, table);
  await copyRows(engine, rowsQuery(table, row), { file, format: parquetFormat(compression) }, row);
}

/**
 * The manifest of a staged commit, or null if staging did not complete. A manifest that a broken disk has damaged
 * counts as missing: nothing is visible without the marker, and the same files can be staged from the journal again.
 */
export async function readManifest(folder: JournalFolder): Promise<Manifest | null> {
  return (await readSealed(folder, folder.manifest, manifestSchema)) ?? null;
}

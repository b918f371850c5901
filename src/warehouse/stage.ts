import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { JournalFolder } from '../journal/folder.js';
import { isSealed } from '../journal/header.js';
import { parseLine } from '../journal/lines.js';
import { openSeal, seal, seedOf } from '../journal/seal.js';
import { crashPoint } from '../storage/crash-point.js';
import { makeFolder, readIfThere, sha256Of, syncFile, writeDurably } from '../storage/durable.js';
import type { Engine, EngineOptions, Scalar } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import {
  type CommitFacts,
  copyComparison,
  rangeBounds,
  setCommitFacts,
  viewComparison,
  viewPreviousState,
} from './comparison.js';
import { JournalEngine, keepOddRecords } from './journal-views.js';
import { tableQuery } from './prepare.js';
import { STATE_FORMAT } from './state.js';
import { type DataTable, MARKER_TABLES, type MarkerTable, rowsQuery } from './tables.js';

const ROW_GROUP_SIZE = 20_480;

/** What stands in the files of a commit, sorted so that equal values lie together. */
const SORTED_BY: Record<(typeof FROM_THE_JOURNAL)[number] | 'coverage_summary', string> = {
  coverage: 'url',
  coverage_summary: 'directory, index_summary, index_coverage_state, canonicals_match',
  url_reports: 'url',
  report_failures: 'url',
  rejected_records: 'source, position, url',
  drift_observations: 'source, kind, field, value',
};
const COMPARED_SORTED_BY = { page_changes: 'url, change', page_state: 'url' };
/** Taken from the journal alone; the summary, the changes and the state then stand over these. */
const FROM_THE_JOURNAL = [
  'coverage',
  'url_reports',
  'report_failures',
  'rejected_records',
  'drift_observations',
] as const satisfies DataTable[];
/** Those that `stage/coverage_summary` stands over. */
const SUMMARY_MACROS = ['macros/001_directory_of', 'macros/002_summary_of'];

const manifestSchema = z.object({
  website_id: z.string(),
  date: z.string(),
  commit_id: z.string(),
  files: z.record(z.string(), z.object({ rows: z.int(), sha256: z.string() })),
  /** The table of the marker. */
  marker: z.enum(MARKER_TABLES).default('snapshots'),
  /** The columns of the marker's row, and of that of `runs`, which a replay has none in. */
  snapshot: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  run: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  /** SHA-256 of the other staged files: the state, the marker and the run's row. */
  others: z.record(z.string(), z.string()).default({}),
  /** A damaged journal that the commit comes from in part: where it is kept. */
  set_aside: z.string().optional(),
  /** How many commits of the website it follows. */
  follows: z.int().optional(),
});
/** What a commit consists of; once it is written, every file of the commit lies beside it. */
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
  /** The rows of the marker and of `runs`, but for the counts, which are of what was staged. A replay is no run. */
  snapshot: Record<string, Scalar>;
  run: Record<string, Scalar>;
  /** Where a damaged journal is kept that the commit comes from in part. */
  setAside?: string | undefined;
  /** How many commits of the website are known. */
  follows?: number;
}

export function stagedFile(folder: JournalFolder, table: string): string {
  return join(folder.staged, `${table}.staged`);
}

/**
 * Makes every file of a commit from the journal and the state before it: sorted, typed Parquet for each table that has
 * rows, the changes, the new state, the marker and the run's row. Nothing of it is visible yet.
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

/** The same from views of a journal that are made already, under the names of those in `sql/stage`. */
export async function stageViews(engine: Engine, input: StageInput): Promise<Manifest> {
  const { folder, warehouse } = input;
  await rm(folder.staged, { recursive: true, force: true });
  await makeFolder(folder.staged);
  await setCommitFacts(engine, input.facts);
  await keepOddRecords(engine);
  const rows = new Map<DataTable, number>();
  for (const table of FROM_THE_JOURNAL) {
    rows.set(table, await stageTable(engine, input, table));
    crashPoint(`staged ${table}`);
    const staged = rows.get(table) ? [stagedFile(folder, table)] : [];
    await engine.view(`now_${table}`, tableQuery(warehouse, table, staged));
  }
  for (const name of SUMMARY_MACROS) await engine.run(sql(name));
  rows.set('coverage_summary', await stageTable(engine, input, 'coverage_summary'));
  await viewPreviousState(engine, warehouse, input.previousState);
  // Of the staged files DuckDB knows the sizes.
  await engine.run('reset disabled_optimizers');
  await viewComparison(engine, input.facts);
  const bounds = await rangeBounds(engine);
  // A first night changes nothing.
  const changes = input.previousState === null ? 0 : await stageComparison(engine, input, 'page_changes', bounds);
  rows.set('page_changes', changes);
  await stageComparison(engine, input, 'page_state', bounds);
  crashPoint('staged page_state');
  return writeManifest(engine, input, rows);
}

/** What follows from this commit and the one before. */
async function stageComparison(
  engine: Engine,
  input: StageInput,
  table: keyof typeof COMPARED_SORTED_BY,
  bounds: string[],
): Promise<number> {
  const file = stagedFile(input.folder, table);
  const format = table === 'page_state' ? STATE_FORMAT : parquetFormat(input.compression);
  const query = table === 'page_state' ? sql('stage/page_state') : ofTheCommit(sql('stage/page_changes'));
  const rows = await copyComparison(engine, query, { file, format, sortedBy: COMPARED_SORTED_BY[table], bounds });
  if (rows === 0 && table !== 'page_state') await rm(file, { force: true });
  return rows;
}

async function stageTable(engine: Engine, input: StageInput, table: keyof typeof SORTED_BY): Promise<number> {
  const file = stagedFile(input.folder, table);
  const sorted = `select * from (${sql(`stage/${table}`)}\n) order by ${SORTED_BY[table]}`;
  // The summary's macro, which views use as well, names the commit itself.
  const query = table === 'coverage_summary' ? sorted : ofTheCommit(sorted);
  const rows = await engine.copy(query, file, parquetFormat(input.compression));
  if (rows === 0) await rm(file, { force: true });
  return rows;
}

/** Each row of a query with the commit that it belongs to. Materialized, they would take the time of one more reading. */
function ofTheCommit(query: string): string {
  return `with own_rows as not materialized (${query}\n) ${sql('stage/of_the_commit')}`;
}

/**
 * Snappy and gzip are chosen for readers that know no zstd. The same readers give the values of a dictionary back as
 * text, so there is none then: 10 to 20% more bytes.
 */
export function parquetFormat(compression: string): string {
  const format = `format parquet, compression ${compression}, row_group_size ${ROW_GROUP_SIZE}`;
  return compression === 'zstd' ? format : `${format}, dictionary_size_limit 0`;
}

async function writeManifest(engine: Engine, input: StageInput, rows: Map<DataTable, number>): Promise<Manifest> {
  const files: Manifest['files'] = {};
  for (const [table, count] of rows) {
    if (count > 0) files[table] = { rows: count, sha256: await sha256Of(stagedFile(input.folder, table)) };
  }
  const { websiteId, date, commitId, isReplay } = input.facts;
  const marker = isReplay ? 'replays' : 'snapshots';
  const snapshot = { ...input.snapshot, ...(await countStaged(engine, marker)), files: JSON.stringify(files) };
  await stageRow(engine, marker, snapshot, input);
  if (!isReplay) await stageRow(engine, 'runs', input.run, input);
  // The manifest says that every file is whole, so they reach the disk before it does.
  const others: Record<string, string> = {};
  for (const table of ['page_state', marker, ...(isReplay ? [] : ['runs'])]) {
    others[table] = await sha256Of(stagedFile(input.folder, table));
  }
  for (const table of [...Object.keys(files), ...Object.keys(others)]) {
    await syncFile(stagedFile(input.folder, table));
  }
  const manifest: Manifest = {
    website_id: websiteId,
    date,
    commit_id: commitId,
    files,
    marker,
    snapshot,
    run: input.run,
    others,
    ...(input.setAside === undefined ? {} : { set_aside: input.setAside }),
    ...(input.follows === undefined ? {} : { follows: input.follows }),
  };
  crashPoint('staged all');
  const text = seal(JSON.stringify(manifest), seedOf(input.folder)).text;
  await writeDurably(input.folder.manifest, `${text}\n`);
  crashPoint('wrote the manifest');
  return manifest;
}

const COUNTED_BY = { snapshots: 'stage/counts', replays: 'stage/replay_counts' } as const;

/** The counts by the names of the columns that they stand in; those by reason are JSON. */
async function countStaged(engine: Engine, marker: MarkerTable): Promise<Record<string, number | string>> {
  const counted = z.record(z.string(), z.union([z.int(), z.string()]));
  const [counts] = await engine.rows(counted, sql(COUNTED_BY[marker]));
  return counts ?? {};
}

/** Makes the one-row file of a marker. */
export async function stageRow(
  engine: Engine,
  table: MarkerTable | 'runs',
  row: Record<string, Scalar>,
  { folder, compression }: Pick<StageInput, 'folder' | 'compression'>,
): Promise<void> {
  const file = stagedFile(folder, table);
  await engine.run(`copy (${rowsQuery(table, row)}) to $file (${parquetFormat(compression)})`, { ...row, file });
}

/**
 * The manifest of a commit that is staged, or null where staging did not end. One that a broken disk has damaged counts
 * as none: nothing is visible without the marker, and the journal gives the same files again.
 */
export async function readManifest(folder: JournalFolder): Promise<Manifest | null> {
  const text = await readIfThere(folder.manifest);
  if (text === null) return null;
  const manifest = parseLine(text, manifestSchema);
  const { isWhole } = openSeal(text.trimEnd(), seedOf(folder), await isSealed(folder));
  return manifest && isWhole ? manifest : null;
}

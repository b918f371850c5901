import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { JournalFolder } from '../journal/folder.js';
import { crashPoint } from '../storage/crash-point.js';
import { makeFolder, syncFile, writeDurably } from '../storage/durable.js';
import { type Engine, type EngineOptions, type Scalar, withEngine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { type CommitFacts, setCommitFacts, viewComparison, viewPreviousState } from './comparison.js';
import { viewJournal, viewKeptWalk } from './journal-views.js';
import { tableQuery } from './prepare.js';
import { STATE_FORMAT } from './state.js';
import type { DataTable } from './tables.js';

const ROW_GROUP_SIZE = 20_480;

/** What stands in the files of a commit, sorted so that equal values lie together. */
const SORTED_BY: Record<DataTable, string> = {
  coverage: 'url',
  url_reports: 'url',
  report_failures: 'url',
  rejected_records: 'source, position, url',
  drift_observations: 'source, kind, field, value',
  page_changes: 'url, change',
};
/** Taken from the journal alone; the changes and the state then stand over these. */
const FROM_THE_JOURNAL = [
  'coverage',
  'url_reports',
  'report_failures',
  'rejected_records',
  'drift_observations',
] as const satisfies DataTable[];

export interface StagedFile {
  rows: number;
  sha256: string;
}

export const manifestSchema = z.object({
  website_id: z.string(),
  date: z.string(),
  commit_id: z.string(),
  files: z.record(z.string(), z.object({ rows: z.int(), sha256: z.string() })),
  /** The columns of the rows of `snapshots` and `runs`. */
  snapshot: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  run: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
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
  /** The rows of `snapshots` and `runs`, but for the counts, which are of what was staged. */
  snapshot: Record<string, Scalar>;
  run: Record<string, Scalar>;
}

export function stagedFile(folder: JournalFolder, table: string): string {
  return join(folder.staged, `${table}.staged`);
}

/**
 * Makes every file of a commit from the journal and the state before it: sorted, typed Parquet for each table that has
 * rows, the changes, the new state, the marker and the run's row. Nothing of it is visible yet.
 */
export async function stageCommit(input: StageInput): Promise<Manifest> {
  const { folder, warehouse } = input;
  await rm(folder.staged, { recursive: true, force: true });
  await makeFolder(folder.staged);
  return withEngine(input.engine, async (engine) => {
    await setCommitFacts(engine, input.facts);
    await viewJournal(engine, folder);
    await viewKeptWalk(engine, input.walk);
    const rows = new Map<DataTable, number>();
    for (const table of FROM_THE_JOURNAL) {
      rows.set(table, await stageTable(engine, input, table));
      crashPoint(`staged ${table}`);
      const staged = rows.get(table) ? [stagedFile(folder, table)] : [];
      await engine.view(`now_${table}`, tableQuery(warehouse, table, staged));
    }
    await viewPreviousState(engine, warehouse, input.previousState);
    await viewComparison(engine);
    rows.set('page_changes', await stageTable(engine, input, 'page_changes'));
    await engine.copy(`${sql('stage/page_state')}\norder by url`, stagedFile(folder, 'page_state'), STATE_FORMAT);
    crashPoint('staged page_state');
    return writeManifest(engine, input, rows);
  });
}

async function stageTable(engine: Engine, input: StageInput, table: DataTable): Promise<number> {
  const file = stagedFile(input.folder, table);
  const query = `${sql(`stage/${table}`)}`;
  const sorted = `select * from (${query}\n) order by ${SORTED_BY[table]}`;
  const rows = await engine.copy(sorted, file, parquetFormat(input.compression));
  if (rows === 0) await rm(file, { force: true });
  return rows;
}

/**
 * Snappy and gzip are chosen for readers that know no zstd. The same readers give the values of a dictionary back as
 * text, so there is none then: 10 to 20 % more bytes.
 */
function parquetFormat(compression: string): string {
  const format = `format parquet, compression ${compression}, row_group_size ${ROW_GROUP_SIZE}`;
  return compression === 'zstd' ? format : `${format}, dictionary_size_limit 0`;
}

async function writeManifest(engine: Engine, input: StageInput, rows: Map<DataTable, number>): Promise<Manifest> {
  const files: Record<string, StagedFile> = {};
  for (const [table, count] of rows) {
    if (count > 0) files[table] = { rows: count, sha256: await sha256Of(stagedFile(input.folder, table)) };
  }
  const snapshot = { ...input.snapshot, ...(await countStaged(engine)), files: JSON.stringify(files) };
  await stageRow(engine, 'snapshots', snapshot, input);
  await stageRow(engine, 'runs', input.run, input);
  // The manifest says that every file is whole, so they reach the disk before it does.
  for (const table of [...Object.keys(files), 'page_state', 'snapshots', 'runs']) {
    await syncFile(stagedFile(input.folder, table));
  }
  const { websiteId, date, commitId } = input.facts;
  const manifest = { website_id: websiteId, date, commit_id: commitId, files, snapshot, run: input.run };
  crashPoint('staged all');
  await writeDurably(input.folder.manifest, `${JSON.stringify(manifest)}\n`);
  crashPoint('wrote the manifest');
  return manifest;
}

const countsRow = z.object({
  pages_listed: z.int(),
  pages_rejected: z.int(),
  reports_planned: z.int(),
  reports_fetched: z.int(),
  reports_missing: z.int(),
  reports_failed: z.int(),
  reports_rejected: z.int(),
});

async function countStaged(engine: Engine): Promise<Record<string, number>> {
  const [counts] = await engine.rows(countsRow, sql('stage/counts'));
  return counts ?? {};
}

/** Makes the one-row file of a marker. */
export async function stageRow(
  engine: Engine,
  table: 'snapshots' | 'runs',
  row: Record<string, Scalar>,
  { folder, compression }: Pick<StageInput, 'folder' | 'compression'>,
): Promise<void> {
  const file = stagedFile(folder, table);
  await engine.run(`copy (${sql(`stage/${table}`)}) to $file (${parquetFormat(compression)})`, { ...row, file });
}

/** Hex, of the file's bytes. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

/** The manifest of a commit that is staged, or null where staging did not end. */
export async function readManifest(folder: JournalFolder): Promise<Manifest | null> {
  let text: string;
  try {
    text = await readFile(folder.manifest, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  return manifestSchema.parse(JSON.parse(text));
}

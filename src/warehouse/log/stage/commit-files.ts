import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256Of, sizeOf } from '../../../base/storage/durable.js';
import type { Engine, Scalar } from '../../../base/storage/engine.js';
import { PARQUET_FORMAT } from '../../../base/storage/parquet-file.js';
import { type JournalFolder, setAsidePath } from '../../journal/folder.js';
import { readSealed } from '../../journal/seal.js';
import { copyRows } from '../folder/sums.js';
import { rowsQuery } from '../folder/tables.js';
import { type CommittedFiles, filesSchema } from '../markers.js';
import { ofTheCommit } from './comparison.js';

/**
 * How the files of a commit are sorted, so that equal values are next to each other. The rows of search analytics stay as the
 * journal has them, day by day and each by `url`: a hundred days of a large property would not fit into memory.
 */
const SORTED_BY = {
  coverage: 'url',
  coverage_summary: 'directory, index_summary, index_coverage_state, canonicals_match, status',
  url_reports: 'url',
  report_failures: 'url',
  rejected_records: 'source, position, url',
  drift_observations: 'source, kind, field, value',
  search_final: null,
  search_fresh: null,
  search_fetches: 'date, type',
  listing_sources: 'source',
  rich_results: 'url, rich_result_type, severity, issue',
  referring_urls: 'url, referring_url',
} as const;
const manifestSchema = z.object({
  website_id: z.string(),
  date: z.iso.date(),
  snapshot_id: z.uuid(),
  files: filesSchema,
  /** The columns of the marker's row and of the row of `runs`. */
  snapshot: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  run: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  /** SHA-256 of the other staged files: the marker and the run's row. */
  others: z.record(z.string(), z.string()).default({}),
  /** Where a damaged journal is kept, if the commit was recovered from part of it. */
  set_aside: setAsidePath.optional(),
});
/** What a commit consists of. It is written last: every other file of the commit is staged by then. */
export type Manifest = z.infer<typeof manifestSchema>;

export function stagedFile(folder: JournalFolder, table: string): string {
  return join(folder.staged, `${table}.staged`);
}

/** Writes a table of a commit, sorted; without rows there is no file. @returns the number of rows */
export async function copyTable(
  engine: Engine,
  { table, query, file }: { table: keyof typeof SORTED_BY; query: string; file: string },
): Promise<number> {
  const order = SORTED_BY[table];
  const sorted = order === null ? query : `select * from (${query}\n) order by ${order}`;
  const rows = await engine.copy(ofTheCommit(sorted), file, PARQUET_FORMAT);
  if (rows === 0) await rm(file, { force: true });
  return rows;
}

/** What a marker says about a file of its commit. */
export async function factsOf(file: string, rows: number): Promise<CommittedFiles[string]> {
  return { rows, bytes: await sizeOf(file), sha256: await sha256Of(file) };
}

/** Writes the one-row file of a marker. */
export async function stageRow(
  engine: Engine,
  table: 'snapshots' | 'runs',
  row: Record<string, Scalar>,
  folder: JournalFolder,
): Promise<void> {
  const file = stagedFile(folder, table);
  await copyRows(engine, rowsQuery(table, row), { file, format: PARQUET_FORMAT }, row);
}

/**
 * The manifest of a staged commit, or null if staging did not complete. A manifest that a broken disk has damaged
 * counts as missing: nothing is visible without the marker, and the same files can be staged from the journal again.
 */
export async function readManifest(folder: JournalFolder): Promise<Manifest | null> {
  const manifest = await readSealed(folder, folder.manifest, manifestSchema);
  return manifest?.website_id === folder.websiteId ? manifest : null;
}

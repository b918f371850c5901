import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { crashPoint } from '../../base/storage/crash-point.js';
import { makeFolder, sha256Of, syncPath } from '../../base/storage/durable.js';
import { type Engine, MemoryError, type Scalar } from '../../base/storage/engine.js';
import { sql } from '../../base/storage/sql.js';
import type { JournalFolder } from '../../warehouse/journal/folder.js';
import { writeSealed } from '../../warehouse/journal/seal.js';
import { tableQuery } from '../../warehouse/log/folder/prepare.js';
import { type DataTable, SEARCH_TABLES } from '../../warehouse/log/folder/tables.js';
import { copyTable, factsOf, type Manifest, stagedFile, stageRow } from '../../warehouse/log/stage/commit-files.js';
import {
  type CommitFacts,
  copyComparison,
  previousState,
  setCommitFacts,
  viewComparison,
} from '../../warehouse/log/stage/comparison.js';
import { keepOddRecords } from './journal-views.js';

/** Tables that only a property has. */
const OF_A_PROPERTY = ['listing_sources', 'rich_results', 'referring_urls', ...SEARCH_TABLES] as const;
/** Made from the journal alone; summary, versions and state compare these with the state before. */
const FROM_THE_JOURNAL = [
  ...(['coverage', 'url_reports', 'report_failures', 'rejected_records', 'drift_observations'] as const),
  ...OF_A_PROPERTY,
];

export interface StageInput {
  folder: JournalFolder;
  facts: CommitFacts;
  previousState: string | null;
  /** The rows of the marker and of `runs`, without the counts, which are taken from the staged files. */
  snapshot: Record<string, Scalar>;
  run: Record<string, Scalar>;
  /** Where a damaged journal is kept, if the commit is recovered from part of it. */
  setAside?: string | undefined;
}

/**
 * Writes every file of a commit, from the journal and the previous state: sorted, typed Parquet for each table that has
 * rows, the new versions of pages, the new state, the marker and the run's row. None of it is visible yet.
 *
 * @param engine with the views of `sql/sync/stage` over a journal
 */
export async function stageCommit(engine: Engine, input: StageInput): Promise<Manifest> {
  const { folder } = input;
  await rm(folder.staged, { recursive: true, force: true });
  await makeFolder(folder.staged);
  await setCommitFacts(engine, input.facts);
  await keepOddRecords(engine);
  const rows = new Map<DataTable | 'page_state', number>();
  const now = FROM_THE_JOURNAL.map((table) => [`now_${table}`, tableQuery(table, [])]);
  await engine.views({ ...previousState(input.previousState), ...Object.fromEntries(now) });
  let given = input;
  for (const table of FROM_THE_JOURNAL) {
    const query = journalQuery(table, input.facts);
    const file = stagedFile(folder, table);
    try {
      if (query !== null) rows.set(table, await copyTable(engine, { table, query, file }));
      crashPoint(`staged ${table}`);
    } catch (error) {
      if (!(error instanceof MemoryError) || !SEARCH_TABLES.some((one) => one === table)) throw error;
      given = lacking(input, error);
      // These are the last, and belong together: a day without its rows would pass for one that showed nothing.
      for (const one of SEARCH_TABLES) rows.delete(one);
      break;
    }
    if (rows.get(table)) await engine.view(`now_${table}`, tableQuery(table, [file]));
  }
  // DuckDB knows the sizes of the staged files.
  await engine.run('reset disabled_optimizers');
  await viewComparison(engine);
  const [state, versions] = [stagedFile(folder, 'page_state'), stagedFile(folder, 'page_versions')];
  const compared = await copyComparison(engine, { state, versions });
  rows.set('page_versions', compared.versions);
  rows.set('page_state', compared.state);
  await engine.view('now_page_state', tableQuery('page_state', [state]));
  const query = sql('warehouse/stage/coverage_summary');
  const summary = { table: 'coverage_summary', query, file: stagedFile(folder, 'coverage_summary') } as const;
  rows.set('coverage_summary', await copyTable(engine, summary));
  crashPoint('staged page_state');
  return writeManifest(engine, given, rows);
}

/** A commit without what was read of search analytics tonight, and the reason. */
function lacking(input: StageInput, { message }: MemoryError): StageInput {
  const { snapshot, run } = input;
  const reasons = [run['error'], `search analytics is not stored: ${message}`].filter(Boolean);
  return {
    ...input,
    snapshot: { ...snapshot, reports_status: 'interrupted' },
    run: { ...run, error: reasons.join('; ') },
  };
}

/** The statement that makes the rows of a table from a journal; null if the source has none. */
export function journalQuery(table: (typeof FROM_THE_JOURNAL)[number], { byInspection }: CommitFacts): string | null {
  if (OF_A_PROPERTY.some((one) => one === table) && !byInspection) return null;
  return sql(`sync/stage/${table === 'coverage' && byInspection ? 'inspected_coverage' : table}`);
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
  const counts = await countStaged(engine, input);
  const snapshot = { ...input.snapshot, ...counts, files: JSON.stringify(files) };
  await stageRow(engine, 'snapshots', snapshot, input.folder);
  await stageRow(engine, 'runs', input.run, input.folder);
  // The manifest says that every file is complete, so the files reach the disk first.
  const others: Record<string, string> = {};
  for (const table of ['snapshots', 'runs']) {
    others[table] = await sha256Of(stagedFile(input.folder, table));
  }
  for (const table of [...Object.keys(files), ...Object.keys(others)]) {
    await syncPath(stagedFile(input.folder, table));
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

/** The counts by the columns of the marker that hold them; counts by reason are JSON. */
async function countStaged(engine: Engine, { folder, snapshot }: StageInput): Promise<Record<string, Scalar>> {
  const counted = z.record(z.string(), z.union([z.int(), z.string(), z.null()]));
  const [counts] = await engine.rows(counted, sql('sync/stage/counts'));
  if (!snapshot['evidence']) return { ...counts, samples: null };
  await engine.set({ plan_file: folder.plan });
  await engine.run(sql('warehouse/macros/046_inspection_samples'));
  const [samples] = await engine.rows(counted, sql('sync/stage/samples'));
  return { ...counts, ...samples };
}

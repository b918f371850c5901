import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeId, encodeId } from '../storage/names.js';

/**
 * Where one website's part of a run keeps what is not committed yet. Its state follows from what is in it:
 *
 * | state       | what is there                                                      |
 * |-------------|--------------------------------------------------------------------|
 * | `listing`   | the header; the listing's last line is not `listed`                 |
 * | `listed`    | `listed` is the listing's last line                                  |
 * | `planned`   | the plan, and the file that counts it                              |
 * | `fetched`   | `fetched` is the reports' last line                                  |
 * | `staged`    | the manifest: every file of the commit lies beside it              |
 * | `committed` | the marker is in the warehouse (read there alone)                  |
 */
export interface JournalFolder {
  runId: string;
  websiteId: string;
  path: string;
  /** What the run is. */
  header: string;
  listing: string;
  plan: string;
  /** What is left of the plan after an interruption. */
  remaining: string;
  /** How many reports are planned; written when the plan is whole. */
  planned: string;
  reports: string;
  staged: string;
  manifest: string;
  /** DuckDB's spill files. */
  temporary: string;
}

export function journalFolder(warehouse: string, runId: string, websiteId: string): JournalFolder {
  const path = join(runsFolder(warehouse), runId, encodeId(websiteId));
  return {
    runId,
    websiteId,
    path,
    header: join(path, 'run.json'),
    listing: join(path, 'listing.ndjson'),
    plan: join(path, 'plan.ndjson'),
    remaining: join(path, 'remaining.ndjson'),
    planned: join(path, 'planned.json'),
    reports: join(path, 'reports.ndjson'),
    staged: join(path, 'staged'),
    manifest: join(path, 'staged', 'manifest.json'),
    temporary: join(path, 'tmp'),
  };
}

export function runsFolder(warehouse: string): string {
  return join(warehouse, 'runs');
}

/** The journals of runs that are not finished, oldest run first (run ids sort by time). */
export async function unfinishedJournals(warehouse: string): Promise<JournalFolder[]> {
  const found: JournalFolder[] = [];
  for (const runId of await subfolders(runsFolder(warehouse))) {
    for (const website of await subfolders(join(runsFolder(warehouse), runId))) {
      found.push(journalFolder(warehouse, runId, decodeId(website)));
    }
  }
  return found;
}

async function subfolders(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

import { exists } from '../../base/storage/durable.js';
import { type JournalFolder, unfinishedJournals } from '../../warehouse/journal/folder.js';
import { JournalError, lastActivity, RESUME_WITHIN_MS, readHeader } from '../../warehouse/journal/header.js';
import { readListing } from '../../warehouse/journal/listing.js';
import { readPlanned, readReports, totalOf } from '../../warehouse/journal/plan.js';
import { type RunFileContent, stopReason } from '../../warehouse/journal/run-file.js';

const NEXT = 'the next `indexhouse sync` sets the journal aside and starts the run over';

/** The journal of a website's part of a run that is not committed, and how far it came. Times are ISO 8601 in UTC. */
export interface UnfinishedRun {
  run_id: string;
  website_id: string;
  website_name: string | null;
  started_at: string | null;
  last_activity_at: string;
  /** `listing`: the walk; `reports`: fetching; `commit`: everything is fetched, and the files are being written. */
  stage: 'listing' | 'reports' | 'commit';
  windows_read: number | null;
  /** Entries that were listed so far; `pages_expected` is how many the service counts. */
  pages_read: number | null;
  pages_expected: number | null;
  reports_done: number | null;
  reports_planned: number | null;
  in_progress: boolean;
  /** Whether the next sync resumes it; else it commits or drops what is there, and starts a new run. */
  resumable: boolean;
  /** Why it stopped; null while a process works on it. */
  stopped: string | null;
  error: string | null;
}

export interface UnfinishedInput {
  warehouse: string;
  /** Milliseconds since 1970. */
  now: number;
  isRunning: boolean;
  runFile: RunFileContent | null;
}

const NOTHING = {
  website_name: null,
  started_at: null,
  stage: 'listing',
  windows_read: null,
  pages_read: null,
  pages_expected: null,
  reports_done: null,
  reports_planned: null,
  error: null,
} as const;

/** Reads the journals of unfinished runs without touching them, oldest run first. */
export async function unfinishedRuns(input: UnfinishedInput): Promise<UnfinishedRun[]> {
  const runs: UnfinishedRun[] = [];
  for (const folder of await unfinishedJournals(input.warehouse)) {
    const run = await describe(folder, input);
    // The run may have been committed meanwhile.
    if (run && (await exists(folder.path))) runs.push(run);
  }
  return runs;
}

async function describe(folder: JournalFolder, input: UnfinishedInput): Promise<UnfinishedRun | null> {
  const active = await lastActivity(folder);
  const run = {
    ...NOTHING,
    run_id: folder.runId,
    website_id: folder.websiteId,
    last_activity_at: new Date(active).toISOString(),
    in_progress: input.isRunning,
    resumable: input.now - active <= RESUME_WITHIN_MS,
    stopped: input.isRunning ? null : stopReason(input.runFile, { ...folder, lastActivity: active }),
  };
  try {
    const header = await readHeader(folder);
    // The run died before its first request, so there is nothing to resume.
    if (header === null) return null;
    const { website_name, started_at } = header;
    return { ...run, website_name, started_at, ...(await reachedIn(folder, input.now)) };
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    return { ...run, resumable: false, error: `${error.message}: ${NEXT}` };
  }
}

async function reachedIn(folder: JournalFolder, now: number): Promise<Partial<UnfinishedRun>> {
  const planned = await readPlanned(folder);
  if (planned !== null) {
    const { counts, done } = await readReports(folder);
    return {
      stage: done ? 'commit' : 'reports',
      reports_done: totalOf(counts),
      reports_planned: planned.planned,
    };
  }
  const left = await readListing(folder, now);
  const state = left.kind === 'walking' ? left.from?.state : null;
  return {
    windows_read: left.windows,
    pages_read: state?.kept ?? null,
    pages_expected: left.kind === 'listed' ? left.listed.count : (state?.count ?? null),
  };
}

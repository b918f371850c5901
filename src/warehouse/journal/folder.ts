import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ifThere } from '../../base/storage/durable.js';
import { decodeId, encodeId } from '../../base/storage/names.js';

const DAMAGED = 'damaged';
const runIdSchema = z.uuid();

/** Where a damaged journal was set aside, relative to the warehouse. */
export const setAsidePath = z.string().regex(/^runs[\\/]damaged[\\/][\w-]+[\\/][\w%-][\w.%-]*$/);

/**
 * The folder in which one website's part of a run keeps what is not committed yet. Its files show the state:
 *
 * | state       | what is there                                                      |
 * |-------------|--------------------------------------------------------------------|
 * | `searching` | the header; of search analytics, the last line is not `searched`   |
 * | `listing`   | the listing's last line is not `listed`                            |
 * | `listed`    | `listed` is the listing's last line                                  |
 * | `planned`   | the plan, and the file that counts it                              |
 * | `fetched`   | `fetched` is the reports' last line                                  |
 * | `staged`    | the manifest: every file of the commit is beside it                |
 * | `committed` | the marker is in the warehouse (read only there)                   |
 *
 * One step of `syncWebsite` moves it to the next state, and only by adding or renaming a file whole: `fetchSearch`, `walk`, `plan`,
 * `fetchReports`, `stage` and `commit`. A process that dies leaves it in the state that it had; `recover` goes on from
 * there, or commits what is there, or records that the run failed. A journal that cannot be read is set aside.
 */
export type JournalFolder = ReturnType<typeof journalFolder>;

export function journalFolder(warehouse: string, runId: string, websiteId: string) {
  const path = join(runsFolder(warehouse), runId, encodeId(websiteId));
  return {
    runId,
    websiteId,
    path,
    header: join(path, 'run.json'),
    /** The days of search analytics. */
    search: join(path, 'search.ndjson'),
    listing: join(path, 'listing.ndjson'),
    /** What was said about pages by a source that lists them from several places, and each page once. */
    sightings: join(path, 'sightings.ndjson'),
    sighted: join(path, 'sighted.ndjson'),
    plan: join(path, 'plan.ndjson'),
    /** The rest of the plan after an interruption. */
    remaining: join(path, 'remaining.ndjson'),
    /** How many reports are planned; written once the plan is complete. */
    planned: join(path, 'planned.json'),
    reports: join(path, 'reports.ndjson'),
    staged: join(path, 'staged'),
    manifest: join(path, 'staged', 'manifest.json'),
    /** DuckDB's spill files. */
    temporary: join(path, 'tmp'),
  };
}

function runsFolder(warehouse: string): string {
  return join(warehouse, 'runs');
}

/** Where damaged journals are set aside: `<run id>/<website>` below it. */
export function damagedFolder(warehouse: string): string {
  return join(runsFolder(warehouse), DAMAGED);
}

/** The folders of journals that were set aside, oldest run first. */
export async function journalsSetAside(warehouse: string): Promise<string[]> {
  const root = damagedFolder(warehouse);
  const found = await Promise.all(
    (await subfolders(root)).map(async (run) =>
      (await subfolders(join(root, run))).map((name) => join(root, run, name)),
    ),
  );
  return found.flat();
}

/** The journals of runs that are not finished, oldest run first (run ids sort by time). */
export async function unfinishedJournals(warehouse: string): Promise<JournalFolder[]> {
  const root = runsFolder(warehouse);
  const found: JournalFolder[] = [];
  for (const runId of await subfolders(root)) {
    // Anything else there is not ours.
    for (const website of runIdSchema.safeParse(runId).success ? await subfolders(join(root, runId)) : []) {
      const id = decodeId(website);
      if (id !== null) found.push(journalFolder(warehouse, runId, id));
    }
  }
  return found;
}

/** The names of the folders in a folder, sorted. A link to a folder is none. */
export async function subfolders(path: string): Promise<string[]> {
  const entries = await ifThere(readdir(path, { withFileTypes: true }), []);
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

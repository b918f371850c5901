import { basename, join } from 'node:path';
import { z } from 'zod';
import { grouped } from '../../../base/observe/format.js';
import type { Engine } from '../../../base/storage/engine.js';
import { encodeId } from '../../../base/storage/names.js';
import { type JournalFolder, unfinishedJournals } from '../../journal/folder.js';
import { readHeader } from '../../journal/header.js';
import { findDamaged, without } from '../../log/folder/damage.js';
import { listTableFiles, namesIn } from '../../log/folder/layout.js';
import { DATA_TABLES } from '../../log/folder/tables.js';
import type { Log } from '../../log/log.js';
import { damaged, type Finding } from './finding.js';

/**
 * Files of data and state that no marker names, by the id of their commit. Readers ignore them; a crash before the marker
 * left them, someone put them there, or the marker is lost. Not included are the files that an unfinished run is about to
 * mark, and all files of a website whose journal cannot be read. Markers count by their file name, so the data of a damaged
 * marker are not orphans.
 */
export async function unmarked(warehouse: string): Promise<Map<string, string[]>> {
  // In this order, because a run in progress renames its data, then its marker, and drops its journal last.
  const files = await dataFiles(warehouse);
  const { ids, unknown } = await aboutToBeMarked(warehouse);
  for (const id of await markedIds(warehouse)) ids.add(id);
  const idOf = (file: string) => basename(file, '.parquet');
  const left = files.filter((file) => !ids.has(idOf(file)) && !unknown.some((part) => file.includes(part)));
  return grouped(left, idOf);
}

/** Commits that a row of `runs` names but that have no marker: someone deleted it, or a disk failed. */
export async function lostMarkers(
  warehouse: string,
  committed: readonly CommittedRun[],
): Promise<{ id: string; message: string }[]> {
  const marked = await markedIds(warehouse);
  return committed
    .filter(({ snapshot_id }) => !marked.has(snapshot_id))
    .map(({ run_id, website_id, snapshot_id }) => ({
      id: snapshot_id,
      message: `snapshots has no marker of ${snapshot_id} (${website_id}), which run ${run_id} committed`,
    }));
}

async function markedIds(warehouse: string): Promise<Set<string>> {
  return new Set((await listTableFiles(warehouse, 'snapshots')).map((file) => basename(file, '.parquet')));
}

async function dataFiles(warehouse: string): Promise<string[]> {
  const files: string[] = [];
  for (const website of await namesIn(join(warehouse, 'state'))) {
    const folder = join(warehouse, 'state', website);
    for (const name of await namesIn(folder)) if (name.endsWith('.parquet')) files.push(join(folder, name));
  }
  for (const table of DATA_TABLES) files.push(...(await listTableFiles(warehouse, table)));
  return files;
}

async function aboutToBeMarked(warehouse: string): Promise<{ ids: Set<string>; unknown: string[] }> {
  const ids = new Set<string>();
  const unknown: string[] = [];
  for (const folder of await unfinishedJournals(warehouse)) {
    const id = await snapshotOf(folder);
    if (id === undefined) unknown.push(join('/', `website=${encodeId(folder.websiteId)}`, '/'));
    else if (id !== null) ids.add(id);
  }
  return { ids, unknown };
}

/** Null if the run had not begun, undefined if its header cannot be read. */
async function snapshotOf(folder: JournalFolder): Promise<string | null | undefined> {
  try {
    return (await readHeader(folder))?.snapshot_id ?? null;
  } catch {
    return undefined;
  }
}

const committedRow = z.object({ run_id: z.string(), website_id: z.string(), snapshot_id: z.string() });
export type CommittedRun = z.infer<typeof committedRow>;

/** The rows of `runs`, as far as their files can be read. */
export interface RunsRead {
  files: readonly string[];
  /** Runs that committed a snapshot, according to their row. */
  committed: CommittedRun[];
  /** `<run id>/<website id>` of runs that are not finished: their row is still to come. */
  unfinished: string[];
  findings: Finding[];
}

/** Reads each file of `runs`; one that cannot be read is a finding. */
export async function readRuns(engine: Engine, log: Log): Promise<RunsRead> {
  // Before the rows: a journal is dropped after its run's row is written, so one of the two is always seen.
  const journals = await unfinishedJournals(log.path);
  const unfinished = journals.map(({ runId, websiteId }) => `${runId}/${websiteId}`);
  // Listed again, because the log's list is older than that of the journals.
  const files = await listTableFiles(log.path, 'runs');
  const unreadable = await findDamaged(engine, 'runs', files);
  const readable = without(files, unreadable);
  const findings = unreadable.map(({ path, reason }) => damaged(`${path} ${reason}`));
  const committed = await engine.rows(
    committedRow,
    `select run_id, website_id, snapshot_id from (${log.query('runs', readable)}) where outcome = 'committed'`,
  );
  return { files: readable, committed, unfinished, findings };
}

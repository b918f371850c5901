import { rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crashPoint } from '../../base/storage/crash-point.js';
import { exists, makeFolder, publish, sha256Of, syncPath } from '../../base/storage/durable.js';
import { type EngineOptions, type Scalar, withEngine } from '../../base/storage/engine.js';
import { checkWithin, removeWithin } from '../../base/storage/only-files.js';
import { HOUR_MS } from '../../base/time.js';
import type { JournalFolder } from '../journal/folder.js';
import { namesIn, stateFile, stateFolder, tableFile } from './folder/layout.js';
import { DATA_TABLES } from './folder/tables.js';
import { type Manifest, stagedFile, stageRow } from './stage/commit-files.js';
import { makeRoom } from './update-index.js';

/** How long a file that is no longer needed is kept, for readers that have just started. */
export const GRACE_MS = HOUR_MS;
const SUPERSEDED_BY = 2;

/**
 * Makes a staged commit visible as a whole: moves the data, then the state, and renames the marker into place last. Can
 * be repeated after an interruption at any point.
 */
export async function commitStaged(warehouse: string, folder: JournalFolder, manifest: Manifest): Promise<void> {
  const place = placeOf(manifest);
  const moves = movesOf(warehouse, folder, manifest);
  for (const { from, to } of moves) {
    await moveOnce(warehouse, from, to);
    crashPoint(`moved ${basename(from, '.staged')}`);
  }
  for (const to of new Set(moves.map((move) => dirname(move.to)))) await syncPath(to);

  await makeRoom(warehouse, manifest.date);
  await publishOnce(warehouse, stagedFile(folder, 'snapshots'), tableFile(warehouse, 'snapshots', place));
  crashPoint('wrote the marker');
  await publishOnce(
    warehouse,
    stagedFile(folder, 'runs'),
    tableFile(warehouse, 'runs', { ...place, id: folder.runId }),
  );
  crashPoint('recorded the run');
  await dropJournal(folder);
  crashPoint('dropped the journal');
}

/** Where each file of a commit goes, except the marker and the run's row. */
function movesOf(warehouse: string, folder: JournalFolder, manifest: Manifest): { from: string; to: string }[] {
  const place = placeOf(manifest);
  const data = DATA_TABLES.filter((table) => Object.hasOwn(manifest.files, table));
  return [
    ...data.map((table) => ({ from: stagedFile(folder, table), to: tableFile(warehouse, table, place) })),
    { from: stagedFile(folder, 'page_state'), to: stateFile(warehouse, manifest.website_id, manifest.snapshot_id) },
  ];
}

/** Whether every file of a staged commit exists unchanged, in its staged or its final place. */
export async function isStagedWhole(warehouse: string, folder: JournalFolder, manifest: Manifest): Promise<boolean> {
  const place = placeOf(manifest);
  const files = [
    ...movesOf(warehouse, folder, manifest),
    { from: stagedFile(folder, 'snapshots'), to: tableFile(warehouse, 'snapshots', place) },
    { from: stagedFile(folder, 'runs'), to: tableFile(warehouse, 'runs', { ...place, id: folder.runId }) },
  ];
  for (const { from, to } of files) {
    const table = basename(from, '.staged');
    const file = (await exists(from)) ? from : to;
    if (!(await exists(file))) return false;
    const sha256 = manifest.files[table]?.sha256 ?? manifest.others[table];
    if (sha256 !== undefined && sha256 !== (await sha256Of(file))) return false;
  }
  return true;
}

export interface RunRow {
  warehouse: string;
  folder: JournalFolder;
  engine: EngineOptions;
  /** The calendar date that the run began on. */
  date: string;
  /** The columns of `runs` except the date. */
  row: Record<string, Scalar>;
}

/** Writes the row of a run for which nothing is staged. */
export async function writeRunRow({ warehouse, folder, engine, date, row }: RunRow): Promise<void> {
  await makeFolder(folder.staged);
  await withEngine(engine, (opened) => stageRow(opened, 'runs', { ...row, snapshot_date: date }, folder));
  await syncPath(stagedFile(folder, 'runs'));
  await makeRoom(warehouse, date);
  const place = { websiteId: folder.websiteId, date, id: folder.runId };
  await publishOnce(warehouse, stagedFile(folder, 'runs'), tableFile(warehouse, 'runs', place));
}

/** Deletes a run's journal of one website. */
export async function dropJournal(folder: JournalFolder): Promise<void> {
  await rm(folder.path, { recursive: true, force: true });
  try {
    await rmdir(dirname(folder.path));
  } catch {
    // The journal of another website of this run is still there.
  }
}

/** Deletes state files that have had two newer ones for an hour. */
export async function dropOldStates(warehouse: string, websiteId: string, now: number): Promise<void> {
  const folder = stateFolder(warehouse, websiteId);
  const states = (await namesIn(folder)).filter((name) => name.endsWith('.parquet'));
  await dropSuperseded(
    warehouse,
    states.map((name) => join(folder, name)),
    now,
  );
}

/** @param files oldest first; all but the two newest are deleted */
export async function dropSuperseded(warehouse: string, files: readonly string[], now: number): Promise<void> {
  const oldestKept = files.at(-SUPERSEDED_BY);
  if (!oldestKept || files.length <= SUPERSEDED_BY) return;
  if (now - (await stat(oldestKept)).mtimeMs < GRACE_MS) return;
  for (const file of files.slice(0, -SUPERSEDED_BY)) await removeWithin(warehouse, file);
}

function placeOf(manifest: Manifest): { websiteId: string; date: string; id: string } {
  return { websiteId: manifest.website_id, date: manifest.date, id: manifest.snapshot_id };
}

async function moveOnce(warehouse: string, from: string, to: string): Promise<void> {
  checkWithin(warehouse, to);
  if (await alreadyMoved(from, to)) return;
  await makeFolder(dirname(to));
  await rename(from, to);
}

async function publishOnce(warehouse: string, from: string, to: string): Promise<void> {
  checkWithin(warehouse, to);
  if (await alreadyMoved(from, to)) return;
  await makeFolder(dirname(to));
  await publish(from, to);
}

async function alreadyMoved(from: string, to: string): Promise<boolean> {
  return !(await exists(from)) && (await exists(to));
}

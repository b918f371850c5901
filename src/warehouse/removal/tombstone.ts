import { stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { Failure } from '../../base/exit.js';
import { crashPoint } from '../../base/storage/crash-point.js';
import { exists, publishFile, sha256Of } from '../../base/storage/durable.js';
import type { Engine, EngineOptions } from '../../base/storage/engine.js';
import { PARQUET_FORMAT } from '../../base/storage/parquet-file.js';
import { rowsDiffer } from '../../base/storage/rows-differ.js';
import { dropSuperseded, GRACE_MS } from '../log/commit.js';
import { listTableFiles, tableFile } from '../log/folder/layout.js';
import { copyRows } from '../log/folder/sums.js';
import { rowsQuery, THINNED_TABLES } from '../log/folder/tables.js';
import type { Log } from '../log/log.js';
import { fileOf, type Marker, markersOf } from '../log/markers.js';
import { checkpointFile, rebuildState, stateBase } from '../log/state.js';
import { removeWhole } from './steps.js';
import type { PlannedFile } from './thin.js';

/**
 * Deletes the files whose tombstone is older than an hour. Can be called again after any interruption.
 *
 * @param now milliseconds since 1970
 * @throws CheckpointError if no checkpoint would replace them
 */
export async function removeDue(log: Log, { now, dryRun }: { now: number; dryRun: boolean }) {
  const leftovers = await leftoversOf(log, now);
  const due = leftovers.filter(({ isDue }) => isDue);
  for (const { file } of dryRun ? [] : due) {
    await removeWhole(log.path, file);
    crashPoint('deleted a file');
  }
  crashPoint('deleted the files');
  // What waits is not an hour old.
  return { deleted: amountOf(due), waiting: amountOf(leftovers.filter(({ isDue }) => !isDue)) };
}

/** Finds files by the names in markers: nothing else is ever deleted, whatever a tombstone says. */
async function leftoversOf({ path, markers, tombstones }: Log, now: number) {
  const since = new Map(
    tombstones.map((one) => [`${one.table_name} ${one.snapshot_id}`, Date.parse(one.tombstoned_at)]),
  );
  const leftovers = [];
  const dropped = markers.flatMap((marker) =>
    THINNED_TABLES.filter((table) => Object.hasOwn(marker.dropped, table)).map((table) => ({ marker, table })),
  );
  for (const { marker, table } of dropped) {
    const { websiteId, snapshotId } = marker;
    const file = fileOf(path, marker, table);
    const found = await stat(file).catch(() => null);
    if (!found) continue;
    await stateBase(path, markersOf(markers, websiteId));
    const at = since.get(`${table} ${snapshotId}`) ?? Number.POSITIVE_INFINITY;
    leftovers.push({ file, bytes: found.size, isDue: now - at >= GRACE_MS });
  }
  return leftovers;
}

function amountOf(leftovers: readonly { bytes: number }[]): { files: number; bytes: number } {
  return { files: leftovers.length, bytes: leftovers.reduce((all, { bytes }) => all + bytes, 0) };
}

export interface TombstoneInput {
  warehouse: string;
  engine: Engine;
  /** A folder for work in progress. */
  temporary: string;
  websiteId: string;
  /** At least one. */
  files: readonly PlannedFile[];
  /** The checkpoint that replaces them: the commit whose state it is, and its file's SHA-256. */
  kept: { id: string; sha256: string };
  /** Milliseconds since 1970, and the calendar date of that in the warehouse's time zone. */
  now: number;
  date: string;
  /** Such as `thinned to one a month before 2025-01-10`. */
  reason: string;
}

/** Puts files of a website out of use at once: as soon as this is renamed into place, readers ignore them. */
export async function writeTombstone(input: TombstoneInput): Promise<void> {
  const { warehouse, websiteId, date, now, files } = input;
  const id = uuidv7({ msecs: now });
  const made = join(input.temporary, 'tombstone.made');
  const rows = {
    tombstone_id: id,
    website_id: websiteId,
    tombstoned_at: new Date(now).toISOString(),
    table_name: files.map(({ table }) => table),
    snapshot_id: files.map(({ marker }) => marker.snapshotId),
    snapshot_at: files.map(({ marker }) => marker.snapshotAt),
    snapshot_date: files.map(({ marker }) => marker.date),
    rows: files.map((planned) => String(planned.rows)),
    sha256: files.map(({ marker, table }) => marker.files[table]?.sha256 ?? ''),
    path: files.map(({ file }) => relative(warehouse, file)),
    reason: input.reason,
    checkpoint_id: input.kept.id,
    checkpoint_sha256: input.kept.sha256,
  };
  const query = rowsQuery('tombstones', rows);
  await copyRows(input.engine, query, { file: made, format: PARQUET_FORMAT }, rows);
  await publishFile(made, tableFile(warehouse, 'tombstones', { websiteId, date, id }), warehouse);
  crashPoint('wrote the tombstone');
}

/**
 * Keeps the state after a website's newest commit as a checkpoint in the log. It is made from the log while all of that
 * is there, and must equal what `state` holds.
 *
 * @param markers all of the website, oldest first; at least one
 * @param state the file of the current state
 * @throws Failure if the log leads to another state
 */
export async function keepState(
  engine: Engine,
  log: Log,
  { markers, state, options }: { markers: Marker[]; state: string; options: EngineOptions },
): Promise<TombstoneInput['kept']> {
  const warehouse = log.path;
  const newest = markers.at(-1);
  if (!newest) throw new Failure('a website without a commit has no state to keep');
  const file = checkpointFile(warehouse, newest);
  const isThere = await exists(file);
  const made = isThere ? file : join(options.temporary, 'checkpoint.made');
  if (!isThere) await rebuildState(warehouse, markers, options, made);
  await engine.view('made', log.query('page_state', [made]));
  await engine.view('now', log.query('page_state', [state]));
  const differs = await rowsDiffer(engine, 'made', 'now');
  if (differs) {
    throw new Failure(
      `${state} differs from the log: ${differs}. Nothing of ${newest.websiteId} was removed; ` +
        'run `indexhouse verify --repair` first',
    );
  }
  if (!isThere) await publishFile(made, file, warehouse);
  crashPoint('wrote the checkpoint');
  return { id: newest.snapshotId, sha256: await sha256Of(file) };
}

/** Deletes checkpoints that are followed by two newer ones, an hour later, because a reader may still use one. */
export async function dropOldCheckpoints(warehouse: string, websiteId: string, now: number): Promise<void> {
  const files = await listTableFiles(warehouse, 'checkpoints', { websiteId });
  const byCommit = files.sort((a, b) => (basename(a) < basename(b) ? -1 : 1));
  await dropSuperseded(warehouse, byCommit, now);
}

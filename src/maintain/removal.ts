import { rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { crashPoint } from '../storage/crash-point.js';
import { makeFolder, publish, syncFile } from '../storage/durable.js';
import type { Engine } from '../storage/engine.js';
import { stateBase } from '../warehouse/checkpoints.js';
import { GRACE_MS } from '../warehouse/commit.js';
import { tableFile } from '../warehouse/layout.js';
import { type Marker, markersOf } from '../warehouse/markers.js';
import type { OpenWarehouse } from '../warehouse/open.js';
import { parquetFormat } from '../warehouse/stage.js';
import { rowsQuery, THINNED_TABLES, type ThinnedTable } from '../warehouse/tables.js';
import type { Kept } from './checkpoint.js';
import type { PlannedFile } from './thinning.js';

/** Files, and how large they are together. */
export interface Amount {
  files: number;
  bytes: number;
}

/** A file that a tombstone names and that is there still. */
interface Leftover {
  file: string;
  bytes: number;
  isDue: boolean;
}

/** What became of the files that are out of use. The names are those of `maintain --json`. */
export interface Removed {
  deleted: Amount;
  /** Their hour is not over. */
  waiting: Amount;
}

/**
 * Deletes the files whose tombstone is older than an hour. May be called again after it was interrupted anywhere.
 *
 * @param now milliseconds since 1970
 * @throws CheckpointError where nothing would stand for them
 */
export async function removeDue(
  log: OpenWarehouse,
  { now, dryRun }: { now: number; dryRun: boolean },
): Promise<Removed> {
  const leftovers = await leftoversOf(log, now);
  const due = leftovers.filter(({ isDue }) => isDue);
  if (!dryRun) for (const { file } of due) await remove(file);
  crashPoint('deleted the files');
  return { deleted: amountOf(due), waiting: amountOf(leftovers.filter(({ isDue }) => !isDue)) };
}

/** By the names that markers give: whatever a tombstone says, nothing else is ever deleted. */
async function leftoversOf({ path, markers, tombstones }: OpenWarehouse, now: number): Promise<Leftover[]> {
  const since = new Map(tombstones.map((one) => [`${one.table_name} ${one.commit_id}`, Date.parse(one.tombstoned_at)]));
  const leftovers: Leftover[] = [];
  for (const { marker, table } of droppedFiles(markers)) {
    const { websiteId, date, commitId } = marker;
    const file = tableFile(path, table, { websiteId, date, id: commitId });
    const found = await stat(file).catch(() => null);
    if (!found) continue;
    await stateBase(path, markersOf(markers, websiteId));
    const at = since.get(`${table} ${commitId}`) ?? Number.POSITIVE_INFINITY;
    leftovers.push({ file, bytes: found.size, isDue: now - at >= GRACE_MS });
  }
  return leftovers;
}

function droppedFiles(markers: readonly Marker[]): { marker: Marker; table: ThinnedTable }[] {
  return markers.flatMap((marker) =>
    THINNED_TABLES.filter((table) => Object.hasOwn(marker.dropped, table)).map((table) => ({ marker, table })),
  );
}

async function remove(file: string): Promise<void> {
  await rm(file, { force: true });
  crashPoint('deleted a file');
  try {
    await rmdir(dirname(file));
  } catch {
    // Another snapshot of that date has its file there.
  }
}

function amountOf(leftovers: readonly Leftover[]): Amount {
  return { files: leftovers.length, bytes: leftovers.reduce((all, { bytes }) => all + bytes, 0) };
}

export interface TombstoneInput {
  warehouse: string;
  engine: Engine;
  /** A folder for what is under way. */
  temporary: string;
  websiteId: string;
  /** At least one. */
  files: readonly PlannedFile[];
  /** The state that stands for them. */
  kept: Kept;
  /** Milliseconds since 1970, and the calendar date of that in the warehouse's time zone. */
  now: number;
  date: string;
  /** Such as `thinned to monthly before 2025-01-10`. */
  reason: string;
  compression: 'zstd' | 'snappy' | 'gzip';
}

/** Puts files of a website out of use, all at once: from the moment that this is renamed into place, nobody reads them. */
export async function writeTombstone(input: TombstoneInput): Promise<void> {
  const { warehouse, websiteId, date, now, files } = input;
  const id = uuidv7({ msecs: now });
  const made = join(input.temporary, 'tombstone.made');
  const rows = {
    tombstone_id: id,
    website_id: websiteId,
    tombstoned_at: new Date(now).toISOString(),
    table_name: files.map(({ table }) => table),
    commit_id: files.map(({ marker }) => marker.commitId),
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
  await input.engine.run(`copy (${query}) to $file (${parquetFormat(input.compression)})`, { ...rows, file: made });
  await syncFile(made);
  const file = tableFile(warehouse, 'tombstones', { websiteId, date, id });
  await makeFolder(dirname(file));
  await publish(made, file);
  crashPoint('wrote the tombstone');
}

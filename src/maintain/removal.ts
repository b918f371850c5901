import { rm, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crashPoint } from '../storage/crash-point.js';
import { type EngineOptions, withEngine } from '../storage/engine.js';
import { stateBase } from '../warehouse/checkpoints.js';
import { tableFile } from '../warehouse/layout.js';
import { type Marker, markersOf } from '../warehouse/markers.js';
import { THINNED_TABLES, type ThinnedTable } from '../warehouse/tables.js';
import { readTombstones } from '../warehouse/tombstones.js';

/** How long a file outlives its tombstone, so that whoever listed the files before can still read it. */
export const GRACE_MS = 60 * 60_000;

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
  warehouse: string,
  markers: readonly Marker[],
  { now, dryRun, engine }: { now: number; dryRun: boolean; engine: EngineOptions },
): Promise<Removed> {
  const leftovers = await leftoversOf(warehouse, markers, { now, engine });
  const due = leftovers.filter(({ isDue }) => isDue);
  if (!dryRun) for (const { file } of due) await remove(file);
  crashPoint('deleted the files');
  return { deleted: amountOf(due), waiting: amountOf(leftovers.filter(({ isDue }) => !isDue)) };
}

/** By the names that markers give: whatever a tombstone says, nothing else is ever deleted. */
async function leftoversOf(
  warehouse: string,
  markers: readonly Marker[],
  { now, engine: options }: { now: number; engine: EngineOptions },
): Promise<Leftover[]> {
  const { tombstones } = await withEngine(options, (engine) => readTombstones(engine, warehouse));
  const since = new Map(
    tombstones.map(({ table, commitId, tombstonedAt }) => [`${table} ${commitId}`, Date.parse(tombstonedAt)]),
  );
  const leftovers: Leftover[] = [];
  for (const { marker, table } of droppedFiles(markers)) {
    const { websiteId, date, commitId } = marker;
    const file = tableFile(warehouse, table, { websiteId, date, id: commitId });
    const found = await stat(file).catch(() => null);
    if (!found) continue;
    await stateBase(warehouse, markersOf(markers, websiteId));
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

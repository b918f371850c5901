import { relative } from 'node:path';
import { z } from 'zod';
import { sha256Of } from '../../base/storage/durable.js';
import type { EngineOptions } from '../../base/storage/engine.js';
import { readJson, writeJson } from '../../base/storage/json-file.js';
import { DAY_MS } from '../../base/time.js';
import { warehouseFolder, warehousePath } from './folder/layout.js';
import { dataFilesOf, type Marker, markersOf, newestMarkers, stateFileOf } from './markers.js';
import { rebuildState } from './state.js';

/** A part of the commits a day proves all within 30 days, with two days to spare. */
const PARTS = 28;

const time = z.iso.datetime();
const provenSchema = z.object({
  /** When each part of the commits was last proven; null: not yet. */
  parts: z.array(time.nullable()).length(PARTS),
  /** Files that were not as they were committed, relative to the warehouse. */
  damaged: z.array(z.string().regex(warehousePath)),
});
type Proven = z.infer<typeof provenSchema>;

/** What the nights have proven. A file that cannot be read counts as missing. */
export async function readProven(warehouse: string): Promise<Proven> {
  const found = await readJson(warehouseFolder(warehouse).proven, provenSchema).catch(() => null);
  return found ?? { parts: Array.from({ length: PARTS }, () => null), damaged: [] };
}

/** Since when every file has been proven, ISO 8601; null: some were not yet. */
export function provenSince({ parts }: Proven): string | null {
  return parts.includes(null) ? null : (parts.toSorted()[0] ?? null);
}

/**
 * Compares files with the SHA-256 in their markers: those of the newest commits, those that were damaged, and the parts
 * whose turn it is. A state that differs is rebuilt from the log. The caller holds the run lock.
 *
 * @param now milliseconds since 1970
 */
export async function prove(
  { path, markers }: { path: string; markers: readonly Marker[] },
  engine: EngineOptions,
  now: number,
): Promise<void> {
  const before = await readProven(path);
  const due = dueParts(before, now);
  const newest = new Set(newestMarkers(markers));
  const left = new Set<number>();
  const damaged: string[] = [];
  for (const marker of markers) {
    const isDue = due.has(partOf(marker)) || newest.has(marker);
    if (!isDue) left.add(partOf(marker));
    for (const [table, file] of dataFilesOf(path, marker)) {
      const name = relative(path, file);
      const isAsked = isDue || before.damaged.includes(name);
      if (isAsked && !(await hasSum(file, marker.files[table]?.sha256))) damaged.push(name);
    }
  }
  for (const marker of newest) {
    const file = stateFileOf(path, marker);
    if (await hasSum(file, marker.files['page_state']?.sha256)) continue;
    // What it is derived from may be damaged: whoever needs the state says so.
    await rebuildState(path, markersOf(markers, marker.websiteId), engine, file).catch(() => {});
  }
  const at = new Date(now).toISOString();
  const parts = before.parts.map((proven, part) => (left.has(part) ? proven : at));
  await writeJson(warehouseFolder(path).proven, { parts, damaged });
}

export async function hasSum(file: string, sha256: string | undefined): Promise<boolean> {
  return (await sha256Of(file).catch(() => null)) === sha256;
}

/** Of a warehouse on which no night has proven anything, one part: else the first night would read everything. */
function dueParts({ parts }: Proven, now: number): ReadonlySet<number> {
  const last = Math.max(...parts.map((at) => Date.parse(at ?? '1970-01-01')));
  const days = last === 0 ? 1 : Math.max(0, Math.round((now - last) / DAY_MS));
  const oldestFirst = parts.map((at, part) => ({ part, at: at ?? '' })).sort((a, b) => (a.at < b.at ? -1 : 1));
  return new Set(oldestFirst.slice(0, days).map(({ part }) => part));
}

/** Ids end in random digits, so parts are alike in size. */
function partOf({ snapshotId }: Marker): number {
  return Number.parseInt(snapshotId.slice(-4), 16) % PARTS;
}

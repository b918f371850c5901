import { basename } from 'node:path';
import { z } from 'zod';
import type { Engine } from '../storage/engine.js';
import { listTableFiles, stateFile, tableFile } from './layout.js';
import { tableQuery } from './prepare.js';
import { DATA_TABLES, type DataTable } from './tables.js';

const filesSchema = z.record(z.string(), z.object({ rows: z.int(), sha256: z.string() }));
export type CommittedFiles = z.infer<typeof filesSchema>;

const markerRow = z.object({
  snapshot_id: z.string(),
  website_id: z.string(),
  snapshot_at: z.string(),
  snapshot_date: z.string(),
  listing_status: z.enum(['complete', 'partial']),
  files: z.string(),
});

/** A commit that the warehouse holds. What has no marker does not exist. */
export interface Marker {
  commitId: string;
  snapshotId: string;
  websiteId: string;
  /** ISO 8601. */
  snapshotAt: string;
  date: string;
  listingComplete: boolean;
  files: CommittedFiles;
  /** The marker's own file. */
  path: string;
}

/**
 * Reads all markers, oldest commit first.
 *
 * Taken once, the list answers every question of one command, so that one question sees one state of the world.
 */
export async function readMarkers(engine: Engine, warehouse: string): Promise<Marker[]> {
  return readMarkerFiles(engine, warehouse, await listTableFiles(warehouse, 'snapshots'));
}

async function readMarkerFiles(engine: Engine, warehouse: string, paths: string[]): Promise<Marker[]> {
  if (paths.length === 0) return [];
  const rows = await engine.rows(
    markerRow,
    `select snapshot_id, website_id, strftime(snapshot_at, '%Y-%m-%dT%H:%M:%S.%gZ') as snapshot_at,
       snapshot_date::varchar as snapshot_date, listing_status, files::varchar as files
     from (${tableQuery(warehouse, 'snapshots', paths)})`,
  );
  const pathOf = new Map(paths.map((path) => [basename(path, '.parquet'), path]));
  return rows
    .map((row) => ({
      commitId: row.snapshot_id,
      snapshotId: row.snapshot_id,
      websiteId: row.website_id,
      snapshotAt: row.snapshot_at,
      date: row.snapshot_date,
      listingComplete: row.listing_status === 'complete',
      files: filesSchema.parse(JSON.parse(row.files)),
      path: pathOf.get(row.snapshot_id) ?? '',
    }))
    .sort(byCommit);
}

/** Commit ids sort by time. */
function byCommit(a: Marker, b: Marker): number {
  return a.commitId < b.commitId ? -1 : 1;
}

/**
 * Reads the markers that can be read, and says which cannot. For what looks for damage; everything else would rather
 * stop than answer without a commit.
 */
export async function readMarkersThatCan(
  engine: Engine,
  warehouse: string,
): Promise<{ markers: Marker[]; unreadable: { path: string; message: string }[] }> {
  const markers: Marker[] = [];
  const unreadable: { path: string; message: string }[] = [];
  for (const path of await listTableFiles(warehouse, 'snapshots')) {
    try {
      markers.push(...(await readMarkerFiles(engine, warehouse, [path])));
    } catch (error) {
      unreadable.push({ path, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { markers: markers.sort(byCommit), unreadable };
}

/** The markers of one website, oldest first. */
export function markersOf(markers: readonly Marker[], websiteId: string): Marker[] {
  return markers.filter((marker) => marker.websiteId === websiteId);
}

/** The newest marker of each website. */
export function newestMarkers(markers: readonly Marker[]): Marker[] {
  return [...new Map(markers.map((marker) => [marker.websiteId, marker])).values()];
}

/** The files of one table in these commits. */
export function filesOf(warehouse: string, markers: readonly Marker[], table: DataTable): string[] {
  return markers.flatMap((marker) =>
    Object.hasOwn(marker.files, table)
      ? [tableFile(warehouse, table, { websiteId: marker.websiteId, date: marker.date, id: marker.commitId })]
      : [],
  );
}

/** The state file that follows this commit; it may be missing, and is then rebuilt. */
export function stateFileOf(warehouse: string, marker: Marker): string {
  return stateFile(warehouse, marker.websiteId, marker.commitId);
}

/** Makes a view of each data table over the files of these commits, named `prefix` + table. */
export async function viewDataTables(
  engine: Engine,
  warehouse: string,
  markers: readonly Marker[],
  prefix = '',
): Promise<void> {
  for (const table of DATA_TABLES) {
    await engine.view(`${prefix}${table}`, tableQuery(warehouse, table, filesOf(warehouse, markers, table)));
  }
}

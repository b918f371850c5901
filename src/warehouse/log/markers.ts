import { z } from 'zod';
import { Failure } from '../../base/exit.js';
import type { Engine } from '../../base/storage/engine.js';
import { websiteIdSchema } from '../../base/storage/names.js';
import { whyNotParquet } from '../../base/storage/parquet-file.js';
import { type DamagedFile, damagedFile, firstLine } from './folder/damage.js';
import { type LogFolder, stateFile, tableFile } from './folder/layout.js';
import { tableQuery } from './folder/prepare.js';
import { checkRows, OTHER_ROWS } from './folder/sums.js';
import { DATA_TABLES, type DataTable } from './folder/tables.js';

/** By table, the state included. */
export const filesSchema = z.record(z.string(), z.object({ rows: z.int(), bytes: z.int(), sha256: z.string() }));
export type CommittedFiles = z.infer<typeof filesSchema>;

const markerRow = z.object({
  snapshotId: z.string(),
  /** The run that committed it. */
  runId: z.string(),
  websiteId: z.string(),
  /** Null if it had none. */
  websiteName: z.string().nullable(),
  /** ISO 8601. */
  snapshotAt: z.string(),
  date: z.string(),
  /** When it was committed, ISO 8601. */
  committedAt: z.string(),
  listingComplete: z.boolean(),
  /** Whether the state of a page is what its last inspection says, not what the listing says. */
  byInspection: z.boolean(),
  /** By table, without those that a tombstone put out of use or that were found damaged. */
  files: z.string().transform((text) => filesSchema.parse(JSON.parse(text))),
});

/** What paths are made of. */
const placed = z.object({ snapshotId: z.uuid(), runId: z.uuid(), websiteId: websiteIdSchema, date: z.iso.date() });

/** A commit that the warehouse holds. What has no marker does not exist. */
export interface Marker extends z.infer<typeof markerRow> {
  /** Files that a tombstone put out of use; they may have been deleted. */
  dropped: CommittedFiles;
  /** The marker's own file. */
  path: string;
}

/** Oldest first: ids of snapshots sort by time. */
export function byCommit(one: Marker, other: Marker): number {
  return one.snapshotId < other.snapshotId ? -1 : 1;
}

interface MarkersRead {
  markers: Marker[];
  /** Those that cannot be read. */
  damaged: DamagedFile[];
}

/** Reads markers together, or one by one if one of them cannot be read. */
export async function readMarkers(engine: Engine, warehouse: string, paths: string[]): Promise<MarkersRead> {
  try {
    return { markers: await readMarkerFiles(engine, warehouse, paths), damaged: [] };
  } catch (error) {
    if (paths.length > 1) {
      const read: MarkersRead[] = [];
      for (const path of paths) read.push(await readMarkers(engine, warehouse, [path]));
      return { markers: read.flatMap(({ markers }) => markers), damaged: read.flatMap(({ damaged }) => damaged) };
    }
    const [path = ''] = paths;
    const said = firstLine(error);
    const reason = (await whyNotParquet(path)) ?? (said === OTHER_ROWS ? said : `cannot be read: ${said}`);
    return { markers: [], damaged: [damagedFile('snapshots', path, reason)] };
  }
}

/** @throws Error if a file cannot be read, or holds the marker of another commit */
async function readMarkerFiles(engine: Engine, warehouse: string, paths: string[]): Promise<Marker[]> {
  if (paths.length === 0) return [];
  const there = new Set(paths);
  const markers = await markersIn(engine, warehouse, paths);
  const foreign = markers.find(({ path }) => !there.delete(path));
  if (foreign) throw new Error(`it is the marker that belongs to ${foreign.path}`);
  await checkRows(engine, paths);
  return markers;
}

/** The markers whose rows are in these files. */
export function markersIn(engine: Engine, warehouse: string, files: string[], where = 'true'): Promise<Marker[]> {
  return markersFrom(engine, warehouse, `(${tableQuery('snapshots', files)}) where ${where}`);
}

/** The markers whose rows a query has. @throws Failure for one that no commit could have written */
export async function markersFrom(engine: Engine, warehouse: string, from: string): Promise<Marker[]> {
  const rows = await engine.rows(
    markerRow,
    `select snapshot_id as "snapshotId", run_id as "runId", website_id as "websiteId", website_name as "websiteName",
       snapshot_at as "snapshotAt", snapshot_date as "date", finished_at as "committedAt",
       listing_status = 'complete' as "listingComplete", coalesce(source = 'google', false) as "byInspection", files::varchar as files
     from ${from}`,
  );
  return rows.map((row) => {
    if (!placed.safeParse(row).success) throw new Failure('a marker names an id or a date that is none');
    const path = tableFile(warehouse, 'snapshots', { ...row, id: row.snapshotId });
    return { ...row, dropped: {}, path };
  });
}

/** Moves the files that tombstones name from `files` to `dropped`. */
export function withoutDropped(
  markers: readonly Marker[],
  tombstones: readonly { website_id: string; table_name: string; snapshot_id: string }[],
): Marker[] {
  const named = new Set(tombstones.map((one) => `${one.table_name} ${one.snapshot_id} ${one.website_id}`));
  return markers.map((marker) => {
    const isDropped = ([table]: [string, unknown]) => named.has(`${table} ${marker.snapshotId} ${marker.websiteId}`);
    const all = Object.entries(marker.files);
    const files = Object.fromEntries(all.filter((entry) => !isDropped(entry)));
    return { ...marker, files, dropped: { ...marker.dropped, ...Object.fromEntries(all.filter(isDropped)) } };
  });
}

/** The markers of one website, oldest first. */
export function markersOf(markers: readonly Marker[], websiteId: string): Marker[] {
  return markers.filter((marker) => marker.websiteId === websiteId);
}

/** When the latest of these commits was taken, in milliseconds since 1970, and its snapshot; null if there is none. */
export function latestOf(markers: readonly Marker[]): { snapshotId: string; at: number } | null {
  const dated = markers.map(({ snapshotId, snapshotAt }) => ({ snapshotId, at: Date.parse(snapshotAt) }));
  return dated.sort((one, other) => other.at - one.at)[0] ?? null;
}

/** The newest marker of each website. */
export function newestMarkers(markers: readonly Marker[]): Marker[] {
  return [...new Map(markers.map((marker) => [marker.websiteId, marker])).values()];
}

/** The commits that are not among these ids, in order. */
export function lackingIn(known: ReadonlySet<string>, markers: readonly Marker[]): Marker[] {
  return markers.filter(({ snapshotId }) => !known.has(snapshotId));
}

/** The file of one table in a commit, whether it has one or not. */
export function fileOf(warehouse: string, marker: Marker, table: LogFolder): string {
  return tableFile(warehouse, table, { ...marker, id: marker.snapshotId });
}

/** The files of one table in these commits. */
export function filesOf(warehouse: string, markers: readonly Marker[], table: DataTable): string[] {
  const having = markers.filter(({ files }) => Object.hasOwn(files, table));
  return having.map((marker) => fileOf(warehouse, marker, table));
}

/** The tables that a commit has a file in, each with that file. */
export function dataFilesOf(warehouse: string, marker: Marker): [DataTable, string][] {
  const tables = DATA_TABLES.filter((table) => Object.hasOwn(marker.files, table));
  return tables.map((table) => [table, fileOf(warehouse, marker, table)]);
}

/** The state file that follows this commit; it may be missing, and is then rebuilt. */
export function stateFileOf(warehouse: string, marker: Marker): string {
  return stateFile(warehouse, marker.websiteId, marker.snapshotId);
}

import { z } from 'zod';
import type { Engine } from '../../base/storage/engine.js';
import { whyNotParquet } from '../../base/storage/parquet-file.js';
import { type DamagedFile, damagedFile, firstLine } from './folder/damage.js';
import { type LogFolder, listTableFiles, stateFile, tableFile } from './folder/layout.js';
import { tableQuery } from './folder/prepare.js';
import { readRestored } from './folder/restored.js';
import { checkRows, OTHER_ROWS } from './folder/sums.js';
import { DATA_TABLES, type DataTable, type MarkerTable, THINNED_TABLES } from './folder/tables.js';

/** By table, the state included. */
export const filesSchema = z.record(z.string(), z.object({ rows: z.int(), bytes: z.int(), sha256: z.string() }));
export type CommittedFiles = z.infer<typeof filesSchema>;

const markerRow = z.object({
  /** The snapshot's id, or the replay's. */
  commitId: z.string(),
  /** For a replay, the snapshot whose rejected records it replayed. */
  snapshotId: z.string(),
  /** The run that committed it; for a replay, its own id. */
  runId: z.string(),
  websiteId: z.string(),
  /** Null if it had none, and for a replay. */
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

/** How the two kinds of markers differ. A replay is never a listing by itself. */
export const OF_KIND = {
  snapshot: {
    table: 'snapshots',
    id: 'snapshot_id',
    run: 'run_id',
    name: 'website_name',
    complete: "listing_status = 'complete'",
    inspected: "coalesce(source = 'google', false)",
    at: 'finished_at',
  },
  replay: {
    table: 'replays',
    id: 'replay_id',
    run: 'replay_id',
    name: 'null::varchar',
    complete: 'false',
    inspected: 'false',
    at: 'replayed_at',
  },
} as const satisfies Record<
  string,
  { table: MarkerTable } & Record<'id' | 'run' | 'name' | 'complete' | 'inspected' | 'at', string>
>;
export type MarkerKind = keyof typeof OF_KIND;
export const KINDS = ['replay', 'snapshot'] as const;

/** A commit that the warehouse holds. What has no marker does not exist. */
export interface Marker extends z.infer<typeof markerRow> {
  kind: MarkerKind;
  /** Files that a tombstone put out of use; they may have been deleted. */
  dropped: CommittedFiles;
  /** Files that were left in the bucket when the warehouse was restored from there. */
  absent: CommittedFiles;
  /** The marker's own file. */
  path: string;
}

/** Oldest first: commit ids sort by time. */
export function byCommit(one: Marker, other: Marker): number {
  return one.commitId < other.commitId ? -1 : 1;
}

export interface Kind {
  warehouse: string;
  schemas: string;
  kind: MarkerKind;
}

interface MarkersRead {
  markers: Marker[];
  /** Those that cannot be read. */
  damaged: DamagedFile[];
}

/** Whether all of these markers of snapshots can be read. */
export async function areWhole(engine: Engine, warehouse: string, paths: string[]): Promise<boolean> {
  return (await readKind(engine, { warehouse, schemas: warehouse, kind: 'snapshot' }, paths)).damaged.length === 0;
}

/** Reads markers of one kind together, or one by one if one of them cannot be read. */
export async function readKind(engine: Engine, of: Kind, paths: string[]): Promise<MarkersRead> {
  const { kind } = of;
  try {
    return { markers: await readMarkerFiles(engine, of, paths), damaged: [] };
  } catch (error) {
    if (paths.length > 1) {
      const read: MarkersRead[] = [];
      for (const path of paths) read.push(await readKind(engine, of, [path]));
      return { markers: read.flatMap(({ markers }) => markers), damaged: read.flatMap(({ damaged }) => damaged) };
    }
    const [path = ''] = paths;
    const said = firstLine(error);
    const reason = (await whyNotParquet(path)) ?? (said === OTHER_ROWS ? said : `cannot be read: ${said}`);
    return { markers: [], damaged: [damagedFile(OF_KIND[kind].table, path, reason)] };
  }
}

/** @throws Error if a file cannot be read, or holds the marker of another commit */
async function readMarkerFiles(engine: Engine, of: Kind, paths: string[]): Promise<Marker[]> {
  if (paths.length === 0) return [];
  const there = new Set(paths);
  const markers = await markersIn(engine, of, paths);
  const foreign = markers.find(({ path }) => !there.delete(path));
  if (foreign) throw new Error(`it is the marker that belongs to ${foreign.path}`);
  await checkRows(engine, paths);
  return markers;
}

/** The markers whose rows are in these files. */
export async function markersIn(
  engine: Engine,
  { warehouse, schemas, kind }: Kind,
  files: string[],
  where = 'true',
): Promise<Marker[]> {
  const { table, id, run, name, complete, inspected, at } = OF_KIND[kind];
  const rows = await engine.rows(
    markerRow,
    `select ${id} as "commitId", snapshot_id as "snapshotId", ${run} as "runId",
       website_id as "websiteId", ${name} as "websiteName", snapshot_at as "snapshotAt",
       snapshot_date as "date", ${at} as "committedAt", ${complete} as "listingComplete", ${inspected} as "byInspection", files
     from (${tableQuery(schemas, table, files)}) where ${where}`,
  );
  return rows.map((row) => {
    const path = tableFile(warehouse, table, { ...row, id: row.commitId });
    return { ...row, kind, dropped: {}, absent: {}, path };
  });
}

/** Moves the files that a restore left in the bucket from `files` to `absent`. */
export async function withoutAbsent(warehouse: string, markers: Marker[]): Promise<Marker[]> {
  const restored = await readRestored(warehouse);
  if (restored?.history_from == null) return markers;
  const { history_from: from } = restored;
  const absent = new Set<string>();
  for (const table of THINNED_TABLES) {
    const there = new Set(await listTableFiles(warehouse, table));
    for (const marker of markers.filter(({ date }) => date < from)) {
      if (!there.has(fileOf(warehouse, marker, table))) absent.add(`${table} ${marker.commitId}`);
    }
  }
  return without(markers, absent, 'absent');
}

/** @param named `<table> <commit id>` of the files to move from `files` to `as` */
export function without(markers: readonly Marker[], named: ReadonlySet<string>, as: 'dropped' | 'absent'): Marker[] {
  if (named.size === 0) return [...markers];
  return markers.map((marker) => {
    const isNamed = ([table]: [string, unknown]) => named.has(`${table} ${marker.commitId}`);
    const all = Object.entries(marker.files);
    const files = Object.fromEntries(all.filter((entry) => !isNamed(entry)));
    return { ...marker, files, [as]: { ...marker[as], ...Object.fromEntries(all.filter(isNamed)) } };
  });
}

/** The markers of one website, oldest first. */
export function markersOf(markers: readonly Marker[], websiteId: string): Marker[] {
  return markers.filter((marker) => marker.websiteId === websiteId);
}

/** The table that a marker's own row belongs to. */
export function tableOf(marker: Marker): MarkerTable {
  return OF_KIND[marker.kind].table;
}

/** The markers' own files in one table. */
export function markerPaths(markers: readonly Marker[], table: MarkerTable): string[] {
  return markers.filter((marker) => tableOf(marker) === table).map(({ path }) => path);
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
  return markers.filter(({ commitId }) => !known.has(commitId));
}

/** The file of one table in a commit, whether it has one or not. */
export function fileOf(warehouse: string, marker: Marker, table: LogFolder): string {
  return tableFile(warehouse, table, { ...marker, id: marker.commitId });
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
  return stateFile(warehouse, marker.websiteId, marker.commitId);
}

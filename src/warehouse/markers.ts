import { basename } from 'node:path';
import { z } from 'zod';
import type { Engine } from '../storage/engine.js';
import { listTableFiles, stateFile, tableFile } from './layout.js';
import { tableQuery } from './prepare.js';
import { DATA_TABLES, type DataTable, type MarkerTable } from './tables.js';
import { readTombstones, readTombstonesThatCan, type Tombstone } from './tombstones.js';

const filesSchema = z.record(z.string(), z.object({ rows: z.int(), sha256: z.string() }));
export type CommittedFiles = z.infer<typeof filesSchema>;

const markerRow = z.object({
  commit_id: z.string(),
  snapshot_id: z.string(),
  website_id: z.string(),
  snapshot_at: z.string(),
  snapshot_date: z.string(),
  listing_complete: z.boolean(),
  committed_at: z.string(),
  files: z.string(),
});

/** What tells the two kinds of markers apart. A replay is never a listing by itself. */
const OF_KIND = {
  snapshot: { table: 'snapshots', id: 'snapshot_id', complete: "listing_status = 'complete'", at: 'finished_at' },
  replay: { table: 'replays', id: 'replay_id', complete: 'false', at: 'replayed_at' },
} as const satisfies Record<string, { table: MarkerTable; id: string; complete: string; at: string }>;
export type MarkerKind = keyof typeof OF_KIND;
const KINDS = ['replay', 'snapshot'] as const;

/** A commit that the warehouse holds. What has no marker does not exist. */
export interface Marker {
  kind: MarkerKind;
  /** The snapshot's id, or the replay's. */
  commitId: string;
  /** Of a replay: the snapshot whose rejects it took. */
  snapshotId: string;
  websiteId: string;
  /** ISO 8601. */
  snapshotAt: string;
  date: string;
  /** When it was committed, ISO 8601. */
  committedAt: string;
  listingComplete: boolean;
  /** By table, but for those that a tombstone put out of use. */
  files: CommittedFiles;
  /** Those that a tombstone put out of use; they may be deleted. */
  dropped: CommittedFiles;
  /** The marker's own file. */
  path: string;
}

/**
 * Reads all markers, of snapshots and of replays, oldest commit first: one log.
 *
 * Taken once, the list answers every question of one command, so that one question sees one state of the world.
 */
export async function readMarkers(engine: Engine, warehouse: string): Promise<Marker[]> {
  const markers: Marker[] = [];
  for (const { kind, paths } of await markerFiles(warehouse)) {
    markers.push(...(await readMarkerFiles(engine, warehouse, kind, paths)));
  }
  // After the markers: a tombstone is about commits that are there before it.
  return withoutDropped(markers, await readTombstones(engine, warehouse)).sort(byCommit);
}

/** Replays are listed first, so that none is seen without its snapshot. */
async function markerFiles(warehouse: string): Promise<{ kind: MarkerKind; paths: string[] }[]> {
  const found: { kind: MarkerKind; paths: string[] }[] = [];
  for (const kind of KINDS) found.push({ kind, paths: await listTableFiles(warehouse, OF_KIND[kind].table) });
  return found;
}

async function readMarkerFiles(
  engine: Engine,
  warehouse: string,
  kind: MarkerKind,
  paths: string[],
): Promise<Marker[]> {
  if (paths.length === 0) return [];
  const { table, id, complete, at } = OF_KIND[kind];
  const rows = await engine.rows(
    markerRow,
    `select ${id} as commit_id, snapshot_id, website_id,
       strftime(snapshot_at, '%Y-%m-%dT%H:%M:%S.%gZ') as snapshot_at, snapshot_date::varchar as snapshot_date,
       strftime(${at}, '%Y-%m-%dT%H:%M:%S.%gZ') as committed_at, ${complete} as listing_complete, files::varchar as files
     from (${tableQuery(warehouse, table, paths)})`,
  );
  const pathOf = new Map(paths.map((path) => [basename(path, '.parquet'), path]));
  return rows.map((row) => ({
    kind,
    commitId: row.commit_id,
    snapshotId: row.snapshot_id,
    websiteId: row.website_id,
    snapshotAt: row.snapshot_at,
    date: row.snapshot_date,
    committedAt: row.committed_at,
    listingComplete: row.listing_complete,
    files: filesSchema.parse(JSON.parse(row.files)),
    dropped: {},
    path: pathOf.get(row.commit_id) ?? '',
  }));
}

/** Takes the files that a tombstone names out of what the markers name. */
function withoutDropped(markers: Marker[], tombstones: readonly Tombstone[]): Marker[] {
  const named = new Set(tombstones.map(({ table, commitId }) => `${table} ${commitId}`));
  if (named.size === 0) return markers;
  return markers.map((marker) => {
    const isDropped = ([table]: [string, unknown]) => named.has(`${table} ${marker.commitId}`);
    const all = Object.entries(marker.files);
    return {
      ...marker,
      files: Object.fromEntries(all.filter((entry) => !isDropped(entry))),
      dropped: Object.fromEntries(all.filter(isDropped)),
    };
  });
}

/** Commit ids sort by time. */
function byCommit(a: Marker, b: Marker): number {
  return a.commitId < b.commitId ? -1 : 1;
}

/**
 * Reads the markers and tombstones that can be read, and says which cannot. For what looks for damage; everything else would rather
 * stop than answer without a commit.
 */
export async function readMarkersThatCan(
  engine: Engine,
  warehouse: string,
): Promise<{ markers: Marker[]; unreadable: { path: string; message: string }[] }> {
  const markers: Marker[] = [];
  const unreadable: { path: string; message: string }[] = [];
  const listed = (await markerFiles(warehouse)).flatMap(({ kind, paths }) => paths.map((path) => ({ kind, path })));
  for (const { kind, path } of listed) {
    try {
      for (const marker of await readMarkerFiles(engine, warehouse, kind, [path])) {
        const { websiteId, date, commitId } = marker;
        const place = tableFile(warehouse, tableOf(marker), { websiteId, date, id: commitId });
        if (place === path) markers.push(marker);
        else unreadable.push({ path, message: `it is the marker that belongs to ${place}` });
      }
    } catch (error) {
      unreadable.push({ path, message: error instanceof Error ? error.message : String(error) });
    }
  }
  const found = await readTombstonesThatCan(engine, warehouse);
  unreadable.push(...found.unreadable);
  return { markers: withoutDropped(markers, found.tombstones).sort(byCommit), unreadable };
}

/** The markers of one website, oldest first. */
export function markersOf(markers: readonly Marker[], websiteId: string): Marker[] {
  return markers.filter((marker) => marker.websiteId === websiteId);
}

/** The table that a marker's own row belongs to. */
export function tableOf(marker: Marker): MarkerTable {
  return OF_KIND[marker.kind].table;
}

/** The files of the markers themselves, by the table of their rows. */
export function markerPaths(markers: readonly Marker[], table: MarkerTable): string[] {
  return markers.filter((marker) => tableOf(marker) === table).map(({ path }) => path);
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

/**
 * Makes a view of each data table over the files of these commits, named `prefix` + table.
 *
 * @param schemas the folder whose empty files give each table its columns, where it is not the warehouse
 */
export async function viewDataTables(
  engine: Engine,
  warehouse: string,
  markers: readonly Marker[],
  { prefix = '', schemas = warehouse }: { prefix?: string; schemas?: string } = {},
): Promise<void> {
  for (const table of DATA_TABLES) {
    await engine.view(`${prefix}${table}`, tableQuery(schemas, table, filesOf(warehouse, markers, table)));
  }
}

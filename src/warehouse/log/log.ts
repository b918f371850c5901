import { z } from 'zod';
import type { Engine } from '../../base/storage/engine.js';
import { literal } from '../../base/storage/sql.js';
import { type DamagedFile, readReadable } from './folder/damage.js';
import { listTableFiles, websiteOf } from './folder/layout.js';
import { tableQuery } from './folder/prepare.js';
import { checkRows } from './folder/sums.js';
import type { MarkerIndex } from './marker-index.js';
import { byCommit, type Marker, type MarkerPlace, markersIn, readMarkers, without, withoutAbsent } from './markers.js';

const tombstoneRow = z.object({
  /** Shared by all files that one run of `maintain` put out of use for a website. */
  tombstone_id: z.string(),
  tombstoned_at: z.string(),
  table_name: z.string(),
  snapshot_id: z.string(),
  /** The commit whose state was saved first, because the log can no longer produce it; and the SHA-256 of that file. */
  checkpoint_id: z.string(),
  checkpoint_sha256: z.string(),
});
/** A file of the log that was put out of use for good: readers ignore it, whether it has been deleted or not. */
export type Tombstone = z.infer<typeof tombstoneRow>;

/** What the log holds, as far as it can be read. */
export interface Log {
  /** Markers, oldest commit first. */
  markers: Marker[];
  /** Markers and tombstones that cannot be read. */
  damaged: DamagedFile[];
  /** What was put out of use, and the files with these rows. */
  tombstones: Tombstone[];
  tombstoneFiles: string[];
}

/**
 * Reads all markers, oldest commit first, as far as they can be read.
 *
 * @param schemas the folder whose empty files define the columns of each table
 * @param websiteId left out: all websites
 */
export async function readLog(
  engine: Engine,
  warehouse: string,
  schemas: string,
  { websiteId }: { websiteId?: string } = {},
): Promise<Log> {
  return readListed(engine, { warehouse, schemas }, await listLog(warehouse, { websiteId }));
}

/** The files of the markers, tombstones and notes that existed at one moment. */
export interface ListedLog extends Record<'snapshots' | 'tombstones' | 'note_log', string[]> {
  /** Holds the snapshots that are not listed. */
  index: MarkerIndex | null;
}

export async function listLog(
  warehouse: string,
  { websiteId, index = null }: { websiteId?: string | undefined; index?: MarkerIndex | null },
): Promise<ListedLog> {
  // Tombstones last, because they are written after their commits.
  const snapshots = await listTableFiles(warehouse, 'snapshots', { websiteId, from: index?.before });
  const tombstones = await listTableFiles(warehouse, 'tombstones', { websiteId });
  const note_log = await listTableFiles(warehouse, 'note_log', { websiteId });
  return { snapshots, tombstones, note_log, index };
}

/** The listed files of the matching websites only. */
export function listedOf(listed: ListedLog, isAsked: (websiteId: string) => boolean): ListedLog {
  const own = (files: string[]) => files.filter((file) => isAsked(websiteOf(file)));
  const { snapshots, tombstones, note_log, index } = listed;
  return { snapshots: own(snapshots), tombstones: own(tombstones), note_log: own(note_log), index };
}

/**
 * Reads the listed files, as far as they can be read, oldest commit first.
 *
 * @param websiteIds websites whose snapshots are taken from the index; null: all
 * @throws EngineError if the index cannot be read
 */
export async function readListed(
  engine: Engine,
  { warehouse, schemas }: MarkerPlace,
  { index, tombstones: files, ...listed }: ListedLog,
  websiteIds: readonly string[] | null = null,
): Promise<Log> {
  const markers: Marker[] = [];
  if (index && websiteIds?.length !== 0) {
    const where = websiteIds === null ? 'true' : `website_id in (${websiteIds.map(literal).join(', ')})`;
    markers.push(...(await markersIn(engine, { warehouse, schemas }, [index.files.snapshots], where)));
  }
  const own = await readMarkers(engine, { warehouse, schemas }, listed.snapshots);
  markers.push(...own.markers);
  const read = async (some: readonly string[]) => {
    await checkRows(engine, some);
    return engine.rows(
      tombstoneRow,
      `${tableQuery(schemas, 'tombstones', some)} order by tombstone_id, table_name, snapshot_id`,
    );
  };
  const { value: tombstones, readable, damaged: others } = await readReadable(engine, 'tombstones', files, read);
  const there = await withoutAbsent(warehouse, markers);
  const dropped = new Set(tombstones.map(({ table_name, snapshot_id }) => `${table_name} ${snapshot_id}`));
  return {
    markers: without(there, dropped, 'dropped').sort(byCommit),
    damaged: [...own.damaged, ...others],
    tombstones,
    tombstoneFiles: [...readable],
  };
}

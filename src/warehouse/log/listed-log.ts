import { basename, join } from 'node:path';
import { z } from 'zod';
import type { Engine } from '../../base/storage/engine.js';
import { literal } from '../../base/storage/sql.js';
import { type DamagedFile, damagedFile, readReadable, without } from './folder/damage.js';
import { listTableFiles, websiteOf } from './folder/layout.js';
import { tableQuery } from './folder/prepare.js';
import { checkRows } from './folder/sums.js';
import { byCommit, type Marker, markersIn, readMarkers, withoutDropped } from './markers.js';
import type { MarkerIndex } from './update-index.js';

const tombstoneRow = z.object({
  /** Shared by all files that one run of `maintain` put out of use for a website. */
  tombstone_id: z.string(),
  website_id: z.string(),
  tombstoned_at: z.string(),
  table_name: z.string(),
  snapshot_id: z.string(),
  /** The commit whose state was saved first, because the log can no longer produce it; and the SHA-256 of that file. */
  checkpoint_id: z.string(),
  checkpoint_sha256: z.string(),
});
/** A file of the log that was put out of use for good: readers ignore it, whether it has been deleted or not. */
export type Tombstone = z.infer<typeof tombstoneRow>;

const LISTED = ['runs', 'snapshots', 'tombstones', 'note_log'] as const;

/** The files of runs, markers, tombstones and notes that existed at one moment, and the index of the older ones. */
export interface ListedLog extends Record<(typeof LISTED)[number], string[]> {
  /** Holds the snapshots that are not listed. */
  index: MarkerIndex | null;
}

/**
 * Lists the log in the only order in which no reader sees half a commit.
 *
 * @param websites null: all
 * @param everyRun whether runs that the index holds are listed, too
 */
export async function listLog(
  warehouse: string,
  websites: readonly string[] | null,
  index: MarkerIndex | null,
  everyRun: boolean,
): Promise<ListedLog> {
  const listed: ListedLog = { runs: [], snapshots: [], tombstones: [], note_log: [], index };
  for (const websiteId of websites ?? [undefined]) {
    // Runs before the markers, so that every run's snapshot is among them; tombstones after their commits.
    for (const table of LISTED) {
      const from = table === 'snapshots' || (table === 'runs' && !everyRun) ? index?.before : undefined;
      listed[table].push(...(await listTableFiles(warehouse, table, { websiteId, from })));
    }
  }
  return listed;
}

/** Copies the rows of some websites out of the index, so that no file that is read later holds rows of others. */
export async function ownIndex(
  engine: Engine,
  { before, files }: MarkerIndex,
  websites: readonly string[],
  temporary: string,
): Promise<MarkerIndex> {
  const copy = async (table: keyof MarkerIndex['files']) => {
    const file = join(temporary, `own-${table}.parquet`);
    const list = websites.map(literal).join(', ') || 'null';
    const all = `from read_parquet(${literal(files[table])}, hive_partitioning = false)`;
    await engine.copy(`${all} where website_id in (${list})`, file, 'format parquet');
    return file;
  };
  return { before, files: { snapshots: await copy('snapshots'), runs: await copy('runs') } };
}

/** Markers and tombstones, as far as they can be read. */
export interface ReadLog {
  /** Oldest commit first. */
  markers: Marker[];
  damaged: DamagedFile[];
  tombstones: Tombstone[];
  /** The files of the tombstones that can be read. */
  tombstoneFiles: string[];
}

/**
 * Reads the listed markers and tombstones of some websites, as far as they can be read.
 *
 * @param websiteIds whose snapshots are taken from the index, at least one; null: all
 * @throws EngineError if the index cannot be read
 */
export async function readListed(
  engine: Engine,
  warehouse: string,
  { index, snapshots, tombstones: files }: ListedLog,
  { websiteIds, isAsked }: { websiteIds: readonly string[] | null; isAsked: (websiteId: string) => boolean },
): Promise<ReadLog> {
  const own = (all: readonly string[]) => all.filter((file) => isAsked(websiteOf(file)));
  const indexed = index ? await markersIn(engine, warehouse, [index.files.snapshots], ofWebsites(websiteIds)) : [];
  const { markers, damaged } = await readMarkers(engine, warehouse, own(snapshots));
  const read = await readReadable(engine, 'tombstones', own(files), async (some) => {
    if (some.length === 0) return [];
    await checkRows(engine, some);
    const all = tableQuery('tombstones', some);
    return engine.rows(tombstoneRow, `${all} order by tombstone_id, table_name, snapshot_id`);
  });
  const there = [...indexed, ...markers].filter(({ websiteId }) => isAsked(websiteId));
  const owners = new Map(there.map(({ snapshotId, websiteId }) => [snapshotId, websiteId]));
  const foreign = read.value.filter((one) => (owners.get(one.snapshot_id) ?? one.website_id) !== one.website_id);
  const refused = new Set(foreign.map(({ tombstone_id }) => tombstone_id));
  const tombstones = read.value.filter(({ tombstone_id }) => !refused.has(tombstone_id));
  const others = read.readable
    .filter((file) => refused.has(basename(file, '.parquet')))
    .map((file) => damagedFile('tombstones', file, 'names a snapshot of another website'));
  return {
    markers: withoutDropped(there, tombstones).sort(byCommit),
    damaged: [...damaged, ...read.damaged, ...others],
    tombstones,
    tombstoneFiles: without(read.readable, others),
  };
}

function ofWebsites(ids: readonly string[] | null): string {
  return ids === null ? 'true' : `website_id in (${ids.map(literal).join(', ')})`;
}

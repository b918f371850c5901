import { rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { exists, makeFolder, sha256Of, syncPath, writeDurably } from '../../base/storage/durable.js';
import { withEngine } from '../../base/storage/engine.js';
import { checkWithin, removeWithin } from '../../base/storage/only-files.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { unfinishedJournals } from '../journal/folder.js';
import { findDamaged } from '../log/folder/damage.js';
import { listTableFiles, warehouseFolder } from '../log/folder/layout.js';
import { identityOf, parseIdentity, writeStamp } from '../log/folder/prepare.js';
import { LOOSE_TABLES } from '../log/folder/tables.js';
import { withRunLock } from '../log/lock.js';
import { openLog } from '../log/log.js';
import { dataFilesOf, newestMarkers, stateFileOf } from '../log/markers.js';
import { dropIndex } from '../log/update-index.js';
import { type Bucket, type BucketOptions, withBucket } from './client.js';
import { fileOfKey, foreignMarkers, idOfKey, keyOf, MARKERS, removeFromBucket } from './copy.js';
import { BucketError } from './errors.js';
import { checkOwner, OwnerError, otherWarehouse, takeOwnership } from './owner.js';

const AT_ONCE = 8;
/** The small tables of the log, in the order in which their files are put in place: none refers to a later one. */
const LOG_TABLES = ['tombstones', 'snapshots', 'runs', 'note_log'] as const;
/** What is set aside of a folder: the log, in one piece and first, and what is derived from it. */
const SET_ASIDE = ['parquet', 'runs', 'state', 'bucket-removal.json', 'indexhouse.duckdb'];

interface RestoreOptions {
  warehouse: string;
  /** Bytes, of DuckDB. */
  memoryLimit: number;
  /** Whether the folder becomes the owner of the bucket. */
  isTakenOver: boolean;
  env: NonNullable<BucketOptions['env']>;
}
type Place = Pick<RestoreOptions, 'warehouse' | 'memoryLimit'>;

/** What was fetched now. The names are those of `restore --json`. */
interface Fetched {
  /** Data files and states. */
  files: number;
  bytes: number;
  /** Keys of objects that are missing, or do not have the bytes of their commit. */
  damaged: string[];
}

/**
 * Fetches a warehouse from a bucket into a folder, which is made if it is missing. Takes the run lock. Can be repeated
 * after an interruption at any point.
 *
 * @returns also the folder below it with what only this folder had; null if the bucket holds no warehouse
 * @throws BusyError, BucketError; OwnerError if the folder is that of another warehouse
 */
export async function restoreInto(
  url: string,
  { isTakenOver, env, ...place }: RestoreOptions,
): Promise<(Fetched & { set_aside: string | null }) | null> {
  const { warehouse } = place;
  await makeFolder(warehouse);
  const { identity, incoming } = warehouseFolder(warehouse);
  const work = async (bucket: Bucket) => {
    const stored = await bucket.get('warehouse.json');
    if (stored === null) return null;
    const { id } = parseIdentity(stored.text) ?? {};
    if (id === undefined) throw new BucketError(`${bucket.url}/warehouse.json is damaged`);
    if ((await exists(identity)) && (await identityOf(warehouse)) !== id) throw otherWarehouse(bucket, warehouse);
    // Until it is gone, nothing syncs here.
    await makeFolder(incoming);
    const set_aside = isTakenOver ? await takeOver(bucket, warehouse) : null;
    const first = await fetchAll(bucket, place);
    // `maintain` or `remove` may have changed something since it was listed.
    const again = first.damaged.length > 0 ? await fetchAll(bucket, place) : null;
    await writeDurably(identity, stored.text);
    await removeWithin(warehouse, incoming);
    const { files, bytes } = first;
    return { ...first, ...(again && { ...again, files: files + again.files, bytes: bytes + again.bytes }), set_aside };
  };
  return withBucket(url, (bucket) => withRunLock(warehouse, 'restore', () => work(bucket)), { env });
}

/**
 * Makes a folder the owner of a bucket. Commits and unfinished runs that only the folder has are set aside first, unless
 * what the bucket has is all from here.
 *
 * @returns the folder of what was set aside
 * @throws BucketError; OwnerError if another folder takes it over at the same moment
 */
async function takeOver(bucket: Bucket, warehouse: string): Promise<string | null> {
  const isOwner = await checkOwner(bucket, warehouse).catch((error: unknown) => {
    if (error instanceof OwnerError) return false;
    throw error;
  });
  if (isOwner) await removeFromBucket(bucket, warehouse);
  else await rm(warehouseFolder(warehouse).bucketRemoval, { force: true });
  const keys = await bucket.keys(MARKERS);
  if (isOwner && (await foreignMarkers(keys, warehouse)).length === 0) return null;
  const setAside = await setAsideOwn(new Set(keys), warehouse);
  // Also of a folder whose copy, made with `cp`, has sent commits: only one of them owns the bucket from now on.
  await takeOwnership(bucket, warehouse);
  return setAside;
}

async function setAsideOwn(keys: ReadonlySet<string>, warehouse: string): Promise<string | null> {
  const files = await listTableFiles(warehouse, 'snapshots');
  const isAllThere = files.every((file) => keys.has(keyOf(warehouse, file)));
  if (isAllThere && (await unfinishedJournals(warehouse)).length === 0) return null;
  const folder = join('set-aside', new Date().toISOString().replaceAll(':', '-'));
  await makeFolder(join(warehouse, folder));
  for (const name of SET_ASIDE) {
    if (await exists(join(warehouse, name))) await rename(join(warehouse, name), join(warehouse, folder, name));
  }
  await syncPath(warehouse);
  return folder;
}

/**
 * Fetches what a folder lacks: data and states, each checked against its commit, and then the markers, so that no reader
 * sees half a commit. Objects that are damaged are left out and named: whoever needs them finds the file missing.
 */
async function fetchAll(bucket: Bucket, place: Place): Promise<Fetched> {
  const { warehouse } = place;
  const { incoming } = warehouseFolder(warehouse);
  await removeWithin(warehouse, join(incoming, 'parquet'));
  await writeStamp(warehouse);
  for (const table of LOG_TABLES) {
    await each(await bucket.keys(`parquet/${table}/`), (key) => fetchRow(bucket, key, incoming));
  }
  const { wanted, damaged } = await wantedIn(bucket, place);
  const fetched = { files: 0, bytes: 0, damaged };
  await each(wanted, async ({ file, sha256, isDerived }) => {
    if ((await exists(file)) && (await sha256Of(file)) === sha256) return;
    const key = keyOf(warehouse, file);
    checkWithin(warehouse, file);
    const bytes = await bucket.download(key, file, sha256);
    if (bytes === 'damaged' || (bytes === 'missing' && !isDerived)) damaged.push(key);
    if (typeof bytes !== 'number') return;
    fetched.files++;
    fetched.bytes += bytes;
  });
  await dropIndex(warehouse);
  for (const table of LOG_TABLES) {
    for (const file of await listTableFiles(incoming, table)) {
      const to = join(warehouse, relative(incoming, file));
      checkWithin(warehouse, to);
      await makeFolder(dirname(to));
      await rename(file, to);
    }
  }
  return fetched;
}

/** Fetches a row of the log to where it waits for its data. */
async function fetchRow(bucket: Bucket, key: string, incoming: string): Promise<void> {
  const file = fileOfKey(incoming, key);
  // Somebody else put it there.
  if (file === null) return;
  // All bytes, because the sum of the rows leaves out the statistics by which DuckDB skips rows.
  const bytes = await bucket.download(key, file, 'sent');
  // Whoever needs it must not take it for absent.
  if (bytes === 'damaged') await writeDurably(file, '');
}

/** The files that the fetched log names, each with its sum; and the keys of its own damaged ones. */
async function wantedIn(bucket: Bucket, { warehouse, memoryLimit }: Place) {
  const { incoming } = warehouseFolder(warehouse);
  const checkpoints = await bucket.keys('parquet/checkpoints/');
  return withTemporary('restore', (temporary) =>
    withEngine({ memoryLimit, temporary }, async (engine) => {
      const { markers, tombstones, damaged } = await openLog(engine, incoming, { temporary });
      const torn = [...damaged];
      for (const table of LOOSE_TABLES)
        torn.push(...(await findDamaged(engine, table, await listTableFiles(incoming, table))));
      const sums = new Map(tombstones.map((one) => [one.checkpoint_id, one.checkpoint_sha256]));
      // A state can be rebuilt from the data, so it may be missing.
      const want = (file: string | null, sha256: string | undefined, isDerived = false) =>
        file === null || sha256 === undefined ? [] : [{ file, sha256, isDerived }];
      const wanted = [
        ...checkpoints.flatMap((key) => want(fileOfKey(warehouse, key), sums.get(idOfKey(key)))),
        ...markers.flatMap((marker) =>
          dataFilesOf(warehouse, marker).flatMap(([table, file]) => want(file, marker.files[table]?.sha256)),
        ),
        ...newestMarkers(markers).flatMap((newest) =>
          want(stateFileOf(warehouse, newest), newest.files['page_state']?.sha256, true),
        ),
      ];
      return { wanted, damaged: torn.map(({ path }) => keyOf(incoming, path)) };
    }),
  );
}

/** Processes all items, several at once. After a failure no more are started, and it ends when the running ones have. */
async function each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const ended = await Promise.allSettled(all.slice(at, at + AT_ONCE).map(work));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  }
}

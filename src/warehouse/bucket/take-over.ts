import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { BucketConfig } from '../../base/config/bucket.js';
import { removeDatabase } from '../../base/storage/database-file.js';
import { exists, makeFolder, syncFolder } from '../../base/storage/durable.js';
import { unfinishedJournals } from '../journal/folder.js';
import { listTableFiles, warehouseFolder, websiteOf } from '../log/folder/layout.js';
import { identityOf, parseIdentity } from '../log/folder/prepare.js';
import { readRestored } from '../log/folder/restored.js';
import { withRunLock } from '../log/lock.js';
import { dropIndex } from '../log/marker-index.js';
import { type Bucket, type BucketOptions, withBucket } from './client.js';
import { BucketError } from './errors.js';
import { idOfKey } from './keys.js';
import { commitsIn, LeaseError, unknownMarkers, WriterLease } from './lease.js';
import { type FetchOptions, type RestoredFiles, restore } from './restore.js';

/** What is set aside of a folder: the log, in one piece and first, and what is derived from it. */
const SET_ASIDE = ['parquet', 'runs', 'state', 'restored.json', 'bucket-removal.json', 'indexhouse.duckdb'];

interface RestoreWanted extends FetchOptions {
  warehouse: string;
  /** Whether the folder becomes the bucket's writer. */
  isTakenOver: boolean;
  env: NonNullable<BucketOptions['env']>;
}

/**
 * Fetches a warehouse from a bucket into a folder, which is made if it is missing. Takes the run lock.
 *
 * @returns null if the bucket holds no warehouse
 * @throws BusyError, BucketError; LeaseError if the bucket holds another warehouse than the folder that takes it over
 */
export async function restoreInto(
  config: BucketConfig,
  { warehouse, isTakenOver, env, ...options }: RestoreWanted,
): Promise<(RestoredFiles & { set_aside?: string | null }) | null> {
  await makeFolder(warehouse);
  return withBucket(
    config,
    (bucket) =>
      withRunLock(warehouse, 'restore', async () => {
        await dropIndex(warehouse);
        const before = await readRestored(warehouse);
        const fetched = await (isTakenOver ? takeOver : restore)(bucket, warehouse, options);
        // It lacks the rows of what came now: the next sync makes it again.
        if (fetched && before && fetched.history_from !== before.history_from)
          await removeDatabase(warehouseFolder(warehouse).database);
        return fetched;
      }),
    { env },
  );
}

export interface TakenOver extends RestoredFiles {
  /** The folder below the warehouse with what only this machine had; null if it had nothing of its own. */
  set_aside: string | null;
}

/**
 * Makes a folder the writer of its bucket: fetches what it lacks, takes the lease, and fetches what was committed
 * meanwhile. Commits and unfinished runs that only the folder has are set aside first, because nothing that the bucket
 * holds follows from them. Can be repeated after an interruption at any point.
 *
 * @returns null if the bucket holds no warehouse
 * @throws LeaseError if it holds another one; BucketError
 */
export async function takeOver(
  bucket: Bucket,
  warehouse: string,
  options: FetchOptions,
  now = new Date(),
): Promise<TakenOver | null> {
  const stored = await bucket.get('warehouse.json');
  if (stored === null) return null;
  const data = parseIdentity(String(stored.body));
  if (!data) throw new BucketError(`${bucket.url}/warehouse.json is damaged`);
  if ((await exists(warehouseFolder(warehouse).identity)) && (await identityOf(warehouse)) !== data.id)
    throw new LeaseError(`${bucket.url} holds another warehouse than ${warehouse}: nothing was changed`);
  const lease = await WriterLease.of(bucket, warehouse, data.id);
  const holder = await lease.holder();
  if (holder?.lease && lease.isMine(holder.lease)) {
    await removeLate(bucket, warehouse);
    const fetched = await restore(bucket, warehouse, options);
    return fetched && { ...fetched, set_aside: null };
  }
  const setAside = await setAsideOwn(bucket, warehouse, now);
  const before = await restore(bucket, warehouse, options);
  await lease.takeOver();
  const after = await restore(bucket, warehouse, options);
  if (!before || !after) throw new BucketError(`${bucket.url}/warehouse.json has gone`);
  const files = before.files + after.files;
  return { ...after, files, bytes: before.bytes + after.bytes, set_aside: setAside };
}

/** Removes markers of the writer before this one that arrived after this one's next commit. */
async function removeLate(bucket: Bucket, warehouse: string): Promise<void> {
  const newest = new Map<string, string>();
  for (const file of await listTableFiles(warehouse, 'snapshots')) {
    const [website, id] = [websiteOf(file), idOfKey(file)];
    if (id > (newest.get(website) ?? '')) newest.set(website, id);
  }
  for (const key of await unknownMarkers(bucket, warehouse)) {
    if (idOfKey(key) < (newest.get(websiteOf(key.replaceAll('!', '%'))) ?? '')) await bucket.remove(key);
  }
}

async function setAsideOwn(bucket: Bucket, warehouse: string, now: Date): Promise<string | null> {
  const known = await commitsIn(bucket);
  const files = await listTableFiles(warehouse, 'snapshots');
  const unfinished = await unfinishedJournals(warehouse);
  if (unfinished.length === 0 && files.every((file) => known.has(idOfKey(file)))) return null;
  const folder = join('set-aside', now.toISOString().replaceAll(':', '-'));
  await makeFolder(join(warehouse, folder));
  for (const name of SET_ASIDE) {
    if (await exists(join(warehouse, name))) await rename(join(warehouse, name), join(warehouse, folder, name));
  }
  await syncFolder(warehouse);
  return folder;
}

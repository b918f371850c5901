import { rm, utimes } from 'node:fs/promises';
import { Failure } from '../exit.js';
import { exists, readIfThere, sizeOf, writeDurably } from '../storage/durable.js';
import { waitingForLock } from '../storage/locks.js';
import { withTemporary } from '../storage/temporary.js';
import { listTableFiles, warehouseFolder } from '../warehouse/layout.js';
import { RunLock } from '../warehouse/lock.js';
import { dropIndex, makeRoom, updateIndex } from '../warehouse/marker-index.js';
import { writeSchemas } from '../warehouse/prepare.js';
import type { Bucket } from './client.js';
import { each, fetchFile, place, removeLeft } from './downloads.js';
import { fileOfKey, idOfKey } from './keys.js';
import type { Listed } from './listing.js';
import { dateOf, listed, newestStates, websiteOf } from './restore.js';

/** Listed in this order and put in place in reverse, so that no listed object refers to one that is missing. */
const TABLES = ['runs', 'replays', 'snapshots', 'tombstones'] as const;
const PREFIXES = TABLES.map((table) => `parquet/${table}/`);
const COMMIT = /^parquet\/(snapshots|replays)\//;
/** Keys of what the index of old markers holds. */
const INDEXED = /^parquet\/(snapshots|runs)\//;
const LOOK_FOR_LOCK_MS = 50;

/**
 * Makes the markers, runs and tombstones in a folder equal to those of a bucket, without fetching data or states.
 * Removes what the bucket no longer has.
 *
 * @param waitMs how long to wait for another process that is fetching
 * @throws BucketError; Failure if the bucket holds no warehouse; BusyError if another process fetches for longer
 */
export async function fetchLog(
  bucket: Bucket,
  { folder, memoryLimit, waitMs }: { folder: string; memoryLimit: number; waitMs: number },
): Promise<void> {
  // Another process may be fetching the same.
  const wait = { withinMs: waitMs, everyMs: LOOK_FOR_LOCK_MS };
  const lock = await waitingForLock(() => RunLock.take(folder, `reading ${bucket.url}`), wait);
  try {
    const identity = await bucket.get('warehouse.json');
    if (identity === null)
      throw new Failure(`there is no warehouse at ${bucket.url}: check the address and its prefix`);
    const { cacheOf, identity: file } = warehouseFolder(folder);
    if (!(await exists(cacheOf))) await writeDurably(cacheOf, `${bucket.url}\n`);
    await removeLeft(folder);
    await writeSchemas(folder, memoryLimit);
    await fetchNew(bucket, folder);
    await withTemporary('index', (temporary) => updateIndex(folder, { memoryLimit, temporary }, Date.now()));
    if ((await readIfThere(file)) !== String(identity.body)) await writeDurably(file, identity.body);
    // Its time records when the bucket was last read.
    await utimes(file, new Date(), new Date());
  } finally {
    lock.release();
  }
}

async function fetchNew(bucket: Bucket, folder: string): Promise<void> {
  const there = (await Promise.all(TABLES.map((table) => listTableFiles(folder, table)))).flat();
  const objects = new Map<string, Listed>();
  for (const object of await listed(bucket, PREFIXES)) {
    const file = fileOfKey(folder, object.key);
    if (file?.endsWith('.parquet')) objects.set(file, object);
  }
  const lacking: { file: string; key: string; fetched: string | null }[] = [];
  for (const [file, { key, size }] of objects) {
    if ((await sizeOf(file)) !== size) lacking.push({ file, key, fetched: null });
  }
  // Nobody reads the folder before the first fetch has completed, so files are put in place one by one, and an
  // interrupted fetch can resume.
  const isFirst = !(await exists(warehouseFolder(folder).identity));
  await each(lacking, async (one) => {
    one.fetched = await fetchFile(bucket, folder, one.key);
    if (isFirst && one.fetched !== null) await place(one.fetched, one.file);
  });
  if (lacking.some(({ key }) => COMMIT.test(key))) await fetchCheckpoints(bucket, folder, [...objects.values()]);
  const gone = there.filter((file) => !objects.has(file));
  const isReplaced = lacking.some(({ file }) => there.includes(file));
  if (gone.length > 0 || isReplaced) await dropIndex(folder);
  const [oldest] = lacking.flatMap(({ key }) => (INDEXED.test(key) ? [dateOf(key)] : [])).sort();
  if (oldest) await makeRoom(folder, oldest);
  if (!isFirst) for (const { fetched, file } of lacking.sort(inOrder)) if (fetched !== null) await place(fetched, file);
  for (const file of gone) await rm(file, { force: true });
}

/** Tables in the reverse order of `TABLES`, each from its oldest row on. */
function inOrder(a: { key: string }, b: { key: string }): number {
  const rank = ({ key }: { key: string }) => PREFIXES.findIndex((prefix) => key.startsWith(prefix));
  return rank(b) - rank(a) || (idOfKey(a.key) < idOfKey(b.key) ? -1 : 1);
}

/**
 * Fetches the checkpoints of websites without their newest state: rebuilding it needs the checkpoint that replaces
 * removed data.
 */
async function fetchCheckpoints(bucket: Bucket, folder: string, markers: readonly Listed[]): Promise<void> {
  const states = newestStates(await listed(bucket, ['state/']), markers);
  const commits = markers.filter(({ key }) => COMMIT.test(key));
  const websites = new Set(commits.map(({ key }) => websiteOf(key)).filter((website) => !states.has(website)));
  const prefixes = [...websites].map((website) => `parquet/checkpoints/${website}/`);
  await each(await listed(bucket, prefixes), async ({ key, size }) => {
    const file = fileOfKey(folder, key);
    if (file === null || (await sizeOf(file)) === size) return;
    const fetched = await fetchFile(bucket, folder, key);
    if (fetched !== null) await place(fetched, file);
  });
}

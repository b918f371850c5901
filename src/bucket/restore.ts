import { copyFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { exists, makeFolder, publish, sizeOf, syncFile } from '../storage/durable.js';
import { warehouseFolder } from '../warehouse/layout.js';
import { writeRestored } from '../warehouse/restored.js';
import { DATA_TABLES } from '../warehouse/tables.js';
import type { Bucket } from './client.js';
import { each } from './downloads.js';
import { fileOfKey, idOfKey } from './keys.js';
import type { Listed } from './listing.js';

const DATA = DATA_TABLES.map((table) => `parquet/${table}/`);
const MARKERS = ['parquet/tombstones/', 'parquet/replays/', 'parquet/snapshots/', 'parquet/runs/'];

export interface Fetched {
  /** Files fetched now. */
  files: number;
  bytes: number;
  /** Files that were already there. */
  unchanged: number;
  /** Data files that were left in the bucket. */
  left: number;
}

/**
 * Fetches the commits that a folder lacks, in the order in which they are written: data, then states, then markers. Can
 * be repeated after an interruption at any point.
 *
 * @param historyFrom data files of earlier dates are left in the bucket, `YYYY-MM-DD`; null: none are
 * @throws BucketError
 */
async function fetchCommits(bucket: Bucket, warehouse: string, historyFrom: string | null): Promise<Fetched> {
  const fetched: Fetched = { files: 0, bytes: 0, unchanged: 0, left: 0 };
  const fetchAll = (objects: readonly Listed[]) =>
    each(objects, (object) => fetchOne(bucket, warehouse, object, fetched));
  // Listed before the data, so that the data of every listed marker exist.
  const markers = await listed(bucket, MARKERS);
  const states = newestStates(await listed(bucket, ['state/']), markers);
  const data = await listed(bucket, DATA);
  // A website without its newest state needs all of its data to rebuild it.
  const isWithin = ({ key }: Listed) =>
    historyFrom === null || dateOf(key) >= historyFrom || !states.has(websiteOf(key));
  for (const one of data) {
    if (!isWithin(one) && !(await exists(fileOfKey(warehouse, one.key) ?? ''))) fetched.left++;
  }
  if (fetched.left > 0) await writeRestored(warehouse, { from: bucket.url, history_from: historyFrom ?? '' });
  await fetchAll(data.filter(isWithin));
  await fetchAll(await listed(bucket, ['parquet/checkpoints/']));
  await fetchAll([...states.values()]);
  if (fetched.left > 0) for (const state of states.values()) await keepAsCheckpoint(warehouse, state.key, markers);
  for (const prefix of MARKERS) await fetchAll(markers.filter(({ key }) => key.startsWith(prefix)));
  return fetched;
}

/**
 * Fetches a warehouse into a folder that has none. `warehouse.json` comes last and says that it is complete.
 *
 * @returns null if the bucket holds none
 * @throws BucketError
 */
export async function restore(bucket: Bucket, warehouse: string, historyFrom: string | null): Promise<Fetched | null> {
  if ((await bucket.get('warehouse.json')) === null) return null;
  await makeFolder(warehouse);
  const fetched = await fetchCommits(bucket, warehouse, historyFrom);
  const { identity: file, restored } = warehouseFolder(warehouse);
  if (fetched.left === 0) await rm(restored, { force: true });
  await bucket.download('warehouse.json', file);
  return fetched;
}

/** All objects below these prefixes, in the order of the prefixes. */
export async function listed(bucket: Bucket, prefixes: readonly string[]): Promise<Listed[]> {
  const objects: Listed[] = [];
  for (const prefix of prefixes) for await (const object of bucket.list(prefix)) objects.push(object);
  return objects;
}

/** By website: the state after its newest commit, if the bucket has it. */
export function newestStates(states: readonly Listed[], markers: readonly Listed[]): Map<string, Listed> {
  const newest = new Map<string, string>();
  for (const { key } of markers.filter((marker) => /^parquet\/(snapshots|replays)\//.test(marker.key))) {
    const [website, id] = [websiteOf(key), idOfKey(key)];
    if (id > (newest.get(website) ?? '')) newest.set(website, id);
  }
  const current = states.filter(({ key }) => newest.get(websiteOf(key)) === idOfKey(key));
  return new Map(current.map((state) => [websiteOf(state.key), state]));
}

async function fetchOne(bucket: Bucket, warehouse: string, { key, size }: Listed, fetched: Fetched): Promise<void> {
  const file = fileOfKey(warehouse, key);
  // Not a file of the warehouse: somebody else put it there.
  if (file === null) return;
  if (size > 0 && (await sizeOf(file)) === size) {
    fetched.unchanged++;
    return;
  }
  // Retention may have removed it since it was listed, as its tombstone shows.
  if (!(await bucket.download(key, file))) return;
  fetched.files++;
  fetched.bytes += size;
}

/**
 * Keeps a state as a checkpoint, like `maintain` does for removed files, because what it is derived from stays in the
 * bucket.
 */
async function keepAsCheckpoint(warehouse: string, key: string, markers: readonly Listed[]): Promise<void> {
  const marker = markers.find((one) => idOfKey(one.key) === idOfKey(key) && !one.key.startsWith('parquet/runs/'));
  const [from, to] = [key, marker?.key.replace(/^parquet\/\w+\//, 'parquet/checkpoints/')].map((one) =>
    fileOfKey(warehouse, one ?? ''),
  );
  if (!from || !to || (await exists(to))) return;
  await makeFolder(dirname(to));
  await copyFile(from, `${to}.tmp`);
  await syncFile(`${to}.tmp`);
  await publish(`${to}.tmp`, to);
}

export function websiteOf(key: string): string {
  return /\/(website=[^/]+)\//.exec(key)?.[1] ?? '';
}

export function dateOf(key: string): string {
  return /\/date=([^/]+)\//.exec(key)?.[1] ?? '';
}

import { rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { messageOf } from '../../base/exit.js';
import { counted } from '../../base/observe/format.js';
import { crashPoint } from '../../base/storage/crash-point.js';
import { exists, sha256Of } from '../../base/storage/durable.js';
import type { EngineOptions } from '../../base/storage/engine.js';
import { type Compared, catchUp, type Follower, type LogCopy, lagging } from '../copies/follower.js';
import { GRACE_MS } from '../log/commit.js';
import { listTableFiles, warehouseFolder, warehousePath } from '../log/folder/layout.js';
import { LOOSE_TABLES, THINNED_TABLES } from '../log/folder/tables.js';
import type { Log } from '../log/log.js';
import { dataFilesOf, lackingIn, type Marker } from '../log/markers.js';
import { readBucketRemoval } from '../removal/steps.js';
import { AWAITED, type Bucket, type BucketOptions, withBucket } from './client.js';
import { checkOwner, OwnerError, own, sendIdentity } from './owner.js';

/** The key of a file: its path in the warehouse. */
export function keyOf(warehouse: string, file: string): string {
  return pathKey(relative(warehouse, file).split(sep).join('/'));
}

/**
 * A path of a warehouse as a key: with `!` for each `%` of an encoded id, because some servers leave keys with `%` out of
 * their listings, or decode them. No path of a warehouse has a `!` of its own.
 */
export function pathKey(path: string): string {
  return path.replaceAll('%', '!');
}

/** The file that a key stands for; null if it is not a path of a warehouse. */
export function fileOfKey(warehouse: string, key: string): string | null {
  const path = key.replaceAll('!', '%');
  return path === 'warehouse.json' || warehousePath.test(path) ? join(warehouse, path) : null;
}

/** `…/<id>.parquet` */
export function idOfKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1).replace(/\.parquet$/, '');
}

/** Where the markers are. */
export const MARKERS = 'parquet/snapshots/';
/** States and checkpoints kept per website: a restore that has just begun may still fetch the older one. */
const KEPT = 2;

/** The bucket of the configuration as a follower of the log, opened whenever it is needed. */
export function bucketFollower(url: string): Follower {
  const name = 'bucket';
  const withCopy = <T>({ path }: Log, work: (copy: BucketCopy) => Promise<T>, options: BucketOptions = {}) =>
    withBucket(url, (bucket) => work(new BucketCopy(bucket, path)), options);
  return {
    name,
    follow: (log, engine) => withCopy(log, (copy) => catchUp(copy, log, engine)),
    async lag(log) {
      const lag = { name, held: null };
      try {
        const known = await withCopy(log, (copy) => copy.known(), AWAITED);
        return { ...lag, behind: lackingIn(known, log.markers).length, exact: true, error: null };
      } catch (error) {
        return { ...lag, behind: log.markers.length, exact: false, error: messageOf(error) };
      }
    },
    async lost({ path }) {
      const foreign = withBucket(url, async (bucket) => {
        return (await checkOwner(bucket, path)) ? foreignMarkers(await bucket.keys(MARKERS), path) : [];
      });
      // The comparison says why it cannot be asked.
      return (await foreign.catch(() => [])).map((key) => ({
        ...{ level: 'difference', id: idOfKey(key), remedy: '`indexhouse restore --take-over` fetches it' },
        message: `${path} lacks a snapshot that is in the bucket: ${url}/${key}`,
      }));
    },
    async compare(log, engine, { repair }) {
      try {
        return await withCopy(log, (copy) => copy.compare(log, engine, repair));
      } catch (error) {
        const message = `the bucket cannot be compared: ${messageOf(error)}`;
        return { differences: [lagging(message, 'the warehouse itself is not affected')], repaired: [] };
      }
    },
  };
}

/** The bucket as a copy of the log. Its keys are the paths of the warehouse. */
export class BucketCopy implements LogCopy {
  readonly name = 'bucket';

  constructor(
    private readonly bucket: Bucket,
    private readonly warehouse: string,
    private readonly now: () => number = Date.now,
  ) {}

  /** @throws OwnerError if it belongs to another folder, or has commits that this one lacks: nothing here follows them */
  async known(): Promise<ReadonlySet<string>> {
    const { warehouse } = this;
    await checkOwner(this.bucket, warehouse);
    const keys = await this.bucket.keys(MARKERS);
    const [foreign, ...more] = await foreignMarkers(keys, warehouse);
    if (foreign === undefined) return new Set(keys.map(idOfKey));
    const many = counted(more.length + 1, 'commit');
    throw new OwnerError(
      `${this.bucket.url} has ${many} that ${warehouse} does not have, such as ${idOfKey(foreign)}: ` +
        '`indexhouse restore --take-over` fetches them, and sets aside what only this folder has',
    );
  }

  async take(marker: Marker, state: string | null): Promise<void> {
    const data = dataFilesOf(this.warehouse, marker);
    await Promise.all(data.map(([table, file]) => this.#send({ file, sha256: marker.files[table]?.sha256 })));
    crashPoint('sent the data');
    // One that was rebuilt may have other bytes than the commit names: whoever restores it then rebuilds it, too.
    const { sha256 } = marker.files['page_state'] ?? {};
    if (state !== null && (await sha256Of(state)) === sha256) await this.#send({ file: state, sha256 });
    crashPoint('sent the state');
    await checkOwner(this.bucket, this.warehouse);
    await this.#send({ file: marker.path });
    crashPoint('sent the marker');
  }

  /**
   * Sends the checkpoint before the tombstone that requires it, and deletes the data that the tombstone puts out of use
   * an hour later, so that a restore that has already started can finish.
   */
  async drop({ path, tombstones, tombstoneFiles }: Log): Promise<void> {
    await own(this.bucket, path);
    await sendIdentity(this.bucket, path);
    await removeFromBucket(this.bucket, path);
    if (tombstoneFiles.length === 0) return;
    const there = await this.bucket.list('parquet/tombstones/');
    const known = there.filter(({ modified }) => this.now() - Date.parse(modified) >= GRACE_MS);
    const old = new Set(known.map(({ key }) => idOfKey(key)));
    await this.#sendLacking('parquet/checkpoints/', await listTableFiles(path, 'checkpoints'));
    await this.#sendLacking('parquet/tombstones/', tombstoneFiles);
    crashPoint('sent the tombstones');
    const due = tombstones.filter(({ tombstone_id }) => old.has(tombstone_id));
    const gone = new Set(due.map(({ table_name, snapshot_id }) => `${table_name} ${snapshot_id}`));
    for (const table of THINNED_TABLES) {
      const keys = await this.bucket.keys(`parquet/${table}/`);
      for (const key of keys) if (gone.has(`${table} ${idOfKey(key)}`)) await this.bucket.remove(key);
    }
    await this.#removeSuperseded('parquet/checkpoints/');
  }

  async finish(log: Log): Promise<string[]> {
    for (const table of LOOSE_TABLES) await this.#sendLacking(`parquet/${table}/`, log.files(table));
    crashPoint('sent the runs');
    await this.#removeSuperseded('state/');
    return [];
  }

  /**
   * Fetches every object and compares its bytes: what a listing says of them may be what they once were.
   *
   * @param repair removes what differs, so that the next sync sends it again
   */
  async compare(log: Log, engine: EngineOptions, repair: boolean): Promise<Compared> {
    const { path, markers } = log;
    const { url } = this.bucket;
    const lacked = lackingIn(await this.known(), markers).length;
    const differences = lacked > 0 ? [lagging(`${url}: ${counted(lacked, 'snapshot')} behind`)] : [];
    const repaired: string[] = [];
    const differs = async (key: string, what: string, keys: readonly string[]) => {
      const message = `${url}/${key} ${what}`;
      const remedy = '`indexhouse verify --repair` lets the next sync send it again';
      if (!repair) return void differences.push({ level: 'difference', message, remedy });
      for (const each of keys) await this.bucket.remove(each);
      repaired.push(`removed what differs (${message}); the next sync copies it again`);
    };
    const byId = new Map(markers.map((marker) => [marker.snapshotId, marker]));
    const there = new Set<string>();
    for (const prefix of ['warehouse.json', 'parquet/', 'state/']) {
      for (const key of await this.bucket.keys(prefix)) {
        there.add(key);
        const file = fileOfKey(path, key);
        // What only the bucket has was left there by an interrupted sync.
        if (file === null || !(await exists(file))) continue;
        const fetched = join(engine.temporary, 'fetched');
        if ((await this.bucket.download(key, fetched, await sha256Of(file))) !== 'damaged') continue;
        const marker = key.startsWith('parquet/runs/') ? undefined : byId.get(idOfKey(key));
        await differs(key, 'has other bytes', marker ? [keyOf(path, marker.path), key] : [key]);
      }
    }
    for (const marker of markers.filter((one) => there.has(keyOf(path, one.path)))) {
      for (const key of dataFilesOf(path, marker).map(([, file]) => keyOf(path, file))) {
        if (!there.has(key)) await differs(key, 'is missing', [keyOf(path, marker.path)]);
      }
    }
    for (const table of LOOSE_TABLES) {
      const lacking = log.files(table).filter((file) => !there.has(keyOf(path, file))).length;
      if (lacking > 0) differences.push(lagging(`${url} lacks ${counted(lacking, 'row')} of ${table}`));
    }
    return { differences, repaired };
  }

  async #send(content: { file: string; sha256?: string | undefined }): Promise<void> {
    await this.bucket.put(keyOf(this.warehouse, content.file), content);
  }

  async #sendLacking(prefix: string, files: readonly string[]): Promise<void> {
    const there = new Set(await this.bucket.keys(prefix));
    for (const file of files) {
      const key = keyOf(this.warehouse, file);
      if (!there.has(key)) await this.#send({ file });
    }
  }

  async #removeSuperseded(prefix: string): Promise<void> {
    const newestFirst = (await this.bucket.keys(prefix)).sort((a, b) => (idOfKey(a) > idOfKey(b) ? -1 : 1));
    const kept = new Map<string, number>();
    for (const key of newestFirst) {
      const [website = ''] = key.slice(prefix.length).split('/');
      const newer = kept.get(website) ?? 0;
      kept.set(website, newer + 1);
      if (newer >= KEPT) await this.bucket.remove(key);
    }
  }
}

/** Of the markers in a bucket, those that the folder lacks, but for what `indexhouse remove` took out of it. */
export async function foreignMarkers(keys: readonly string[], warehouse: string): Promise<string[]> {
  const here = new Set((await listTableFiles(warehouse, 'snapshots')).map((file) => keyOf(warehouse, file)));
  const removed = (await readBucketRemoval(warehouse)).map(pathKey);
  const isRemoved = (key: string) => removed.some((path) => key.startsWith(`${path}/`));
  return keys.filter((key) => !here.has(key) && !isRemoved(key));
}

/** Follows `indexhouse remove`. Can be repeated after an interruption at any point. */
export async function removeFromBucket(bucket: Bucket, warehouse: string): Promise<void> {
  for (const path of await readBucketRemoval(warehouse)) {
    // A website that was removed may be back: its new files are sent as those of any commit.
    for (const key of await bucket.keys(`${pathKey(path)}/`)) await bucket.remove(key);
  }
  await rm(warehouseFolder(warehouse).bucketRemoval, { force: true });
}

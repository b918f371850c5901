import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BucketConfig } from '../../base/config/bucket.js';
import { counted } from '../../base/observe/format.js';
import { crashPoint } from '../../base/storage/crash-point.js';
import { exists, md5Of, sha256Of, sizeOf } from '../../base/storage/durable.js';
import type { EngineOptions } from '../../base/storage/engine.js';
import { type CheckedCopy, type Commit, type Difference, lagging } from '../copies/follower.js';
import { GRACE_MS } from '../log/commit.js';
import { listTableFiles, namesIn, warehouseFolder } from '../log/folder/layout.js';
import { LOOSE_TABLES, THINNED_TABLES } from '../log/folder/tables.js';
import type { Log } from '../log/log.js';
import { dataFilesOf } from '../log/markers.js';
import { readBucketRemoval } from '../removal/steps.js';
import type { Bucket } from './client.js';
import { fileOfKey, idOfKey, keyOf, pathKey } from './keys.js';
import { commitsIn, sendIdentity, withBucketOf } from './lease.js';

/** States and checkpoints kept per website: a restore that has just begun may still fetch the older one. */
const KEPT = 2;

/** Opens the bucket of the configuration as a copy of the log. @throws BucketError */
export function withBucketCopy<T>(
  config: BucketConfig,
  log: Log,
  work: (copy: CheckedCopy) => Promise<T>,
  isAwaited = false,
): Promise<T> {
  return withBucketOf(log.path, config, (bucket) => work(new BucketCopy(bucket, log)), isAwaited);
}

/** The bucket as a copy of the log. Its keys are the paths of the warehouse. */
export class BucketCopy implements CheckedCopy {
  readonly title: string;

  constructor(
    private readonly bucket: Bucket,
    private readonly log: Pick<Log, 'path' | 'markers' | 'damaged'>,
    private readonly now: () => number = Date.now,
  ) {
    this.title = bucket.url;
  }

  known(): Promise<ReadonlySet<string>> {
    return commitsIn(this.bucket);
  }

  async take({ marker, state }: Commit): Promise<void> {
    const data = dataFilesOf(this.log.path, marker);
    await Promise.all(data.map(([table, file]) => this.#send({ file, sha256: marker.files[table]?.sha256 })));
    crashPoint('sent the data');
    // One that was rebuilt may have other bytes than the commit names: readers then rebuild it, too.
    const { sha256 } = marker.files['page_state'] ?? {};
    if (state !== null && (await sha256Of(state)) === sha256) await this.#send({ file: state, sha256 });
    crashPoint('sent the state');
    await this.#send({ file: marker.path });
    crashPoint('sent the marker');
  }

  /**
   * Sends the checkpoint before the tombstone that requires it, and deletes the data that the tombstone puts out of use
   * an hour later, so that readers that have already started can finish.
   */
  async drop({ path, tombstones, tombstoneFiles }: Log): Promise<void> {
    await sendIdentity(this.bucket, path);
    await this.#removeForGood();
    if (tombstoneFiles.length === 0) return;
    const old = new Set<string>();
    for await (const { key, modified } of this.bucket.list('parquet/tombstones/')) {
      if (this.now() - Date.parse(modified) >= GRACE_MS) old.add(idOfKey(key));
    }
    await this.#sendLacking('parquet/checkpoints/', await listTableFiles(path, 'checkpoints'));
    await this.#sendLacking('parquet/tombstones/', tombstoneFiles);
    crashPoint('sent the tombstones');
    // Files that a restored warehouse lacks have no tombstone, and are kept here.
    const due = tombstones.filter(({ tombstone_id }) => old.has(tombstone_id));
    const gone = new Set(due.map(({ table_name, snapshot_id }) => `${table_name} ${snapshot_id}`));
    for (const table of THINNED_TABLES) {
      const keys = await this.bucket.keys(`parquet/${table}/`);
      for (const key of keys) if (gone.has(`${table} ${idOfKey(key)}`)) await this.bucket.remove(key);
    }
    await this.#removeSuperseded('parquet/checkpoints/');
  }

  async finish(log: Log): Promise<string[]> {
    for (const [table] of LOOSE_TABLES) await this.#sendLacking(`parquet/${table}/`, log.files(table));
    crashPoint('sent the runs');
    await this.#sendSchemas(join(log.path, 'schema'));
    await this.#removeSuperseded('state/');
    return [];
  }

  /** Fetches every object and compares its bytes: what a listing says of them may be what they once were. */
  async differences(log: Log, engine: EngineOptions): Promise<Difference[]> {
    const { path, markers } = log;
    const differences: Difference[] = [];
    const differs = (key: string, what: string, keys = [key]) => {
      const remove = async () => {
        for (const each of keys) await this.bucket.remove(each);
      };
      const remedy = '`indexhouse verify --repair` lets the next sync send it again';
      differences.push({ level: 'difference', message: `${this.title}/${key} ${what}`, remedy, remove });
    };
    const byId = new Map(markers.map((marker) => [marker.snapshotId, marker]));
    const there = new Set<string>();
    const fetched = join(engine.temporary, 'fetched');
    for (const prefix of ['warehouse.json', 'parquet/', 'state/']) {
      for await (const { key, size } of this.bucket.list(prefix)) {
        there.add(key);
        const file = fileOfKey(path, key);
        // What only the bucket has was left there, or comes from another machine.
        if (file === null || !(await exists(file))) continue;
        const marker = key.startsWith('parquet/runs/') ? undefined : byId.get(idOfKey(key));
        const keys = marker ? [keyOf(path, marker.path), key] : [key];
        if (size !== (await sizeOf(file))) differs(key, `has ${size} bytes instead of ${await sizeOf(file)}`, keys);
        else if (
          (await this.bucket.download(key, fetched)) !== null &&
          (await sha256Of(fetched)) !== (await sha256Of(file))
        )
          differs(key, 'has other bytes', keys);
      }
    }
    for (const marker of markers.filter((one) => there.has(keyOf(path, one.path)))) {
      for (const [, file] of dataFilesOf(path, marker)) {
        const key = keyOf(path, file);
        if (!there.has(key)) differs(key, 'is missing', [keyOf(path, marker.path)]);
      }
    }
    for (const [table] of LOOSE_TABLES) {
      const lacking = log.files(table).filter((file) => !there.has(keyOf(path, file))).length;
      if (lacking > 0) differences.push(lagging(`${this.title} lacks ${counted(lacking, 'row')} of ${table}`));
    }
    const others = [...there].filter((key) => isMarker(key) && !byId.has(idOfKey(key))).length;
    if (others > 0) {
      const message = `${this.title} holds commits that are not here: ${others}`;
      differences.push({ level: 'note', message, remedy: '`indexhouse restore --take-over` fetches them' });
    }
    return differences;
  }

  /** Follows `indexhouse remove`. Can be repeated after an interruption at any point. */
  async #removeForGood(): Promise<void> {
    const { path: warehouse } = this.log;
    for (const path of await readBucketRemoval(warehouse)) {
      // A website that was removed may be back: its new files are sent as those of any commit.
      for (const key of await this.bucket.keys(`${pathKey(path)}/`)) await this.bucket.remove(key);
    }
    await rm(warehouseFolder(warehouse).bucketRemoval, { force: true });
  }

  async #send(content: { file: string; sha256?: string | undefined }): Promise<void> {
    await this.bucket.put(keyOf(this.log.path, content.file), content);
  }

  async #sendLacking(prefix: string, files: readonly string[]): Promise<void> {
    const there = new Set(await this.bucket.keys(prefix));
    for (const file of files) {
      const key = keyOf(this.log.path, file);
      if (!there.has(key)) await this.#send({ file });
    }
  }

  /** These change with the version. */
  async #sendSchemas(folder: string): Promise<void> {
    const there = new Map<string, string>();
    for await (const { key, etag } of this.bucket.list('schema/')) there.set(key, etag);
    for (const name of await namesIn(folder)) {
      const [key, file] = [`schema/${name}`, join(folder, name)];
      if (there.get(key) !== (await md5Of(file))) await this.bucket.put(key, { file }, { ifAbsent: false });
    }
  }

  async #removeSuperseded(prefix: string): Promise<void> {
    const byWebsite = new Map<string, string[]>();
    for (const key of await this.bucket.keys(prefix)) {
      const website = key.slice(prefix.length).split('/')[0] ?? '';
      byWebsite.set(website, [...(byWebsite.get(website) ?? []), key]);
    }
    for (const keys of byWebsite.values()) {
      const oldestFirst = keys.sort((a, b) => (idOfKey(a) < idOfKey(b) ? -1 : 1));
      for (const key of oldestFirst.slice(0, -KEPT)) await this.bucket.remove(key);
    }
  }
}

function isMarker(key: string): boolean {
  return key.startsWith('parquet/snapshots/');
}

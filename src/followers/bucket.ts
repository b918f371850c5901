import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimPlace } from '../bucket/claims.js';
import { type Bucket, type BucketOptions, withBucket } from '../bucket/client.js';
import { BucketError } from '../bucket/errors.js';
import { removeEnded } from '../bucket/journals.js';
import { idOfKey, keyOf } from '../bucket/keys.js';
import type { BucketConfig } from '../config/bucket.js';
import { Failure } from '../exit.js';
import { crashPoint } from '../storage/crash-point.js';
import { withEngine } from '../storage/engine.js';
import { SECOND_MS } from '../time.js';
import { GRACE_MS } from '../warehouse/commit.js';
import { listTableFiles, namesIn, scratchFolder, warehouseFolder } from '../warehouse/layout.js';
import { dataFilesOf, type Marker, markersOf, readLog } from '../warehouse/markers.js';
import { OpenWarehouse } from '../warehouse/open.js';
import { currentState } from '../warehouse/state.js';
import { MARKER_TABLES, THINNED_TABLES } from '../warehouse/tables.js';
import { type Commit, catchUp, type Follower, type FollowerState } from './follower.js';

/** States and checkpoints of a website that stay: whoever has just begun to restore may still fetch the older one. */
const KEPT = 2;
/** Without an answer, of a question that somebody waits for. */
const QUICK_MS = 5 * SECOND_MS;

export interface FollowBucketInput {
  bucket: BucketConfig;
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
  options?: BucketOptions;
}

/** Sends what the bucket lacks of the log, and removes from it what retention dropped. @throws BucketError */
export async function followBucket(input: FollowBucketInput): Promise<FollowerState> {
  const { warehouse, memoryLimit } = input;
  const options = { memoryLimit, temporary: scratchFolder(warehouse) };
  const follow = (bucket: Bucket) =>
    withEngine(options, async (engine) => {
      const log = await OpenWarehouse.read(engine, warehouse);
      return catchUp(new BucketCopy(bucket, log, input.options?.effects?.now), log, options);
    });
  return withBucket(input.bucket, follow, input.options);
}

/**
 * Sends the newest commit of a website, without asking for all that is there. Where the one before it is not there
 * either, the bucket catches up at the end of the run: a website's commits are sent in their order.
 */
export async function sendNewest(input: FollowBucketInput, websiteId: string): Promise<FollowerState> {
  const { warehouse: path, memoryLimit } = input;
  const options = { memoryLimit, temporary: scratchFolder(path) };
  const send = async (bucket: Bucket): Promise<FollowerState> => {
    const log = await withEngine(options, (engine) => readLog(engine, path, path, { websiteId }));
    const [newest, before] = log.markers.slice(-2).reverse();
    const isNext = !before || (await bucket.get(keyOf(path, before.path))) !== null;
    if (!newest || !isNext || log.damaged.length > 0) return { name: 'bucket', behind: 1 };
    const state = await currentState(path, log.markers, options);
    await new BucketCopy(bucket, { ...log, path }).take({ marker: newest, state });
    return { name: 'bucket', behind: 0 };
  };
  return withBucket(input.bucket, send, input.options);
}

/** Ids of the commits whose marker is in the bucket. */
export async function commitsIn(bucket: Bucket): Promise<ReadonlySet<string>> {
  const keys = await Promise.all(MARKER_TABLES.map((table) => bucket.keys(`parquet/${table}/`)));
  return new Set(keys.flat().map(idOfKey));
}

/** The same for callers that cannot wait long. @throws BucketError */
export function readCommits(config: BucketConfig): Promise<ReadonlySet<string>> {
  return withBucket(config, commitsIn, { attempts: 2, timeout: QUICK_MS });
}

/** The bucket, whose keys are the paths of the warehouse. */
export class BucketCopy implements Follower {
  readonly name = 'bucket';
  readonly title: string;

  constructor(
    private readonly bucket: Bucket,
    private readonly log: Pick<OpenWarehouse, 'path' | 'markers' | 'damaged'>,
    private readonly now: () => number = Date.now,
  ) {
    this.title = bucket.url;
  }

  known(): Promise<ReadonlySet<string>> {
    return commitsIn(this.bucket);
  }

  async take({ marker, state }: Commit): Promise<void> {
    await this.#claim(marker);
    const data = dataFilesOf(this.log.path, marker);
    await Promise.all(data.map(([table, file]) => this.#send({ file, sha256: marker.files[table]?.sha256 })));
    crashPoint('sent the data');
    if (state !== null) await this.#send({ file: state });
    crashPoint('sent the state');
    await this.#send({ file: marker.path });
    crashPoint('sent the marker');
  }

  /** Most have their place since they were committed; what was committed while the bucket was down has none yet. */
  async #claim(marker: Marker): Promise<void> {
    const { websiteId, commitId, path } = marker;
    // Where a marker cannot be read, nobody knows how many there are.
    if (this.log.damaged.some((file) => file.websiteId === websiteId)) return;
    const n = markersOf(this.log.markers, websiteId).indexOf(marker);
    const winner = await claimPlace(this.bucket, { websiteId, n, commitId, marker: keyOf(this.log.path, path) });
    if (winner === null) return;
    throw new Failure(
      `another machine committed ${winner.commitId} in its place while the bucket could not be reached here: ` +
        `keep this folder, and restore another from ${this.title} and continue there`,
    );
  }

  /** The checkpoint comes before the tombstone that makes it needed, and that before the data that it puts out of use. */
  async drop({ path, tombstones, tombstoneFiles }: OpenWarehouse): Promise<void> {
    await this.#checkIdentity();
    if (tombstoneFiles.length === 0) return;
    await this.#sendLacking('parquet/checkpoints/', await listTableFiles(path, 'checkpoints'));
    await this.#sendLacking('parquet/tombstones/', tombstoneFiles);
    crashPoint('sent the tombstones');
    // What a restored warehouse lacks has no tombstone, and stays here.
    const due = tombstones.filter(({ tombstoned_at }) => this.now() - Date.parse(tombstoned_at) >= GRACE_MS);
    const gone = new Set(due.map(({ table_name, commit_id }) => `${table_name} ${commit_id}`));
    for (const table of THINNED_TABLES) {
      const keys = await this.bucket.keys(`parquet/${table}/`);
      for (const key of keys) if (gone.has(`${table} ${idOfKey(key)}`)) await this.bucket.remove(key);
    }
    await this.#removeSuperseded('parquet/checkpoints/');
  }

  async finish({ path, runs }: OpenWarehouse): Promise<string[]> {
    const ended = await this.#sendLacking('parquet/runs/', runs);
    crashPoint('sent the runs');
    await removeEnded(this.bucket, ended);
    await this.#sendSchemas(join(path, 'schema'));
    await this.#removeSuperseded('state/');
    return [];
  }

  /** One bucket for two warehouses would mix them. @throws BucketError */
  async #checkIdentity(): Promise<void> {
    const text = await readFile(warehouseFolder(this.log.path).identity, 'utf8');
    if (await this.bucket.put('warehouse.json', text)) return;
    const found = String((await this.bucket.get('warehouse.json'))?.body);
    if (found === text) return;
    throw new BucketError(
      `${this.title} holds another warehouse: its warehouse.json is ${found.trim().slice(0, 200)}; name another prefix in bucket.url`,
    );
  }

  async #send(content: { file: string; sha256?: string | undefined }): Promise<void> {
    await this.bucket.put(keyOf(this.log.path, content.file), content);
  }

  /** @returns the keys that are there then */
  async #sendLacking(prefix: string, files: readonly string[]): Promise<ReadonlySet<string>> {
    const there = new Set(await this.bucket.keys(prefix));
    for (const file of files) {
      const key = keyOf(this.log.path, file);
      if (!there.has(key)) await this.#send({ file });
      there.add(key);
    }
    return there;
  }

  /** These change with the version. */
  async #sendSchemas(folder: string): Promise<void> {
    const there = new Map<string, string>();
    for await (const { key, etag } of this.bucket.list('schema/')) there.set(key, etag);
    for (const name of await namesIn(folder)) {
      const body = await readFile(join(folder, name));
      const key = `schema/${name}`;
      if (there.get(key) === createHash('md5').update(body).digest('hex')) continue;
      await this.bucket.put(key, body, { ifAbsent: false });
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

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { BucketConfig } from '../../base/config/bucket.js';
import { Failure } from '../../base/exit.js';
import { counted, moment } from '../../base/observe/format.js';
import type { Logger } from '../../base/observe/log.js';
import { safe } from '../../base/observe/terminal.js';
import { exists } from '../../base/storage/durable.js';
import { readJson, writeJson } from '../../base/storage/json-file.js';
import { readSummedJson, summedJson } from '../../base/storage/summed-json.js';
import { SECOND_MS } from '../../base/time.js';
import { warehouseFolder } from '../log/folder/layout.js';
import { identityOf } from '../log/folder/prepare.js';
import { readBucketRemoval } from '../removal/steps.js';
import { AWAITED, type Bucket, withBucket } from './client.js';
import { BucketError } from './errors.js';
import { fileOfKey, idOfKey, pathKey } from './keys.js';

const LEASES = 'lease/';
const LEASE = /^lease\/\d{8}$/;
/** A bucket that is down does not hold up a commit for long. */
const ASKING = { attempts: 3, timeout: 10 * SECOND_MS };

/** `lease/<number>`: who writes to a bucket. The highest number holds, and does not expire. */
const leaseSchema = z.object({
  /** The id of the warehouse. */
  warehouse: z.string(),
  /** The id of the folder that writes. */
  writer: z.string(),
  /** Machine and folder, for people. */
  where: z.string(),
  since: z.iso.datetime(),
});
export type Lease = z.infer<typeof leaseSchema>;

/** `writer.json`: the folder's own id, which a copy made by `restore` or `backup` does not have. */
const writerSchema = z.object({
  writer: z.string(),
  /** Whether the bucket confirmed this writer when it was last asked. */
  confirmed: z.boolean(),
  /** The writer that the bucket named instead. */
  other: leaseSchema.nullable(),
});
export type Writer = z.infer<typeof writerSchema>;

/** The bucket belongs to another writer or warehouse, or holds commits that the folder lacks. */
export class LeaseError extends Failure {}

/** @returns null before the bucket was asked for the first time */
export function readWriter(warehouse: string): Promise<Writer | null> {
  return readJson(warehouseFolder(warehouse).writer, writerSchema);
}

function writeWriter(warehouse: string, writer: Writer): Promise<void> {
  return writeJson(warehouseFolder(warehouse).writer, writer);
}

/**
 * A folder as the writer of a bucket.
 *
 * | state       | how it is known                                | left when                                       |
 * |-------------|------------------------------------------------|-------------------------------------------------|
 * | `unasked`   | `writer.json` is not confirmed, and names nobody | `ask` finds no lease, and creates it: `holding` |
 * | `holding`   | the highest lease is this folder's              | another machine takes over: `fenced` at the next `ask` |
 * | `fenced`    | the highest lease is another's                  | `takeOver` creates the next number: `holding`   |
 *
 * A lease is created by a conditional PUT, never changed, and does not expire. Whoever creates a number first has it; a
 * lost answer is settled by reading the object. A folder that cannot ask keeps the state that `writer.json` recorded.
 */
export class WriterLease {
  #number = 0;

  private constructor(
    private readonly bucket: Bucket,
    private readonly warehouse: string,
    private readonly mine: Omit<Lease, 'since'>,
  ) {}

  /** @param id of the warehouse */
  static async of(bucket: Bucket, warehouse: string, id: string): Promise<WriterLease> {
    const known = await readWriter(warehouse);
    if (known === null) await writeWriter(warehouse, { writer: randomUUID(), confirmed: false, other: null });
    const { writer = '' } = known ?? (await readWriter(warehouse)) ?? {};
    return new WriterLease(bucket, warehouse, { warehouse: id, writer, where: `${hostname()}:${warehouse}` });
  }

  /**
   * Asks whether this folder is still the bucket's writer; makes it the first one if there is none.
   *
   * @throws LeaseError if another one is; BucketError
   */
  async ask(): Promise<void> {
    if (this.#number > 0 && (await this.bucket.get(keyOf(this.#number + 1))) === null) return;
    const { number, lease } = (await this.holder()) ?? { number: 1, lease: await this.#create(1) };
    if (lease === null) {
      const remedy = '`indexhouse restore --take-over` makes this machine the writer';
      throw new BucketError(`${this.bucket.url}/${keyOf(number)} is damaged: it should name the writer; ${remedy}`);
    }
    await this.#check(lease);
    this.#number = number;
  }

  /** The newest lease, itself null if it is damaged; null if nobody has written yet. @throws BucketError */
  async holder(): Promise<{ number: number; lease: Lease | null } | null> {
    const newest = (await this.bucket.keys(LEASES))
      .filter((key) => LEASE.test(key))
      .sort()
      .at(-1);
    return newest === undefined ? null : { number: Number(idOfKey(newest)), lease: await this.#read(newest) };
  }

  isMine({ writer }: Lease): boolean {
    return writer === this.mine.writer;
  }

  /** Makes this folder the writer. @throws LeaseError if the bucket holds another warehouse; BucketError */
  async takeOver(): Promise<void> {
    for (;;) {
      const { number } = (await this.holder()) ?? { number: 0 };
      const created = await this.#create(number + 1);
      // Another machine took over at the same moment: the next number is free.
      if (!created || !this.isMine(created)) continue;
      await this.#check(created);
      this.#number = number + 1;
      return;
    }
  }

  /** @returns the lease with this number, which is another's if that was first */
  async #create(number: number): Promise<Lease | null> {
    await checkConditional(this.bucket);
    await sendIdentity(this.bucket, this.warehouse);
    const key = keyOf(number);
    await this.bucket.put(key, summedJson({ ...this.mine, since: new Date().toISOString() }));
    // An answer may have been lost, so what is there decides.
    return this.#read(key);
  }

  async #read(key: string): Promise<Lease | null> {
    return readSummedJson(leaseSchema, String((await this.bucket.get(key))?.body));
  }

  async #check(lease: Lease): Promise<void> {
    if (lease.warehouse !== this.mine.warehouse) throw otherWarehouse(this.bucket, lease);
    const confirmed = this.isMine(lease);
    const { writer } = this.mine;
    const known = await readWriter(this.warehouse);
    const other = confirmed ? null : lease;
    if (known?.confirmed !== confirmed || known.other?.since !== other?.since)
      await writeWriter(this.warehouse, { writer, confirmed, other });
    if (!confirmed) throw new LeaseError(`${this.bucket.url} ${otherWriter(lease)}. ${TAKE_OVER}`);
  }
}

const TAKE_OVER = 'If that one has ended, `indexhouse restore --take-over` makes this machine the writer';

/** How many commits a bucket holds. @throws BucketError */
export async function countCommits(config: BucketConfig): Promise<number> {
  return (await withBucket(config, commitsIn, AWAITED)).size;
}

/** @throws LeaseError if a machine cannot write to the bucket without the risk that another one does, too; BucketError */
export function checkWritable(config: BucketConfig): Promise<void> {
  return withBucket(config, checkConditional);
}

/** @throws LeaseError if the server ignores that a write is conditional: two machines could write there unnoticed */
async function checkConditional(bucket: Bucket): Promise<void> {
  const key = `${LEASES}probe-${randomUUID()}`;
  await bucket.put(key, '');
  const isOverwritten = await bucket.put(key, '');
  await bucket.remove(key);
  if (!isOverwritten) return;
  throw new LeaseError(
    `${bucket.url} overwrites objects although it is asked not to (If-None-Match: *): use a server that supports ` +
      'conditional writes',
  );
}

/**
 * Sends `warehouse.json`. It is there before the first lease, so that a machine that loses its disk in its first night
 * continues with the same warehouse.
 *
 * @throws LeaseError if the bucket holds another warehouse
 */
export async function sendIdentity(bucket: Bucket, warehouse: string): Promise<void> {
  const text = await readFile(warehouseFolder(warehouse).identity, 'utf8');
  if (await bucket.put('warehouse.json', text)) return;
  if (String((await bucket.get('warehouse.json'))?.body) !== text) throw otherWarehouse(bucket);
}

function otherWarehouse({ url }: Bucket, lease?: Lease): LeaseError {
  const whose = lease ? ` (${safe(lease.where)}, since ${moment(lease.since)})` : '';
  return new LeaseError(`${url} holds another warehouse${whose}: name another prefix in bucket.url`);
}

/** Who writes to a bucket, as it follows the bucket's name. */
export function otherWriter({ writer, where, since }: Lease): string {
  return `is written by ${writer} (${safe(where)}) since ${moment(since)}`;
}

/**
 * Opens the bucket of a folder. Before each write it asks whether the folder is still its writer.
 *
 * @param isAwaited whether somebody waits for a short answer
 */
export function withBucketOf<T>(
  warehouse: string,
  config: BucketConfig,
  use: (bucket: Bucket) => Promise<T>,
  isAwaited: boolean,
): Promise<T> {
  const options = isAwaited ? AWAITED : {};
  const asWriter = (asking: Bucket) => {
    let lease: Promise<WriterLease> | undefined;
    const open = async () => WriterLease.of(asking, warehouse, await identityOf(warehouse));
    const beforeWrites = async () => {
      lease ??= open();
      await (await lease).ask();
    };
    return withBucket(config, use, { ...options, beforeWrites });
  };
  return withBucket(config, asWriter, options);
}

interface Asking {
  config: { bucket?: BucketConfig | undefined };
  warehouse: string;
  logger: Logger;
}

/**
 * Asks before something is committed, and before the first request, whether this folder is the writer of its bucket. A
 * bucket that cannot be asked stops nobody whom it confirmed last time.
 *
 * @param isStart also checks that the folder has all commits of the bucket
 * @throws LeaseError
 */
export async function checkLease({ config, warehouse, logger }: Asking, isStart = false): Promise<void> {
  if (!config.bucket) return;
  try {
    await withBucket(
      config.bucket,
      async (bucket) => {
        await (await WriterLease.of(bucket, warehouse, await identityOf(warehouse))).ask();
        if (isStart) await checkCommits(bucket, warehouse);
      },
      ASKING,
    );
  } catch (error) {
    if (!(error instanceof BucketError)) throw error;
    if ((await readWriter(warehouse))?.confirmed !== true) {
      throw new LeaseError(`${error.message}. It has not confirmed this machine, so nothing is written`);
    }
    logger.warn(`the bucket cannot be asked who writes there; it named this machine last time: ${error.message}`);
  }
}

/** @throws LeaseError if the bucket has commits that the folder lacks: what is committed next would not follow them */
async function checkCommits(bucket: Bucket, warehouse: string): Promise<void> {
  const removed = new Set((await readBucketRemoval(warehouse)).map(pathKey));
  const isRemoved = (key: string) => removed.has(dirname(dirname(key)));
  const unknown = (await unknownMarkers(bucket, warehouse)).filter((key) => !isRemoved(key));
  if (unknown.length === 0) return;
  throw new LeaseError(
    `${bucket.url} holds ${counted(unknown.length, 'commit')} that ${warehouse} lacks, such as ${idOfKey(unknown[0] ?? '')}: ` +
      'run `indexhouse restore --take-over`, which fetches them',
  );
}

async function markerKeys(bucket: Bucket): Promise<string[]> {
  return bucket.keys('parquet/snapshots/');
}

/** Ids of the commits whose marker is in the bucket. */
export async function commitsIn(bucket: Bucket): Promise<ReadonlySet<string>> {
  return new Set((await markerKeys(bucket)).map(idOfKey));
}

/** The keys of the markers that the folder lacks. */
export async function unknownMarkers(bucket: Bucket, warehouse: string): Promise<string[]> {
  const missing: string[] = [];
  for (const key of await markerKeys(bucket)) {
    const file = fileOfKey(warehouse, key);
    if (file !== null && !(await exists(file))) missing.push(key);
  }
  return missing;
}

function keyOf(number: number): string {
  return `${LEASES}${String(number).padStart(8, '0')}`;
}

import { createHash } from 'node:crypto';
import { chmod, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { BucketConfig } from '../../base/config/bucket.js';
import type { Config } from '../../base/config/schema.js';
import { BusyError, Failure, messageOf, UsageError } from '../../base/exit.js';
import { exists, makeFolders, writeDurably } from '../../base/storage/durable.js';
import { waitingForLock } from '../../base/storage/locks.js';
import { MINUTE_MS, SECOND_MS } from '../../base/time.js';
import { warehouseFolder } from '../log/folder/layout.js';
import { checkPath } from '../log/folder/prepare.js';
import { RunLock } from '../log/lock.js';
import { Bucket, type BucketOptions, endpointOf } from './client.js';
import { BucketError } from './errors.js';
import { type FetchOptions, restore } from './restore.js';

const OWNER_ONLY = 0o700;
/** Short, because somebody is waiting for the answer. */
const PATIENCE = { attempts: 3, timeout: 20 * SECOND_MS };
const LOOK_FOR_LOCK_MS = 50;

export interface CacheOptions extends Pick<FetchOptions, 'historyDays' | 'memoryLimit' | 'onProgress'> {
  bucket: BucketConfig;
  folder: string;
  options?: BucketOptions;
  /** How long to wait for another process that fetches the same, in milliseconds. Default: one minute. */
  waitMs?: number;
}

/** The settings of a warehouse that may be in a bucket, whose server the section `bucket` describes. */
export type PlaceSettings = Pick<Config, 'warehouse'> & Partial<Pick<Config, 'bucket'>>;
type Environment = NonNullable<BucketOptions['env']>;

/**
 * The cache of a warehouse whose path is a bucket's address.
 *
 * @throws BucketError if there are no credentials; WarehouseError if DuckDB would not take the folder's path literally
 */
export function cacheOf(
  settings: PlaceSettings,
  env: Environment,
  wanted: Pick<CacheOptions, 'historyDays' | 'onProgress'>,
): Promise<BucketCache> {
  const folder = cacheFolder(settings, env);
  checkPath('warehouse.cache_path', folder);
  const memoryLimit = settings.warehouse.memory_limit;
  return BucketCache.open({
    bucket: bucketOf(settings),
    folder,
    memoryLimit,
    options: { env, ...PATIENCE },
    ...wanted,
  });
}

/** The bucket to read. */
export function bucketOf({ warehouse, bucket }: PlaceSettings): BucketConfig {
  return { ...bucket, url: warehouse.path };
}

/** The folder of the cache. It depends on the server, because two servers may have a bucket of the same name. */
export function cacheFolder(settings: PlaceSettings, env: Environment = process.env): string {
  const bucket = bucketOf(settings);
  const name = createHash('sha256')
    .update(`${endpointOf(bucket, env) ?? ''} ${bucket.url}`)
    .digest('hex')
    .slice(0, 16);
  const caches = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache');
  return join(settings.warehouse.cache_path ?? join(caches, 'indexhouse'), name);
}

/** A copy of a warehouse in a bucket, for readers, which is a warehouse like any other. Processes may share it. */
export class BucketCache {
  readonly folder: string;
  readonly #bucket: Bucket;
  #refreshing: Promise<void> | null = null;
  #readAt = 0;
  #failure: string | null = null;

  private constructor(private readonly options: CacheOptions) {
    this.folder = options.folder;
    this.#bucket = new Bucket(options.bucket, options.options);
  }

  /** Creates the folder if it is missing. @throws BucketError if there are no credentials */
  static async open(options: CacheOptions): Promise<BucketCache> {
    const cache = new BucketCache(options);
    const { folder } = options;
    try {
      const made = await makeFolders(folder);
      if (made.includes(folder)) await chmod(folder, OWNER_ONLY);
      return cache;
    } catch (cause) {
      await cache.#bucket.close();
      const remedy = 'name another folder in warehouse.cache_path or INDEXHOUSE_WAREHOUSE_CACHE_PATH';
      throw new UsageError(`the cache ${folder} cannot be made: ${messageOf(cause)}; ${remedy}`, { cause });
    }
  }

  get url(): string {
    return this.#bucket.url;
  }

  /** When the bucket was last read, by any process, in milliseconds since 1970. */
  get readAt(): number {
    return this.#readAt;
  }

  /** Why the copy is not what the bucket should hold; null if it is. */
  get failure(): string | null {
    return this.#failure;
  }

  /**
   * Fetches new commits. If the bucket cannot be read, what was fetched before remains, and `failure` says why.
   *
   * @throws BucketError if nothing was fetched before; Failure if the bucket holds no warehouse
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    const { identity } = warehouseFolder(this.folder);
    try {
      this.#failure = await this.#fetch();
      // Its time records when the bucket was last read.
      await utimes(identity, new Date(), new Date());
    } catch (error) {
      const isPassing = error instanceof BucketError || error instanceof BusyError;
      if (!isPassing || !(await exists(identity))) throw error;
      this.#failure = `the bucket cannot be read: ${error.message}`;
    }
    this.#readAt = (await stat(identity)).mtimeMs;
  }

  /** @returns what is wrong with the bucket; null if nothing is */
  async #fetch(): Promise<string | null> {
    const { folder, url, options } = this;
    const wait = { withinMs: options.waitMs ?? MINUTE_MS, everyMs: LOOK_FOR_LOCK_MS };
    // Another process may be fetching the same.
    const lock = await waitingForLock(() => RunLock.take(folder, `reading ${url}`), wait);
    try {
      const { cacheOf: file } = warehouseFolder(folder);
      if (!(await exists(file))) await writeDurably(file, `${url}\n`);
      const fetched = await restore(this.#bucket, folder, { ...options, isCopy: true });
      if (fetched === null) throw new Failure(`there is no warehouse at ${url}: check the address and its prefix`);
      return damageIn(url, fetched.damaged);
    } finally {
      lock.release();
    }
  }

  /** Ends what is being fetched. */
  async close(): Promise<void> {
    await this.#bucket.close();
    await this.#refreshing?.catch(() => {});
  }
}

/** What is wrong with the objects of a bucket, and what to do; null if nothing is. */
export function damageIn(url: string, damaged: readonly string[]): string | null {
  const [first] = damaged;
  if (first === undefined) return null;
  const more = damaged.length > 1 ? ` and ${damaged.length - 1} more are` : ' is';
  const remedy = '`indexhouse verify --repair` and then `sync` on the machine that writes there send them again';
  return `${url}/${first}${more} damaged or missing; ${remedy}`;
}

import { createHash } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { chmod, readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative, sep } from 'node:path';
import type { BucketConfig } from '../config/bucket.js';
import type { Config } from '../config/schema.js';
import { BusyError, messageOf, UsageError } from '../exit.js';
import { exists, ifThere, makeFolders } from '../storage/durable.js';
import type { FileSource } from '../storage/file-source.js';
import { MINUTE_MS, SECOND_MS } from '../time.js';
import { warehouseFolder } from '../warehouse/layout.js';
import type { Marker } from '../warehouse/markers.js';
import { checkPath } from '../warehouse/prepare.js';
import { DATA_TABLES } from '../warehouse/tables.js';
import { fetchLog } from './cached-log.js';
import { Bucket, type BucketOptions, endpointOf } from './client.js';
import { downloads, each, fetchFile, place } from './downloads.js';
import { BucketError } from './errors.js';
import { idOfKey, keyOf } from './keys.js';
import { heldByOthers, Lease, leases, touch } from './leases.js';

/** Folders of files that are fetched when a query needs them, and may be removed again. */
const FETCHED = [...DATA_TABLES.map((table) => join('parquet', table)), 'state'];
const OWNER_ONLY = 0o700;
/** Short, because somebody is waiting for the answer. */
const PATIENCE = { attempts: 3, timeout: 20 * SECOND_MS };

export interface CacheOptions {
  bucket: BucketConfig;
  folder: string;
  /** Bytes of data files that are kept for later queries. */
  limit: number;
  /** Bytes, of DuckDB. */
  memoryLimit: number;
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
export function cacheOf(settings: PlaceSettings, env: Environment): Promise<BucketCache> {
  const { cache_size: limit, memory_limit: memoryLimit } = settings.warehouse;
  const folder = cacheFolder(settings, env);
  checkPath('warehouse.cache_path', folder);
  const options = { env, ...PATIENCE };
  return BucketCache.open({ bucket: bucketOf(settings), folder, limit, memoryLimit, options });
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

/**
 * A warehouse in a bucket, for readers: a folder with all of its markers, and the data files that queries needed
 * lately. Several processes may share it.
 */
export class BucketCache {
  readonly folder: string;
  readonly #bucket: Bucket;
  readonly #leases = new Set<Lease>();
  readonly #fetching = new Map<string, Promise<void>>();
  #refreshing: Promise<void> | null = null;
  #isGrown = false;
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
      for (const below of [leases(folder), downloads(folder)]) await makeFolders(below);
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

  /** When the markers were last read from the bucket, in milliseconds since 1970. */
  get readAt(): number {
    return this.#readAt;
  }

  /** Why the last attempt to read the bucket failed; null if it succeeded. */
  get failure(): string | null {
    return this.#failure;
  }

  /**
   * Fetches new markers. If the bucket cannot be read, what was fetched before remains, and `failure` says why.
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
      await fetchLog(this.#bucket, { waitMs: MINUTE_MS, ...this.options });
      this.#failure = null;
    } catch (error) {
      const isPassing = error instanceof BucketError || error instanceof BusyError;
      if (!isPassing || !(await exists(identity))) throw error;
      this.#failure = error.message;
    }
    // The last read by any process.
    this.#readAt = (await stat(identity)).mtimeMs;
  }

  /** The files that commits name, and the states after them. */
  sourceOf(log: { readonly markers: readonly Marker[] }): FileSource {
    const commits = new Commits(log);
    const lease = new Lease(this.folder);
    this.#leases.add(lease);
    return {
      provide: async (files) => {
        const wanted = files.filter((file) => isFetched(this.folder, file));
        lease.hold(wanted);
        const release = () => lease.release(wanted);
        try {
          await each(wanted, (file) => this.#need(file, commits));
          await this.#removeUnused();
          return release;
        } catch (error) {
          release();
          throw error;
        }
      },
      close: () => {
        this.#leases.delete(lease);
        lease.end();
      },
    };
  }

  /** Ends what is being fetched. */
  async close(): Promise<void> {
    await this.#bucket.close();
    await this.#refreshing?.catch(() => {});
    await this.#removeUnused();
  }

  async #need(file: string, commits: Commits): Promise<void> {
    if (await touch(file)) return;
    const fetching = this.#fetching.get(file) ?? this.#fetch(file, commits).finally(() => this.#fetching.delete(file));
    this.#fetching.set(file, fetching);
    await fetching;
  }

  /** A missing state can be rebuilt from the data. */
  async #fetch(file: string, commits: Commits): Promise<void> {
    const key = keyOf(this.folder, file);
    const isState = key.startsWith('state/');
    const sha256 = isState ? undefined : commits.sha256Of(key);
    const fetched = await fetchFile(this.#bucket, this.folder, key, sha256);
    this.#isGrown = true;
    if (fetched !== null) return place(fetched, file);
    if (isState) return;
    throw new BucketError(
      `${this.url}/${key} is not there, although its commit is: if \`maintain\` has removed it meanwhile, ask again; ` +
        'else `indexhouse verify --repair` on the machine that writes there sends it again',
    );
  }

  /** Removes the least recently used files until the rest is within the limit, except files that a reader holds. */
  async #removeUnused(): Promise<void> {
    if (!this.#isGrown) return;
    const files = await this.#dataFiles();
    let bytes = files.reduce((all, { size }) => all + size, 0);
    this.#isGrown = bytes > this.options.limit;
    if (!this.#isGrown) return;
    const held = await heldByOthers(this.folder, this.#leases);
    for (const { file, size, mtimeMs } of files.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (bytes <= this.options.limit) break;
      if (held.has(relative(this.folder, file)) || [...this.#leases].some((lease) => lease.holds(file))) continue;
      // A reader that wants a file touches it before checking whether it exists.
      if (statSync(file, { throwIfNoEntry: false })?.mtimeMs !== mtimeMs) continue;
      rmSync(file, { force: true });
      bytes -= size;
    }
  }

  async #dataFiles(): Promise<{ file: string; size: number; mtimeMs: number }[]> {
    const found: { file: string; size: number; mtimeMs: number }[] = [];
    for (const folder of FETCHED) {
      const entries = await ifThere(readdir(join(this.folder, folder), { recursive: true, withFileTypes: true }), []);
      for (const entry of entries.filter((one) => one.isFile())) {
        const file = join(entry.parentPath, entry.name);
        const facts = await ifThere(stat(file), null);
        if (facts) found.push({ file, size: facts.size, mtimeMs: facts.mtimeMs });
      }
    }
    return found;
  }
}

/** What the markers say about their files. More markers may be loaded while queries run. */
class Commits {
  #markers: readonly Marker[] = [];
  #byId = new Map<string, Marker>();

  constructor(private readonly log: { readonly markers: readonly Marker[] }) {}

  /** @throws Error for a file that belongs to none of them */
  sha256Of(key: string): string {
    if (this.log.markers !== this.#markers) {
      this.#markers = this.log.markers;
      this.#byId = new Map(this.#markers.map((marker) => [marker.commitId, marker]));
    }
    const [, table = ''] = key.split('/');
    const sha256 = this.#byId.get(idOfKey(key))?.files[table]?.sha256;
    if (sha256 === undefined) throw new Error(`${key} belongs to no commit`);
    return sha256;
  }
}

function isFetched(folder: string, file: string): boolean {
  const path = relative(folder, file);
  return FETCHED.some((one) => path.startsWith(`${one}${sep}`));
}

import { relative } from 'node:path';
import { z } from 'zod';
import type { NamedWebsite } from '../../base/config/websites.js';
import { type Engine, withEngine } from '../../base/storage/engine.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { addDays } from '../../base/time.js';
import {
  type DamagedFile,
  DamageError,
  damagedFile,
  findDamaged,
  findTorn,
  needing,
  readReadable,
} from './folder/damage.js';
import { scratchFolder, websiteOf, websitesIn } from './folder/layout.js';
import { isStamped, tableQuery } from './folder/prepare.js';
import { checkRows } from './folder/sums.js';
import { DATA_TABLES, hasRowPerFile, isLogTable, type Table } from './folder/tables.js';
import { type ListedLog, listLog, ownIndex, type ReadLog, readListed, type Tombstone } from './listed-log.js';
import { byCommit, dataFilesOf, filesOf, type Marker } from './markers.js';
import { hasSum, readProven } from './proven.js';
import { dateOf, type MarkerIndex, readIndex } from './update-index.js';

const namedRow = z.object({
  ...{ id: z.string(), name: z.string().nullable(), snapshotAt: z.string() },
  /** When the snapshot with the newest complete listing began; null without one. */
  listedAt: z.string().nullable(),
});

/** How a log is opened. */
export interface LogOptions {
  /** A folder for copies and schemas, for readers that must not write into the warehouse. Left out: its scratch folder. */
  temporary?: string;
  /** The only websites that are read: nothing of others is or can be. Left out: all. */
  websites?: readonly string[];
  /**
   * Takes old markers from their index, so that files damaged since are not noticed. `lazily`: with an index, nothing is
   * read before `load`, and `files` names the index for what it holds. Left out: opens the file of each marker.
   */
  index?: 'at once' | 'lazily';
  /** Fails if a marker or tombstone cannot be read: for commands that write, which must not miss a commit. */
  whole?: boolean;
}

/**
 * Opens the log of a warehouse: the one door for readers, followers and commands that write. Takes no lock.
 *
 * @throws DamageError with `whole`, if a marker or tombstone cannot be read; WarehouseError for another version's files
 */
export async function openLog(engine: Engine, path: string, options: LogOptions = {}): Promise<Log> {
  const { temporary = scratchFolder(path), websites = null, whole = false } = options;
  await isStamped(path);
  const found = options.index ? await readIndex(path) : null;
  const index = found && websites ? await ownIndex(engine, found, websites, temporary) : found;
  const isLazy = index !== null && options.index === 'lazily';
  const listed = await listLog(path, websites, index, !isLazy);
  const log = new Log(engine, path, listed, { index: isLazy ? index : null, websites });
  if (!isLazy || websites) await log.load(null);
  if (whole) log.check(null);
  return log;
}

/**
 * A consistent view of a warehouse: its runs, markers and tombstones, listed once. Tables are mounted as views over
 * exactly the files that these name. What cannot be read is in `damaged`: what its websites hold is unknown then.
 */
export class Log implements ReadLog {
  /** Every commit that can be read, oldest first; opened lazily, only the loaded ones. */
  markers: Marker[] = [];
  /** Markers and tombstones of the loaded websites that cannot be read. */
  damaged: DamagedFile[] = [];
  /** Those of the websites whose markers are loaded. */
  tombstones: Tombstone[] = [];
  tombstoneFiles: string[] = [];
  /** The websites whose markers are loaded; null: all are. */
  #loaded: ReadonlySet<string> | null = new Set();
  #loading: Promise<void> = Promise.resolve();
  /** Replaces the files of old markers and runs; null: each file is opened. */
  readonly #index: MarkerIndex | null;
  /** The websites that it is limited to; null: all. */
  readonly #websites: readonly string[] | null;

  constructor(
    readonly engine: Engine,
    readonly path: string,
    private readonly listed: ListedLog,
    { index, websites }: { index: MarkerIndex | null; websites: readonly string[] | null },
  ) {
    this.#index = index;
    this.#websites = websites;
  }

  /** Every file of `runs`; opened lazily, those that are not in the index. */
  get runs(): readonly string[] {
    return this.listed.runs;
  }

  /** Loads all commits of some websites into `markers`; null: of all websites. */
  load(websiteIds: readonly string[] | null): Promise<void> {
    this.#loading = this.#loading.catch(() => {}).then(() => this.#load(websiteIds));
    return this.#loading;
  }

  async #load(ids: readonly string[] | null): Promise<void> {
    const loaded = this.#loaded;
    if (loaded === null) return;
    const websiteIds = ids?.filter((id) => !loaded.has(id)) ?? null;
    if (websiteIds?.length === 0) return;
    const isAsked = (id: string) => !loaded.has(id) && (websiteIds?.includes(id) ?? true);
    const read = await readListed(this.engine, this.path, this.listed, { websiteIds, isAsked });
    this.markers = [...this.markers, ...read.markers].sort(byCommit);
    this.damaged = [...this.damaged, ...read.damaged];
    this.tombstones = [...this.tombstones, ...read.tombstones];
    this.tombstoneFiles = [...this.tombstoneFiles, ...read.tombstoneFiles];
    this.#loaded = websiteIds && new Set([...loaded, ...websiteIds]);
  }

  /** Every commit. @throws Error if not all are loaded */
  get all(): readonly Marker[] {
    if (this.#loaded !== null) throw new Error('the markers of all websites are not loaded');
    return this.markers;
  }

  /** The date of the newest snapshot, `YYYY-MM-DD`; null if there is none. */
  get newestDate(): string | null {
    const index = this.#loaded ? this.#index : null;
    const dates = index ? this.listed.snapshots.map(dateOf) : this.markers.map(({ date }) => date);
    return dates.sort().at(-1) ?? (index && addDays(index.before, -1));
  }

  /** The files of a table, damaged or not. For tables of commits: those of the loaded websites. */
  files(table: Exclude<Table, 'page_state'>, websiteId: string | null = null): readonly string[] {
    const index = this.#index;
    const isAsked = (id: string) => websiteId === null || id === websiteId;
    const markers = this.markers.filter((marker) => isAsked(marker.websiteId));
    if (table === 'tombstones') return this.tombstoneFiles;
    if (table === 'note_log') return this.listed.note_log.filter((file) => isAsked(websiteOf(file)));
    if (!hasRowPerFile(table)) return filesOf(this.path, markers, table);
    if (table === 'runs') {
      const runs = this.runs.filter((file) => isAsked(websiteOf(file)));
      return index ? [index.files.runs, ...runs] : runs;
    }
    if (index === null) {
      const damaged = this.damaged.filter((file) => file.table === table && isAsked(file.websiteId));
      return [...markers.map(({ path }) => path), ...damaged.map(({ path }) => path)];
    }
    return [index.files.snapshots, ...this.listed.snapshots.filter((file) => isAsked(websiteOf(file)))];
  }

  /** The websites that have a snapshot, for each name that they ever had, the newest last; and the newest snapshots. */
  async named(): Promise<z.infer<typeof namedRow>[]> {
    const named = ({ websiteId: id, websiteName: name, snapshotAt, listingComplete }: Marker) => {
      return { id, name, snapshotAt, listedAt: listingComplete ? snapshotAt : null };
    };
    if (!this.#loaded) return this.markers.map(named);
    const names = `select website_id as id, website_name as name, arg_max(snapshot_at, snapshot_id) as "snapshotAt",
      arg_max(snapshot_at, snapshot_id) filter (listing_status = 'complete') as "listedAt"`;
    const { value } = await this.#readable('snapshots', (files) => {
      const from = `(${this.query('snapshots', files)}) group by all order by max(snapshot_id)`;
      return this.engine.rows(namedRow, `${names} from ${from}`);
    });
    return value;
  }

  /** Like `named`, plus the ids of websites without a snapshot. */
  async websites(): Promise<NamedWebsite[]> {
    const named = await this.named();
    const known = new Set(named.map(({ id }) => id));
    const others = (await websitesIn(this.path)).filter(
      (id) => !known.has(id) && (this.#websites?.includes(id) ?? true),
    );
    return [...named, ...others.map((id) => ({ id, name: null }))];
  }

  /** A query over some files of a table. */
  query(table: Table, files: readonly string[]): string {
    return tableQuery(table, files);
  }

  /** @throws DamageError if a marker or tombstone of a website cannot be read; null: of any */
  check(websiteId: string | null): void {
    const damaged = this.damaged.filter((one) => websiteId === null || one.websiteId === websiteId);
    if (damaged.length > 0) throw new DamageError(damaged);
  }

  /** @throws DamageError if a night found that one of these files is not as it was committed, and it still is not */
  async checkProven(files: readonly string[]): Promise<void> {
    const changed = (await this.#findKnown()).filter(({ path }) => files.includes(path));
    if (changed.length > 0) throw new DamageError(changed);
  }

  async #findKnown(): Promise<DamagedFile[]> {
    const { damaged } = await readProven(this.path);
    return damaged.length > 0 ? this.findChanged(damaged) : [];
  }

  /** Reads files of a table, all of which an answer needs. @throws DamageError if one of them cannot be read */
  async needing<T>(table: Table, files: readonly string[], read: () => Promise<T>): Promise<T> {
    await this.checkProven(files);
    return needing(
      () => findDamaged(this.engine, table, files),
      async () => {
        if (isLogTable(table)) await checkRows(this.engine, files);
        return read();
      },
    );
  }

  #readable<T>(table: Exclude<Table, 'page_state'>, read: (files: readonly string[]) => Promise<T>) {
    return readReadable(this.engine, table, this.files(table), async (some) => {
      if (isLogTable(table)) await checkRows(this.engine, some);
      return read(some);
    });
  }

  /** Creates the view of a table over its files that can be read. @returns the others */
  async mount(table: Exclude<Table, 'page_state'>): Promise<DamagedFile[]> {
    return (await this.#readable(table, (some) => this.#mount(table, this.query(table, some)))).damaged;
  }

  /**
   * Tables with one row per file are read once, because nearly every query reads all of their files. If that fails, a
   * view takes their place, and the query that uses it fails.
   */
  async #mount(table: Table, query: string): Promise<void> {
    if (!hasRowPerFile(table)) return this.engine.view(table, query);
    await this.engine.table(table, query).catch(() => this.engine.view(table, query));
  }

  /**
   * Finds the files of commits, runs and notes that are missing, empty or truncated, or that a night found changed. Quick:
   * if old markers are in an index, only the newest nights are checked.
   */
  async findTorn(): Promise<DamagedFile[]> {
    const { before = '' } = this.#index ?? {};
    const newest = this.markers.filter(({ date }) => date >= before);
    const torn = DATA_TABLES.map((table) => findTorn(table, filesOf(this.path, newest, table)));
    return (
      await Promise.all([
        ...torn,
        findTorn('runs', this.runs),
        findTorn('note_log', this.listed.note_log),
        this.#findKnown(),
      ])
    ).flat();
  }

  /** The first file of a commit that cannot be read; null if all can. */
  async findDamaged(marker: Marker): Promise<DamagedFile | null> {
    for (const table of DATA_TABLES) {
      const [damaged] = await findDamaged(this.engine, table, filesOf(this.path, [marker], table));
      if (damaged) return damaged;
    }
    return null;
  }

  /**
   * Finds the files that were changed after their commit.
   *
   * @param among paths relative to the warehouse; left out: reads every file
   */
  async findChanged(among?: readonly string[]): Promise<DamagedFile[]> {
    const changed: DamagedFile[] = [];
    for (const marker of this.markers) {
      for (const [table, file] of dataFilesOf(this.path, marker)) {
        if (among && !among.includes(relative(this.path, file))) continue;
        if (await hasSum(file, marker.files[table]?.sha256)) continue;
        changed.push(damagedFile(table, file, 'was changed after its commit'));
      }
    }
    return changed;
  }
}

/** The websites of a warehouse, as `Log.websites` returns them. */
export function knownWebsites(warehouse: string, memoryLimit: number): Promise<NamedWebsite[]> {
  return withTemporary('websites', (temporary) =>
    withEngine({ memoryLimit, temporary }, async (engine) =>
      (await openLog(engine, warehouse, { temporary, index: 'lazily' })).websites(),
    ),
  );
}

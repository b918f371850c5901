import { basename, resolve } from 'node:path';
import { z } from 'zod';
import { type NamedWebsite, websiteIds } from '../../base/config/websites.js';
import { Engine, type Parameters } from '../../base/storage/engine.js';
import { makeTemporary, removeTemporary } from '../../base/storage/temporary.js';
import { calendarDate } from '../../base/time.js';
import {
  type DamagedFile,
  DamageError,
  damagedFile,
  firstLine,
  isOfDamage,
} from '../../warehouse/log/folder/damage.js';
import { readableFolders, websitesIn } from '../../warehouse/log/folder/layout.js';
import { checkWarehouseThere, listFiles, timeZoneOf } from '../../warehouse/log/folder/prepare.js';
import type { DataTable } from '../../warehouse/log/folder/tables.js';
import { type Log, openLog } from '../../warehouse/log/log.js';
import { filesOf, type Marker, markersOf, newestMarkers, stateFileOf } from '../../warehouse/log/markers.js';
import { unlessRemoved } from '../../warehouse/removal/unless-removed.js';
import { Definitions, namedIn, OWN_PAGES, type Source, sourcesIn } from './definitions.js';
import type { OwnColumns } from './own-pages.js';
import type { ReaderOptions } from './reader-options.js';
import { addOwn, emptyFile, emptyFileScript, lockDown, SourceFiles } from './source-files.js';

/**
 * A website, its name in its newest snapshot or else its id, when that began, and when the one with the newest complete
 * listing did (until there is one, the same), ISO 8601.
 */
export interface Newest extends Record<'id' | 'name' | 'snapshotAt' | 'listedAt', string> {}

/**
 * A warehouse at one moment: every table and view, over the files of exactly the commits that are there when it opens.
 * It takes no lock, so that it and a sync cannot block each other. Its engine can read the log and the states, and
 * nothing else on the machine; `ask` restricts users' questions to tables and views.
 *
 * The files of a table are checked when a question first names it; only those of one website, if the question is only
 * about that one. If one cannot be read, the question fails. A missing or damaged state is then rebuilt from the log, and
 * kept if the warehouse can be written.
 *
 * @example
 * const pages = await withReader({ warehouse, memoryLimit: 256e6 }, (reader) =>
 *   reader.rows(z.object({ url: z.string() }), 'select url from pages where is_indexed'),
 * );
 */
export class Reader {
  #turn = 0;
  /** What this connection can read so far, and of which website; null: of all. */
  readonly #listed = new Set<Source>();
  #website: string | null = null;

  private constructor(
    readonly engine: Engine,
    /** Null for a further connection, whose folder belongs to the first reader. */
    private readonly ownFolder: string | null,
    /** A temporary folder: the only one besides the warehouse that the engine may read. */
    readonly folder: string,
    readonly options: ReaderOptions,
    private readonly files: SourceFiles,
    private readonly definitions: Definitions,
    private readonly ownColumns: OwnColumns,
    /** Of all dates in the warehouse. */
    readonly timeZone: string,
  ) {}

  private get log(): Log {
    return this.files.log;
  }

  /** @throws WarehouseError if there is no warehouse */
  static async open(options: ReaderOptions): Promise<Reader> {
    const warehouse = resolve(options.warehouse);
    await checkWarehouseThere(warehouse);
    const timeZone = await timeZoneOf(warehouse);
    const folder = makeTemporary('reader');
    const engine = await Engine.open({ memoryLimit: options.memoryLimit, temporary: folder, sharedViews: true });
    try {
      // Footers are read once, when a table is first named, and files are not checked for changes, because they never change.
      const settings = ['set parquet_metadata_cache = true', "set validate_external_file_cache = 'NO_VALIDATION'"];
      const { websites, spillLimit } = options;
      if (spillLimit !== undefined) settings.push(`set max_temp_directory_size = '${spillLimit}B'`);
      await engine.run([...settings, emptyFileScript(folder)].join('; '));
      const own = websites && { websites };
      const log = await openLog(engine, warehouse, { temporary: folder, index: 'lazily', ...own });
      const definitions = new Definitions(timeZone, emptyFile(folder));
      const columns = await addOwn(engine, definitions, { ...options, folder });
      await lockDown(engine, [...readableFolders(warehouse, websites), folder]);
      const files = new SourceFiles(log, engine, folder, options);
      return new Reader(engine, folder, folder, { ...options, warehouse }, files, definitions, columns, timeZone);
    } catch (error) {
      engine.close();
      removeTemporary(folder);
      throw error;
    }
  }

  /** Every commit that can be read, oldest first. @throws Error before `loadMarkers` */
  get markers(): readonly Marker[] {
    return this.log.all;
  }

  loadMarkers(): Promise<void> {
    return this.log.load(null);
  }

  /** The commits of a website, oldest first. @throws DamageError if one of its markers cannot be read */
  markersOf(websiteId: string): Marker[] {
    this.log.check(websiteId);
    return markersOf(this.markers, websiteId);
  }

  /** The files that are seen to be damaged without reading their rows. */
  async findTorn(): Promise<DamagedFile[]> {
    return [...this.log.damaged, ...(await this.log.findTorn())];
  }

  /** The columns of the user's own that `pages` has. Its notes include what the last question has found. */
  get own(): OwnColumns {
    const { matched } = this.files;
    const { ownColumns: own, options } = this;
    if (this.isEmpty || (matched.get(this.#website) ?? matched.get(null)) !== 0) return own;
    const file = basename(options.pagesFrom ?? '');
    return { ...own, notes: [...own.notes, `pages_from: ${file} has no row about any page.`] };
  }

  /** Looks for pages of a website, or of all (null), in the user's file of pages, so that `own` can say if it has none. */
  async findOwn(website: string | null): Promise<void> {
    if (this.ownColumns.columns.length > 0) await this.rows(z.unknown(), 'from own.pages limit 0', {}, website);
  }

  /** Its websites, once for each name that they ever had. */
  websites(): Promise<NamedWebsite[]> {
    return this.log.websites();
  }

  /** The id of a website that a user names by id or name. @throws UsageError for one that the warehouse does not have */
  async websiteId(given: string): Promise<string> {
    // Of a folder's name nothing has to be read.
    const known = this.options.websites ?? (await websitesIn(this.options.warehouse));
    if (known.includes(given)) return given;
    const [id = given] = websiteIds([given], await this.websites(), 'the warehouse');
    return id;
  }

  /** The newest snapshot of one website, or of each (null), by id. */
  async newest(websiteId: string | null): Promise<Newest[]> {
    const listed = new Map<string, string>();
    const all = new Map<string, Newest>();
    for (const { id, name, snapshotAt, listedAt } of await this.log.named()) {
      if (listedAt) listed.set(id, listedAt);
      all.set(id, { id, name: name ?? id, snapshotAt, listedAt: listed.get(id) ?? snapshotAt });
    }
    const asked = [...all.values()].filter(({ id }) => websiteId === null || id === websiteId);
    return asked.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** Some files of a table, in the form that our own statements expect. */
  filled(files: readonly string[]): string[] {
    return this.files.filled(files);
  }

  /** The files of a table in one snapshot's commits, in the form that our own statements expect. */
  filesOfSnapshot(table: DataTable, snapshotId: string): string[] {
    const markers = this.markers.filter((marker) => marker.snapshotId === snapshotId);
    return this.filled(filesOf(this.log.path, markers, table));
  }

  /** The files that differ from their commit, and the states that cannot be read. */
  async findChanged(): Promise<DamagedFile[]> {
    const { log } = this;
    await this.loadMarkers();
    const changed = await log.findChanged();
    for (const newest of newestMarkers(log.markers)) {
      const file = stateFileOf(log.path, newest);
      const read = this.engine.rows(z.unknown(), 'select max(hash(columns(*))) from read_parquet($file)', { file });
      await read.catch((error) => changed.push(damagedFile('page_state', file, `cannot be read: ${firstLine(error)}`)));
    }
    return changed;
  }

  /** Counts queries: the engine drops an answer that is still being read when the next query starts. */
  get turn(): number {
    return this.#turn;
  }

  nextTurn(): number {
    this.#turn += 1;
    return this.#turn;
  }

  /**
   * Makes the tables, views and macros that a statement names, and checks and lists the files of these tables.
   *
   * @param website the only one that the statement is about; null: it is about all
   * @throws DamageError if one of its files cannot be read; CheckpointError if nothing is left to rebuild a state from
   */
  async provide(names: Iterable<string>, website: string | null): Promise<void> {
    const needed = this.definitions.needed(names);
    const sources = sourcesIn(needed).filter((one) => one !== OWN_PAGES || this.ownColumns.columns.length > 0);
    if (sources.length > 0) await this.#turnTo(website);
    await this.definitions.make(this.engine, needed, this.#listed);
    for (const source of sources.filter((one) => !this.#listed.has(one))) {
      await listFiles(this.engine, [source], await this.files.of(source, website));
      this.#listed.add(source);
    }
  }

  /** Makes everything that a statement can name, so that DuckDB can list it, and find what a wrong name may mean. */
  provideAll(): Promise<void> {
    return this.definitions.make(this.engine, this.definitions.names, this.#listed);
  }

  async #turnTo(website: string | null): Promise<void> {
    if (website === this.#website) return;
    await listFiles(this.engine, [...this.#listed], null);
    this.#listed.clear();
    this.#website = website;
  }

  /** Runs one statement of ours and validates each row, like `Engine.rows`. Throws like `provide`. */
  async rows<T>(
    schema: z.ZodType<T>,
    query: string,
    parameters: Parameters = {},
    website: string | null = null,
  ): Promise<T[]> {
    this.nextTurn();
    await this.provide(namedIn(query), website);
    return this.engine.rows(schema, query, parameters);
  }

  get isEmpty(): boolean {
    return this.log.newestDate === null;
  }

  /** The date of the newest snapshot, `YYYY-MM-DD`; today's if there is none. */
  get today(): string {
    return this.log.newestDate ?? calendarDate(new Date(), this.timeZone);
  }

  /** Another connection to the same data, for a query beside this reader's. Close it before this reader. */
  async connect(): Promise<Reader> {
    return new Reader(
      await this.engine.connect(),
      null,
      this.folder,
      this.options,
      this.files,
      this.definitions,
      this.ownColumns,
      this.timeZone,
    );
  }

  close(): void {
    this.engine.close();
    if (this.ownFolder !== null) removeTemporary(this.ownFolder);
  }
}

/**
 * Opens a reader, hands it to `use`, and closes it whatever happens.
 *
 * @throws DamageError if `use` failed on a file that cannot be read, or whose bytes are not those that were committed;
 * BusyError if what it reads is being removed
 */
export function withReader<T>(options: ReaderOptions, use: (reader: Reader) => Promise<T>): Promise<T> {
  return using(options, use).catch(async (error: unknown) => {
    throw await unlessRemoved(error, options.warehouse, options.memoryLimit);
  });
}

async function using<T>(options: ReaderOptions, use: (reader: Reader) => Promise<T>): Promise<T> {
  const reader = await Reader.open(options);
  try {
    return await use(reader);
  } catch (error) {
    if (!isOfDamage(error)) throw error;
    const damaged = await reader.findChanged();
    throw damaged.length > 0 ? new DamageError(damaged, { cause: error }) : error;
  } finally {
    reader.close();
  }
}

import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type NamedWebsite, websiteIds } from '../config/websites.js';
import { Engine, type Parameters } from '../storage/engine.js';
import { literal, sql } from '../storage/sql.js';
import { makeTemporary, removeTemporary } from '../storage/temporary.js';
import { type DamagedFile, DamageError, damagedFile, firstLine } from '../warehouse/damage.js';
import { websitesIn } from '../warehouse/layout.js';
import { filesOf, type Marker, markersOf, newestMarkers, stateFileOf } from '../warehouse/markers.js';
import { OpenWarehouse } from '../warehouse/open.js';
import { readableFolders } from '../warehouse/own-log.js';
import { checkWarehouseThere, listFiles, unlistedIn, withEmpty } from '../warehouse/prepare.js';
import { readStates, type StateOptions } from '../warehouse/state.js';
import { type DataTable, hasRowPerFile, TABLES, type Table } from '../warehouse/tables.js';
import type { AgeRule } from './data-age.js';
import { lockDown, SOURCES, type Source, UNSUMMARIZED, unsummarizedFiles, viewSources } from './sources.js';

export interface ReaderOptions extends Pick<StateOptions, 'onRebuilt'> {
  /** Folder of the warehouse; it may be read-only. */
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
  /** If the folder is a copy of a bucket: why it is not what the bucket should hold; null if it is. */
  cache?: { readonly failure: string | null } | undefined;
  /** Ids: of other websites it reads nothing, and its engine can read no file of theirs. Left out: all. */
  websites?: readonly string[] | undefined;
  /** Bytes that questions may spill to disk. Left out: as DuckDB has it. */
  spillLimit?: number;
  /** When its data is too old. Left out: `DEFAULT_AGE_RULE`. */
  ageRule?: AgeRule | undefined;
}

/** A website, its name in its newest snapshot or else its id, and when that began, ISO 8601. */
export interface Newest extends Record<'id' | 'name' | 'snapshotAt', string> {}

/** How DuckDB refuses a file whose inside is damaged; it does not always say which file. */
const OF_DAMAGE = /\b(IO|Invalid|Serialization|Corrupt\w*) Error: |Failed to read file|in Parquet file/;

/** What a reader and its further connections see. */
interface Seen {
  log: OpenWarehouse;
  /** The files of what was named so far, by source and website. Pending while they are checked. */
  listed: Map<string, Promise<string[]>>;
  /** Whether a question needed files that were left in the bucket. */
  lacksHistory: boolean;
}

/**
 * A warehouse at one moment: every table and view, over the files of exactly the commits that are there when it opens.
 * It takes no lock, so that it and a sync cannot block each other. Its engine can read the log and the states, and
 * nothing else on the machine; `ask` restricts users' questions to tables and views.
 *
 * The files of a table are checked when a question first names it; only those of one website, if the question is only
 * about that one. Those that cannot be read are left out and named in `damaged`. A missing or damaged state is then
 * rebuilt from the log, and kept if the warehouse can be written.
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
    private readonly seen: Seen,
    /** The first reader's, which lists files for all. */
    private readonly first: Engine = engine,
  ) {}

  /** @throws WarehouseError if there is no warehouse */
  static async open(options: ReaderOptions): Promise<Reader> {
    const warehouse = resolve(options.warehouse);
    await checkWarehouseThere(warehouse);
    const folder = makeTemporary('reader');
    const engine = await Engine.open({ memoryLimit: options.memoryLimit, temporary: folder, sharedViews: true });
    try {
      // Footers are read once, when a table is first named, and files are not checked for changes, because they never change.
      await engine.run('set parquet_metadata_cache = true');
      await engine.run("set validate_external_file_cache = 'NO_VALIDATION'");
      const { websites, spillLimit } = options;
      if (spillLimit !== undefined) await engine.run(`set max_temp_directory_size = '${spillLimit}B'`);
      const log = websites
        ? await OpenWarehouse.readOwn(engine, warehouse, folder, websites)
        : await OpenWarehouse.list(engine, warehouse, folder);
      await viewSources(engine, log.schemas);
      const seen = { log, listed: new Map(), lacksHistory: false };
      await lockDown(engine, [...readableFolders(warehouse, websites), folder]);
      return new Reader(engine, folder, folder, { ...options, warehouse }, seen);
    } catch (error) {
      engine.close();
      removeTemporary(folder);
      throw error;
    }
  }

  /** Every commit, oldest first. Their `files` are those that can be read. @throws Error before `loadMarkers` */
  get markers(): readonly Marker[] {
    return this.seen.log.all;
  }

  /** Reads all markers into memory. */
  loadMarkers(): Promise<void> {
    return this.seen.log.load(null);
  }

  /** Files that cannot be read, and that answers leave out. A query that names another table may find more. */
  get damaged(): readonly DamagedFile[] {
    return this.seen.log.damaged;
  }

  /** Whether an answer lacks listings or reports that were left in the bucket. */
  get lacksHistory(): boolean {
    return this.seen.lacksHistory;
  }

  /** Its websites, once for each name that they ever had. */
  websites(): Promise<NamedWebsite[]> {
    return this.seen.log.websites();
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
    const all = new Map((await this.seen.log.named()).map((one) => [one.id, { ...one, name: one.name ?? one.id }]));
    const asked = [...all.values()].filter(({ id }) => websiteId === null || id === websiteId);
    return asked.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** Some files of a table, in the form that our own statements expect. */
  filled(table: Table, files: readonly string[]): string[] {
    return withEmpty(this.seen.log.schemas, table, files);
  }

  /** The files of a table in one snapshot's commits, in the form that our own statements expect. */
  filesOfSnapshot(table: DataTable, snapshotId: string): string[] {
    const markers = this.markers.filter((marker) => marker.snapshotId === snapshotId);
    return this.filled(table, filesOf(this.seen.log.path, markers, table));
  }

  /** The files to count some snapshots' listings from: their summaries, and the coverage of commits without one. */
  filesOfListings(snapshotIds: readonly string[]): { summaries: string[]; unsummarized: string[] } {
    const { path } = this.seen.log;
    const markers = this.markers.filter(({ snapshotId }) => snapshotIds.includes(snapshotId));
    return {
      summaries: this.filled('coverage_summary', filesOf(path, markers, 'coverage_summary')),
      unsummarized: this.filled('coverage', unsummarizedFiles({ path, markers }, null)),
    };
  }

  /** The files that differ from their commit, and the states that cannot be read. */
  async findChanged(): Promise<DamagedFile[]> {
    const { log } = this.seen;
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
   * Runs a query. While it names a table whose files were not checked yet, checks them and runs it again.
   *
   * @param website the only one that the query is about; null: it is about all
   * @throws CheckpointError if nothing is left to rebuild a state from
   */
  async withTables<T>(ask: () => Promise<T>, website: string | null = null): Promise<T> {
    await this.#turnTo(website);
    try {
      return await ask();
    } catch (error) {
      const source = SOURCES.find((one) => one === unlistedIn(error));
      if (source === undefined || this.#listed.has(source)) throw error;
      await this.#list(source);
      return this.withTables(ask, website);
    }
  }

  async #turnTo(website: string | null): Promise<void> {
    if (website === this.#website) return;
    for (const source of this.#listed) await listFiles(this.engine, source, null);
    this.#listed.clear();
    this.#website = website;
  }

  /** Runs one query and validates each row, like `Engine.rows`. */
  rows<T>(schema: z.ZodType<T>, query: string, parameters: Parameters = {}, website?: string | null): Promise<T[]> {
    return this.withTables(() => this.engine.rows(schema, query, parameters), website);
  }

  /** Checks the files of all tables that are there, so that `damaged` names every one that cannot be read. */
  async reportDamaged(): Promise<void> {
    await this.#turnTo(null);
    for (const table of TABLES) if (table !== 'page_state') await this.#list(table);
  }

  async #list(source: Source): Promise<void> {
    const { listed } = this.seen;
    const name = JSON.stringify([source, this.#website]);
    const files = listed.get(name) ?? this.#filesOf(source, this.#website);
    listed.set(name, files);
    // The next question tries again.
    files.catch(() => listed.delete(name));
    await listFiles(this.engine, source, await files);
    this.#listed.add(source);
  }

  /** The files of a source that can be read. */
  async #filesOf(source: Source, website: string | null): Promise<string[]> {
    const { log } = this.seen;
    if (source === 'page_state') return this.#states(website);
    const table = source === UNSUMMARIZED ? 'coverage' : source;
    if (hasRowPerFile(table)) return this.#rows(table, website);
    await log.load(website === null ? null : [website]);
    const files = source === UNSUMMARIZED ? unsummarizedFiles(log, website) : log.files(table, website);
    const asked = website === null ? log.markers : markersOf(log.markers, website);
    if (source === table && asked.some(({ absent }) => Object.hasOwn(absent, table))) this.seen.lacksHistory = true;
    return log.readable(table, (some) => this.#look(table, some), files);
  }

  async #look(table: Table, files: readonly string[]): Promise<string[]> {
    const all = this.filled(table, files);
    await this.first.run(sql('query/look_at_files'), { files: all });
    return all;
  }

  /** Copies many small files into one. If that fails, the files are checked and used one by one. */
  #rows(table: Exclude<Table, 'page_state'>, website: string | null): Promise<string[]> {
    const { log } = this.seen;
    const copied = join(this.folder, `${table}-${this.seen.listed.size}.parquet`);
    const where = website === null ? 'true' : `website_id = ${literal(website)}`;
    const copy = async (files: readonly string[]) => {
      const query = `from (${log.query(table, files)}) where ${where}`;
      const isCopied = await this.first.copy(query, copied, 'format parquet').catch(() => null);
      return isCopied === null ? this.#look(table, files) : [copied];
    };
    return log.readable(table, copy, log.files(table, website));
  }

  async #states(website: string | null): Promise<string[]> {
    const { log } = this.seen;
    const { memoryLimit, onRebuilt } = this.options;
    await log.load(website === null ? null : [website]);
    const { path, damaged, tombstones, tombstoneFiles } = log;
    const markers = website === null ? log.markers : markersOf(log.markers, website);
    const seen = { path, markers, damaged, tombstones, tombstoneFiles };
    const states = await readStates(this.first, seen, { memoryLimit, temporary: this.folder, onRebuilt });
    log.leaveOut(states.damaged);
    return this.filled('page_state', states.files);
  }

  /** Whether there is no snapshot yet. */
  get isEmpty(): boolean {
    return this.seen.log.newestDate === null;
  }

  /** The date of the newest snapshot, `YYYY-MM-DD`; today's in UTC if there is none. */
  get today(): string {
    return this.seen.log.newestDate ?? new Date().toISOString().slice(0, 10);
  }

  /** Another connection to the same data, for a query beside this reader's. Close it before this reader. */
  async connect(): Promise<Reader> {
    return new Reader(await this.engine.connect(), null, this.folder, this.options, this.seen, this.first);
  }

  close(): void {
    this.engine.close();
    if (this.ownFolder !== null) removeTemporary(this.ownFolder);
  }
}

/**
 * Opens a reader, hands it to `use`, and closes it whatever happens.
 *
 * @throws DamageError if `use` failed on a file whose bytes are not those that were committed
 */
export async function withReader<T>(options: ReaderOptions, use: (reader: Reader) => Promise<T>): Promise<T> {
  const reader = await Reader.open(options);
  try {
    return await use(reader);
  } catch (error) {
    if (!(error instanceof Error) || !OF_DAMAGE.test(error.message)) throw error;
    const damaged = await reader.findChanged();
    throw damaged.length > 0 ? new DamageError(damaged, { cause: error }) : error;
  } finally {
    reader.close();
  }
}

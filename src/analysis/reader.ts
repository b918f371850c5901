import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { NamedWebsite } from '../config/websites.js';
import { Engine } from '../storage/engine.js';
import { literal } from '../storage/sql.js';
import { makeTemporary, removeTemporary } from '../storage/temporary.js';
import { type DamagedFile, DamageError, damagedFile, firstLine } from '../warehouse/damage.js';
import { filesOf, type Marker } from '../warehouse/markers.js';
import { OpenWarehouse } from '../warehouse/open.js';
import { checkWarehouseThere, variableQuery, withEmpty } from '../warehouse/prepare.js';
import { findStates, makeState, type StateOptions, type StatesSeen } from '../warehouse/state.js';
import { type DataTable, TABLES, type Table, viewStatements } from '../warehouse/tables.js';

export interface ReaderOptions extends Pick<StateOptions, 'onRebuilt'> {
  /** Folder of the warehouse; it may be read-only. */
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
}

/** How DuckDB refuses a file whose inside is damaged; it does not always say which file. */
const OF_DAMAGE = /\b(IO|Invalid|Serialization|Corrupt\w*) Error: |Failed to read file|in Parquet file/;

/** What a reader sees. */
interface Seen {
  log: OpenWarehouse;
  states: StatesSeen;
  /** Pending while missing states are rebuilt, for all connections. */
  making: Promise<void> | null;
}

/**
 * A warehouse as it is at one moment: every table and view, over the files of exactly the commits that are there when
 * it opens. It takes no lock, so no sync can block it, nor it a sync. Its engine can read the log and the states, and
 * nothing else of the machine; of a question of somebody else's, `ask` lets only tables and views through.
 *
 * Files that cannot be read are left out and named in `damaged`. A missing or damaged state is rebuilt from the log when
 * a query first reads it, and kept if the warehouse can be written.
 */
export class Reader {
  #turn = 0;

  private constructor(
    readonly engine: Engine,
    /** Null for a further connection, whose folder belongs to the first reader. */
    private readonly ownFolder: string | null,
    /** A temporary folder: the only one besides the warehouse that the engine may read. */
    readonly folder: string,
    private readonly options: ReaderOptions,
    private readonly seen: Seen,
  ) {}

  /** @throws WarehouseError where there is no warehouse */
  static async open(options: ReaderOptions): Promise<Reader> {
    const warehouse = resolve(options.warehouse);
    await checkWarehouseThere(warehouse);
    const folder = makeTemporary('reader');
    const engine = await Engine.open({ memoryLimit: options.memoryLimit, temporary: folder, sharedViews: true });
    try {
      // Footers are read once, when a view is created, and files are not checked for changes, because they never change.
      await engine.run('set parquet_metadata_cache = true');
      await engine.run("set validate_external_file_cache = 'NO_VALIDATION'");
      const seen = await openViews(engine, warehouse, folder);
      await lockDown(engine, [...['parquet', 'state', 'schema'].map((name) => join(warehouse, name)), folder]);
      return new Reader(engine, folder, folder, { ...options, warehouse }, seen);
    } catch (error) {
      engine.close();
      removeTemporary(folder);
      throw error;
    }
  }

  /** Every commit, oldest first. Their `files` are those that can be read. */
  get markers(): readonly Marker[] {
    return this.seen.log.markers;
  }

  /** Files that cannot be read, and that answers leave out. A query that rebuilds a state may find more. */
  get damaged(): readonly DamagedFile[] {
    return this.seen.log.damaged;
  }

  /** Its websites, once for each name that they ever had. */
  websites(): Promise<NamedWebsite[]> {
    return this.seen.log.websites();
  }

  /** Some files of a table, as statements of our own read them. */
  filled(table: Table, files: readonly string[]): string[] {
    return withEmpty(this.seen.log.schemas, table, files);
  }

  /** What one snapshot's commits hold of a table, as statements of our own read it: not every file there is. */
  filesOfSnapshot(table: DataTable, snapshotId: string): string[] {
    const markers = this.markers.filter((marker) => marker.snapshotId === snapshotId);
    return this.filled(table, filesOf(this.seen.log.path, markers, table));
  }

  /** What the listings of some snapshots are counted from: their summaries, and the coverage of commits without one. */
  filesOfListings(snapshotIds: readonly string[]): { summaries: string[]; unsummarized: string[] } {
    const { path } = this.seen.log;
    const markers = this.markers.filter(({ snapshotId }) => snapshotIds.includes(snapshotId));
    return {
      summaries: this.filled('coverage_summary', filesOf(path, markers, 'coverage_summary')),
      unsummarized: this.filled('coverage', filesOf(path, markers.filter(isUnsummarized), 'coverage')),
    };
  }

  /** The files that differ from their commit, and the states that cannot be read. */
  async findChanged(): Promise<DamagedFile[]> {
    const { log, states } = this.seen;
    const changed = await log.findChanged();
    for (const { file } of states.present) {
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
   * Runs a query; if it reads missing states, rebuilds them and runs it again.
   *
   * @throws CheckpointError where nothing is left to rebuild a state from
   */
  async withStates<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!lacksStates(error)) throw error;
      const seen = this.seen;
      if (seen.states.lacking.length > 0) {
        seen.making ??= this.#makeStates().finally(() => {
          seen.making = null;
        });
        await seen.making;
      }
      await showStates(this.engine, this.seen.log.schemas, seen.states);
      return ask();
    }
  }

  async #makeStates(): Promise<void> {
    const { log, states } = this.seen;
    const { warehouse, memoryLimit, onRebuilt } = this.options;
    const options = { memoryLimit, temporary: this.folder, onRebuilt };
    for (let newest = states.lacking.at(-1); newest; newest = states.lacking.at(-1)) {
      const made = await makeState(warehouse, { log, newest }, options);
      log.leaveOut(made.damaged);
      if (made.file !== null) states.present.push({ newest, file: made.file });
      states.lacking.pop();
    }
  }

  /** The date of the newest snapshot, `YYYY-MM-DD`; today's in UTC where there is none. */
  get today(): string {
    const dates = this.markers.map(({ date }) => date).sort();
    return dates.at(-1) ?? new Date().toISOString().slice(0, 10);
  }

  /** Another connection to the same data, for a query beside this reader's. To be closed before this reader. */
  async connect(): Promise<Reader> {
    const engine = await this.engine.connect();
    await showStates(engine, this.seen.log.schemas, this.seen.states);
    return new Reader(engine, null, this.folder, this.options, this.seen);
  }

  close(): void {
    this.engine.close();
    if (this.ownFolder !== null) removeTemporary(this.ownFolder);
  }
}

/**
 * Opens a reader, hands it to `use`, and closes it whatever happens.
 *
 * @throws DamageError where `use` failed over a file whose bytes are not those that were committed
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

async function openViews(engine: Engine, warehouse: string, folder: string): Promise<Seen> {
  const log = await OpenWarehouse.read(engine, warehouse, folder);
  for (const table of TABLES) if (table !== 'page_state') await log.mount(table);
  const states = await findStates(engine, log);
  // Over the files in a variable, because some may have to be rebuilt first.
  await showStates(engine, log.schemas, { ...states, lacking: [] });
  await engine.view('page_state', variableQuery('page_state', 'state_files'));
  for (const statement of viewStatements(unsummarizedOf(log))) await engine.run(statement);
  await showStates(engine, log.schemas, states);
  return { log, states, making: null };
}

/** The macro `unsummarized_coverage` over the files of commits without a summary, usually none. */
function unsummarizedOf(log: OpenWarehouse): string {
  const query = log.query('coverage', filesOf(log.path, log.markers.filter(isUnsummarized), 'coverage'));
  return `create or replace macro unsummarized_coverage() as table ${query}`;
}

function isUnsummarized({ files }: Marker): boolean {
  return !Object.hasOwn(files, 'coverage_summary');
}

/** Lets `page_state` read the states, or, while some are missing, fail with an error that `lacksStates` recognises. */
async function showStates(engine: Engine, schemas: string, { present, lacking }: StatesSeen): Promise<void> {
  const files = present.map(({ file }) => file);
  await engine.set({ state_files: lacking.length > 0 ? null : withEmpty(schemas, 'page_state', files) });
}

function lacksStates(error: unknown): boolean {
  return error instanceof Error && error.message.includes('read_parquet cannot take NULL list');
}

/** From here on the engine reads only these folders, and its settings cannot be changed. */
async function lockDown(engine: Engine, folders: string[]): Promise<void> {
  await engine.run(`set allowed_directories = [${folders.map(literal).join(', ')}]`);
  await engine.run('set enable_external_access = false');
  await engine.run('set lock_configuration = true');
}

import { join, resolve } from 'node:path';
import { Engine } from '../storage/engine.js';
import { identifier, literal } from '../storage/sql.js';
import { makeTemporary, removeTemporary } from '../storage/temporary.js';
import { type Column, columnsOfTables } from '../warehouse/columns.js';
import { type DamagedFile, viewReadable, without } from '../warehouse/damage.js';
import { listTableFiles, schemaFile } from '../warehouse/layout.js';
import { filesOf, type Log, type Marker, markerPaths, readLog, withoutUnreadable } from '../warehouse/markers.js';
import { checkWarehouseThere, makeSchemas, tableQuery } from '../warehouse/prepare.js';
import { findStates, makeState, readableStates, type StateOptions, type StatesSeen } from '../warehouse/state.js';
import { DATA_TABLES, type Table } from '../warehouse/tables.js';
import { viewStatements } from '../warehouse/views.js';

export interface ReaderOptions extends Pick<StateOptions, 'onRebuilt'> {
  /** Folder of the warehouse; it may be read-only. */
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
}

/** What a reader sees. */
interface Seen {
  log: Log;
  states: StatesSeen;
  damaged: DamagedFile[];
  /** While lacking states are made anew, for all connections. */
  making: Promise<void> | null;
}

/**
 * A warehouse as it is at one moment: every table and view, over the files of exactly the commits that are there when
 * it opens. It takes no lock, so no sync can block it, nor it a sync. Its engine can read the log and the states, and
 * nothing else of the machine; of a question of somebody else's, `ask` lets only tables and views through.
 *
 * Files that cannot be read are left out and named in `damaged`. States are derived: one that is missing or damaged is
 * made anew from the log for the first question that reads it, and kept where the warehouse can be written.
 */
export class Reader {
  #turn = 0;
  readonly #options: ReaderOptions;
  readonly #seen: Seen;

  private constructor(
    readonly engine: Engine,
    /** Null where it goes with the reader that this one is a connection of. */
    private readonly ownFolder: string | null,
    /** A folder of our own that goes with the reader, and the only one beside the warehouse that the engine sees. */
    readonly folder: string,
    options: ReaderOptions,
    seen: Seen,
  ) {
    this.#options = options;
    this.#seen = seen;
  }

  /** @throws WarehouseError where there is no warehouse */
  static async open(options: ReaderOptions): Promise<Reader> {
    const warehouse = resolve(options.warehouse);
    await checkWarehouseThere(warehouse);
    const folder = makeTemporary('reader');
    const engine = await Engine.open({ memoryLimit: options.memoryLimit, temporary: folder, sharedViews: true });
    try {
      // Each file's footer is read once, when its view is made, and not again for each question; nor is each question
      // to look whether the file is still the same, because none is ever changed.
      await engine.run('set parquet_metadata_cache = true');
      await engine.run("set validate_external_file_cache = 'NO_VALIDATION'");
      const seen = await openViews(engine, warehouse, folder);
      await lockDown(engine, [join(warehouse, 'parquet'), join(warehouse, 'state'), folder]);
      return new Reader(engine, folder, folder, { ...options, warehouse }, seen);
    } catch (error) {
      engine.close();
      removeTemporary(folder);
      throw error;
    }
  }

  /** Every commit, oldest first. Their `files` are those that can be read. */
  get markers(): readonly Marker[] {
    return this.#seen.log.markers;
  }

  /** Files that cannot be read: every answer is without them. A question that makes a state anew may find more. */
  get damaged(): readonly DamagedFile[] {
    return this.#seen.damaged;
  }

  /** Counts the questions: the engine gives up an answer that is still being read when the next one is asked. */
  get turn(): number {
    return this.#turn;
  }

  nextTurn(): number {
    this.#turn += 1;
    return this.#turn;
  }

  /**
   * Runs what asks the engine a question; where that reads states that are missing, makes them anew and runs it again.
   *
   * @throws CheckpointError where nothing is left that a state could be made from
   */
  async withStates<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!lacksStates(error)) throw error;
      const seen = this.#seen;
      if (seen.states.lacking.length > 0) {
        seen.making ??= this.#makeStates().finally(() => {
          seen.making = null;
        });
        await seen.making;
      }
      await showStates(this.engine, this.folder, seen.states);
      return ask();
    }
  }

  async #makeStates(): Promise<void> {
    const { log, states, damaged } = this.#seen;
    const { warehouse, memoryLimit, onRebuilt } = this.#options;
    const options = { memoryLimit, temporary: this.folder, onRebuilt };
    for (let newest = states.lacking.at(-1); newest; newest = states.lacking.at(-1)) {
      const made = await makeState(warehouse, { log, newest }, options);
      damaged.push(...made.damaged);
      if (made.file !== null) states.present.push({ newest, file: made.file });
      states.lacking.pop();
    }
  }

  /** The date of the newest snapshot, `YYYY-MM-DD`; today's in UTC where there is none. */
  get today(): string {
    const dates = this.markers.map(({ date }) => date).sort();
    return dates.at(-1) ?? new Date().toISOString().slice(0, 10);
  }

  /** The same state of the world on another connection, for a question beside this reader's. Closed before this one. */
  async connect(): Promise<Reader> {
    const engine = await this.engine.connect();
    await showStates(engine, this.folder, this.#seen.states);
    return new Reader(engine, null, this.folder, this.#options, this.#seen);
  }

  close(): void {
    this.engine.close();
    if (this.ownFolder !== null) removeTemporary(this.ownFolder);
  }
}

/** Opens a reader, hands it to `use`, and closes it whatever happens. */
export async function withReader<T>(options: ReaderOptions, use: (reader: Reader) => Promise<T>): Promise<T> {
  const reader = await Reader.open(options);
  try {
    return await use(reader);
  } finally {
    reader.close();
  }
}

async function openViews(engine: Engine, warehouse: string, folder: string): Promise<Seen> {
  await makeSchemas(engine, folder);
  // Asked by making the tables, which no view may stand in the way of.
  const columns = (await columnsOfTables(engine)).get('page_state') ?? [];
  // Before the markers, so that no run points to a snapshot that is not seen.
  const runs = await listTableFiles(warehouse, 'runs');
  const read = await readLog(engine, warehouse, folder);
  // Behind them, so that no file is left out without its tombstone being seen.
  const tombstones = without(await listTableFiles(warehouse, 'tombstones'), read.damaged);
  const damaged = [...read.damaged];
  const view = async (table: Table, files: readonly string[]) => {
    damaged.push(...(await viewReadable(engine, table, { schemas: folder, table, files })));
  };
  await view('snapshots', markerPaths(read.markers, 'snapshots'));
  await view('replays', markerPaths(read.markers, 'replays'));
  await view('runs', runs);
  await view('tombstones', tombstones);
  for (const table of DATA_TABLES) await view(table, filesOf(warehouse, read.markers, table));
  const markers = withoutUnreadable(read.markers, damaged);
  const states = await viewStates(engine, { folder, columns }, await findStates(warehouse, markers));
  for (const statement of viewStatements(unsummarizedOf(warehouse, markers, folder))) await engine.run(statement);
  await showStates(engine, folder, states);
  return { log: { markers, damaged }, states, damaged, making: null };
}

/** The macro `unsummarized_coverage` over just the files that it is about, mostly none. */
function unsummarizedOf(warehouse: string, markers: readonly Marker[], folder: string): string {
  const unsummarized = markers.filter((marker) => !Object.hasOwn(marker.files, 'coverage_summary'));
  const query = tableQuery(folder, 'coverage', filesOf(warehouse, unsummarized, 'coverage'));
  return `create or replace macro unsummarized_coverage() as table ${query}`;
}

/**
 * Makes the view `page_state` over the files that a variable names, because some may have to be made first.
 *
 * @returns the states, damaged ones among those that are lacking
 */
async function viewStates(
  engine: Engine,
  { folder, columns }: { folder: string; columns: readonly Column[] },
  found: StatesSeen,
): Promise<StatesSeen> {
  // By name: DuckDB refuses a view whose files have other columns than when it was made.
  const names = columns.map(({ name }) => identifier(name)).join(', ');
  const files = "read_parquet(getvariable('state_files'), union_by_name = true, hive_partitioning = false)";
  const view = async ({ present }: StatesSeen) => {
    await showStates(engine, folder, { present, lacking: [] });
    await engine.view('page_state', `select ${names} from ${files}`);
  };
  try {
    await view(found);
    return found;
  } catch (error) {
    const readable = await readableStates(engine, found);
    if (readable.lacking.length === found.lacking.length) throw error;
    await view(readable);
    return readable;
  }
}

/** Lets `page_state` read the states, or, while some are lacking, be refused in a way that `lacksStates` knows. */
async function showStates(engine: Engine, folder: string, { present, lacking }: StatesSeen): Promise<void> {
  const files = [schemaFile(folder, 'page_state'), ...present.map(({ file }) => file)];
  const value = lacking.length > 0 ? null : files;
  await engine.set({ state_files: value });
}

function lacksStates(error: unknown): boolean {
  return error instanceof Error && error.message.includes('read_parquet cannot take NULL list');
}

/** From here on the engine can be told to read nothing but these folders, and not to forget that. */
async function lockDown(engine: Engine, folders: string[]): Promise<void> {
  await engine.run(`set allowed_directories = [${folders.map(literal).join(', ')}]`);
  await engine.run('set enable_external_access = false');
  await engine.run('set lock_configuration = true');
}

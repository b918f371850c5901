import { resolve } from 'node:path';
import { Engine, type EngineOptions } from '../storage/engine.js';
import { literal } from '../storage/sql.js';
import { makeTemporary, removeTemporary } from '../storage/temporary.js';
import { listTableFiles } from '../warehouse/layout.js';
import { filesOf, type Marker, markerPaths, readMarkers } from '../warehouse/markers.js';
import { checkWarehouseThere, makeSchemas, tableQuery } from '../warehouse/prepare.js';
import { statesSeen } from '../warehouse/state.js';
import { DATA_TABLES, MARKER_TABLES, TABLES, type Table } from '../warehouse/tables.js';
import { viewStatements } from '../warehouse/views.js';
import { KeptTables } from './kept-tables.js';

export interface ReaderOptions {
  /** Folder of the warehouse; it may be read-only. */
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
}

/** The files of each table that one question sees. */
type Files = ReadonlyMap<Table, string[]>;

/**
 * A warehouse as it is at one moment: every table and view, over the files of exactly the commits that are there when
 * it opens. It takes no lock and writes nothing but temporary files elsewhere, so no sync can block it, nor it a sync.
 * What is asked through it can read the warehouse and nothing else of the machine.
 */
export class Reader {
  #turn = 0;

  private constructor(
    readonly engine: Engine,
    /** A folder of our own that goes with the reader, and the only one beside the warehouse that the engine sees. */
    readonly folder: string,
    /** Every commit, oldest first. */
    readonly markers: readonly Marker[],
    private readonly kept: KeptTables,
  ) {}

  /** @throws WarehouseError where there is no warehouse */
  static async open({ warehouse: path, memoryLimit }: ReaderOptions): Promise<Reader> {
    const warehouse = resolve(path);
    await checkWarehouseThere(warehouse);
    const folder = makeTemporary('reader');
    const engine = await Engine.open({ memoryLimit, temporary: folder });
    try {
      // Each file's footer is read once, when its view is made, and not again for each question; nor is each question
      // to look whether the file is still the same, because none is ever changed.
      await engine.run('set parquet_metadata_cache = true');
      await engine.run("set validate_external_file_cache = 'NO_VALIDATION'");
      const { markers, kept } = await openViews(engine, warehouse, { memoryLimit, temporary: folder });
      await lockDown(engine, [warehouse, folder]);
      return new Reader(engine, folder, markers, kept);
    } catch (error) {
      engine.close();
      removeTemporary(folder);
      throw error;
    }
  }

  /** Counts the questions: the engine gives up an answer that is still being read when the next one is asked. */
  get turn(): number {
    return this.#turn;
  }

  nextTurn(): number {
    this.#turn += 1;
    return this.#turn;
  }

  /** Makes ready what a question reads, for the questions after it to cost less. To be called before each is asked. */
  async makeReady(sql: string): Promise<void> {
    await this.kept.beforeQuestion(sql);
  }

  /** The date of the newest snapshot, `YYYY-MM-DD`; today's in UTC where there is none. */
  get today(): string {
    const dates = this.markers.map(({ date }) => date).sort();
    return dates.at(-1) ?? new Date().toISOString().slice(0, 10);
  }

  close(): void {
    this.engine.close();
    removeTemporary(this.folder);
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

async function openViews(
  engine: Engine,
  warehouse: string,
  options: EngineOptions,
): Promise<{ markers: Marker[]; kept: KeptTables }> {
  await makeSchemas(engine, options.temporary);
  // Before the markers, so that no run points to a snapshot that is not seen.
  const runs = await listTableFiles(warehouse, 'runs');
  const markers = await readMarkers(engine, warehouse);
  // Behind them, so that no file is left out without its tombstone being seen.
  const tombstones = await listTableFiles(warehouse, 'tombstones');
  const files = await filesSeen(warehouse, { runs, tombstones, markers, options });
  for (const table of TABLES) await engine.view(table, tableQuery(options.temporary, table, files.get(table) ?? []));
  for (const statement of viewStatements(unsummarizedOf(warehouse, markers, options))) await engine.run(statement);
  return { markers, kept: new KeptTables(engine, nightlyRows(markers, runs)) };
}

/** How many rows the tables of a small file a night have. */
function nightlyRows(markers: readonly Marker[], runs: readonly string[]): ReadonlyMap<Table, number> {
  return new Map<Table, number>([
    ['snapshots', markers.length],
    ['runs', runs.length],
    ['coverage_summary', markers.reduce((rows, { files }) => rows + (files['coverage_summary']?.rows ?? 0), 0)],
  ]);
}

/** The macro `unsummarized_coverage` over just the files that it is about, mostly none. */
function unsummarizedOf(warehouse: string, markers: readonly Marker[], { temporary }: EngineOptions): string {
  const unsummarized = markers.filter((marker) => !Object.hasOwn(marker.files, 'coverage_summary'));
  const query = tableQuery(temporary, 'coverage', filesOf(warehouse, unsummarized, 'coverage'));
  return `create or replace macro unsummarized_coverage() as table ${query}`;
}

async function filesSeen(
  warehouse: string,
  {
    runs,
    tombstones,
    markers,
    options,
  }: { runs: string[]; tombstones: string[]; markers: Marker[]; options: EngineOptions },
): Promise<Files> {
  return new Map<Table, string[]>([
    ...DATA_TABLES.map((table) => [table, filesOf(warehouse, markers, table)] as const),
    ...MARKER_TABLES.map((table) => [table, markerPaths(markers, table)] as const),
    ['runs', runs],
    ['tombstones', tombstones],
    ['page_state', await statesSeen(warehouse, markers, options)],
  ]);
}

/** From here on the engine can be told to read nothing but these folders, and not to forget that. */
async function lockDown(engine: Engine, folders: string[]): Promise<void> {
  await engine.run(`set allowed_directories = [${folders.map(literal).join(', ')}]`);
  await engine.run('set enable_external_access = false');
  await engine.run('set lock_configuration = true');
}

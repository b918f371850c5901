import { createHash } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { crashPoint } from '../../base/storage/crash-point.js';
import { exists } from '../../base/storage/durable.js';
import { Engine } from '../../base/storage/engine.js';
import { waitingForLock } from '../../base/storage/locks.js';
import { literal } from '../../base/storage/sql.js';
import { readReadable } from '../log/folder/damage.js';
import { scratchFolder, warehouseFolder, websiteOf } from '../log/folder/layout.js';
import { createTables, LOOSE_TABLES, type Table, viewStatements } from '../log/folder/tables.js';
import type { Log } from '../log/log.js';
import { dataFilesOf, type Marker } from '../log/markers.js';
import { type Commit, catchUp, type FollowerState, type LogCopy } from './follower.js';
import { knownCommits, lackingTombstones, removeDatabase } from './native-file.js';

/** The name by which the file is attached. */
const DATABASE = 'indexhouse';
const RETRY_INTERVAL_MS = 250;
/**
 * Rows in a row group of the file, twice as many as in the Parquet files. DuckDB compresses a full row group with all
 * threads while it reads rows, and only once. Rows that do not fill one are compressed by a single thread, together
 * with those of the commit before.
 */
const ROW_GROUP_SIZE = 40_960;
/** Half of a row group: a commit with this many rows is not worth merging with the row groups of the one before. */
const LARGE_COMMIT_ROWS = ROW_GROUP_SIZE / 2;
/** Every transaction exceeds this, so its rows are only written to the file and not to the WAL as well. */
const NO_LOG_THRESHOLD = '1KB';

export interface FollowDuckdbInput {
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
  /** How long to wait for a reader that has the file open, in milliseconds. */
  lockTimeout: number;
  /** A file to build instead of `indexhouse.duckdb`, when that is rebuilt. */
  file?: string;
}

export function scratch({ warehouse, memoryLimit }: Pick<FollowDuckdbInput, 'warehouse' | 'memoryLimit'>) {
  return { memoryLimit, temporary: scratchFolder(warehouse) };
}

/** Opens the file for writing, or creates it. Waits for readers. @throws EngineError if one keeps it open */
export async function openWaiting(input: FollowDuckdbInput): Promise<Engine> {
  const file = input.file ?? warehouseFolder(input.warehouse).database;
  const tries = { withinMs: input.lockTimeout, everyMs: RETRY_INTERVAL_MS };
  return waitingForLock(() => openDatabase(input, file), tries);
}

/** Attaches the file, because only `attach` accepts a row group size. Rows keep the order of their files. */
async function openDatabase(input: FollowDuckdbInput, file: string): Promise<Engine> {
  const engine = await Engine.open(scratch(input));
  try {
    if (!(await exists(file))) await createDatabase(engine, file);
    await attachForWriting(engine, file, DATABASE);
    await engine.run('set preserve_insertion_order = true');
  } catch (error) {
    engine.close();
    throw error;
  }
  return engine;
}

/**
 * Creates a native file with its tables and views under another name first: DuckDB refuses one that a crash or a full disk left
 * empty or half-written.
 */
export async function createDatabase(engine: Engine, file: string): Promise<void> {
  const temporary = `${file}.tmp`;
  await removeDatabase(temporary);
  // The WAL of a file that was deleted by hand would be replayed into the new one.
  await rm(`${file}.wal`, { force: true });
  await attachForWriting(engine, temporary, 'made');
  await createTables(engine);
  await engine.run('create table views_of (text_sha256 varchar not null)');
  await createViews(engine);
  await engine.run('checkpoint made');
  await engine.run('use memory');
  await engine.run('detach made');
  await rename(temporary, file);
}

/** Attaches a native file for writing, creating it if needed, and makes it the default database of statements. */
export async function attachForWriting(engine: Engine, file: string, name: string): Promise<void> {
  await engine.run(`attach ${literal(file)} as ${name} (row_group_size ${ROW_GROUP_SIZE})`);
  await engine.run(`use ${name}`);
}

/** Inserts the commits that the open file lacks. */
export async function catchUpDuckdb(engine: Engine, input: FollowDuckdbInput, log: Log): Promise<FollowerState> {
  return { name: 'duckdb', ...(await catchUp(new DuckdbFile(engine, input), log, scratch(input))) };
}

/** `indexhouse.duckdb`, open for writing: one transaction for each commit. */
class DuckdbFile implements LogCopy {
  readonly title = 'indexhouse.duckdb';

  constructor(
    private readonly engine: Engine,
    private readonly input: FollowDuckdbInput,
  ) {}

  async drop(log: Log): Promise<void> {
    const { engine } = this;
    await createViews(engine);
    // They are of commits that it lacks: a file that holds their rows is rebuilt.
    if (log.tombstoneFiles.length > 0) await engine.run(`insert into tombstones by name ${lackingTombstones(log)}`);
  }

  known(): Promise<ReadonlySet<string>> {
    return knownCommits(this.engine);
  }

  async take(commit: Commit): Promise<void> {
    await tuneFor(this.engine, commit.marker);
    await inTransaction(this.engine, () => this.#insertAll(commit));
  }

  async #insertAll({ marker, state }: Commit): Promise<void> {
    const { engine } = this;
    for (const [table, file] of dataFilesOf(this.input.warehouse, marker)) await insert(engine, table, file);
    if (state !== null) {
      await engine.run('delete from page_state where website_id = $id', { id: marker.websiteId });
      await insert(engine, 'page_state', state);
    }
    crashPoint('followed the data');
    await insert(engine, 'snapshots', marker.path);
    crashPoint('followed the marker');
  }

  async finish(log: Log): Promise<string[]> {
    const { engine } = this;
    crashPoint('followed all markers');
    const skipped: string[] = [];
    for (const [table, id] of LOOSE_TABLES) {
      const { damaged } = await readReadable(
        engine,
        table,
        await lackingRows(engine, log.files(table), table, id),
        (files) => {
          const lacking = `(${log.query(table, files)}) anti join ${table} using (${id}, website_id)`;
          return inTransaction(engine, () => engine.run(`insert into ${table} by name select * from ${lacking}`));
        },
      );
      skipped.push(...damaged.map(({ path, reason }) => `${path} ${reason}`));
    }
    await engine.run('checkpoint');
    return skipped;
  }
}

/** The files of runs or notes that it has no row for, by file name: of runs there is one per night. */
async function lackingRows(engine: Engine, files: readonly string[], table: string, id: string): Promise<string[]> {
  const ids = z.object({ website_id: z.string(), id: z.string() });
  const rows = await engine.rows(ids, `select website_id, ${id} as id from ${table}`);
  const known = new Set(rows.map((row) => `${row.website_id} ${row.id}`));
  return files.filter((file) => !known.has(`${websiteOf(file)} ${basename(file, '.parquet')}`));
}

/** Creates the views of a native file, unless they are there with the same text. */
export async function createViews(engine: Engine): Promise<void> {
  const views = viewStatements();
  const text = createHash('sha256').update(views.join(';\n')).digest('hex');
  const [known] = await engine.rows(z.object({ text: z.string() }), 'select text_sha256 as text from views_of');
  if (known?.text === text) return;
  await inTransaction(engine, async () => {
    for (const view of views) await engine.run(view);
    await engine.run('delete from views_of');
    await engine.run('insert into views_of values ($text)', { text });
  });
}

/**
 * Tunes the engine to the size of a commit. DuckDB merges small row groups at every checkpoint. For a large commit,
 * this doubles the time; without it, small commits would let the file grow to three times its size.
 */
async function tuneFor(engine: Engine, { files }: Marker): Promise<void> {
  const isLarge = Object.values(files).some(({ rows }) => rows >= LARGE_COMMIT_ROWS);
  await engine.run(isLarge ? 'set max_vacuum_tasks = 0' : 'reset max_vacuum_tasks');
  await engine.run(isLarge ? `set checkpoint_threshold = '${NO_LOG_THRESHOLD}'` : 'reset checkpoint_threshold');
}

async function insert(engine: Engine, table: Table, file: string): Promise<void> {
  await engine.run(`insert into ${table} by name select * from read_parquet($file, hive_partitioning = false)`, {
    file,
  });
}

async function inTransaction<T>(engine: Engine, work: () => Promise<T>): Promise<T> {
  await engine.run('begin');
  try {
    const done = await work();
    await engine.run('commit');
    return done;
  } catch (error) {
    // If the commit itself failed, DuckDB has already rolled back.
    await engine.run('rollback').catch(() => {});
    throw error;
  }
}

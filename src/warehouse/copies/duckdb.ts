import { createHash } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { BusyError, Failure } from '../../base/exit.js';
import { counted } from '../../base/observe/format.js';
import { crashPoint } from '../../base/storage/crash-point.js';
import { diskRemedy, withRemedy } from '../../base/storage/disk-error.js';
import { exists, removeDatabase, replaceDatabase } from '../../base/storage/durable.js';
import { Engine, type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { lockHolder, waitingForLock } from '../../base/storage/locks.js';
import { checkAreFiles } from '../../base/storage/only-files.js';
import { isWholeParquet } from '../../base/storage/parquet-file.js';
import { literal } from '../../base/storage/sql.js';
import { readReadable } from '../log/folder/damage.js';
import { commentOn, descriptionsText } from '../log/folder/dictionary.js';
import { scratchFolder, warehouseFolder, websiteOf } from '../log/folder/layout.js';
import { timeZoneOf } from '../log/folder/prepare.js';
import { createTables, LOOSE_TABLES, ROW_FILES, type Table, viewScript } from '../log/folder/tables.js';
import { type Log, openLog } from '../log/log.js';
import { dataFilesOf, type Marker, stateFileOf } from '../log/markers.js';
import { checkDuckdb, duckdbLag, heldWithoutFile, knownCommits, lackingTombstones } from './duckdb-check.js';
import { aheadText, type Compared, catchUp, type FollowerState, type LogCopy } from './follower.js';

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

/** The new file could not be built; the old one is unchanged. */
export class RebuildError extends Failure {}

/**
 * Brings `indexhouse.duckdb` up to date: it inserts every commit that it lacks, oldest first, one transaction each. The
 * file is open read-write only for these few seconds. A reader that has it open makes it lag but never fails a sync. A
 * commit whose files cannot be read is skipped, reported, and tried again next time. A file that holds what retention or
 * a removal took out of the log is rebuilt. The caller holds the run lock.
 */
export async function followWithDuckdb(input: FollowDuckdbInput, log: Log): Promise<FollowerState> {
  let engine: Engine;
  try {
    engine = await openWaiting(input);
  } catch (error) {
    const { behind } = await duckdbLag(log, scratch(input), input.file);
    const holder = lockHolder(error);
    const lacks = behind > 0 ? `is ${counted(behind, 'snapshot')} behind` : 'lacks the newest notes or runs';
    const reason = holder
      ? `${holder} has indexhouse.duckdb open, so it ${lacks}; the next sync catches up once it is closed`
      : `indexhouse.duckdb cannot be opened: ${withRemedy(error)}. The Parquet files are complete: ${diskRemedy(error) ? 'the next sync catches up' : 'delete it, and the next sync rebuilds it'}`;
    return { name: 'duckdb', behind, reason };
  }
  try {
    const { isOutdated, lost } = await heldWithoutFile(engine, log);
    if (!isOutdated) {
      const state = await catchUp(new DuckdbFile(engine, input), log, scratch(input));
      // A file that is being built does not replace the one with removed rows yet.
      if (!input.file) await rm(warehouseFolder(input.warehouse).duckdbRemoval, { force: true });
      const ahead = lost.length;
      const reason = `${aheadText(ahead)}: run \`indexhouse verify\`, which names them`;
      return ahead > 0 ? { ...state, behind: state.behind + ahead, reason } : state;
    }
  } finally {
    engine.close();
  }
  return rebuildDuckdb(input);
}

/** Like `followWithDuckdb`, with the current log. */
export function followDuckdb(input: FollowDuckdbInput): Promise<FollowerState> {
  return withEngine(scratch(input), async (engine) =>
    followWithDuckdb(input, await openLog(engine, input.warehouse, { index: 'at once' })),
  );
}

/**
 * Rebuilds `indexhouse.duckdb` from the Parquet files in a new file, which then replaces the old one. Can be repeated after
 * an interruption at any point. The caller holds the run lock.
 *
 * @returns the state of the follower, which can only lack snapshots if there was no usable file before
 * @throws BusyError if another process has the old file open, RebuildError; in both cases the old file is unchanged
 */
export async function rebuildDuckdb(input: Omit<FollowDuckdbInput, 'lockTimeout' | 'file'>): Promise<FollowerState> {
  const { warehouse, memoryLimit } = input;
  const { database } = warehouseFolder(warehouse);
  const isUsable = await canBeOpened(database, warehouse);
  const file = `${database}.new`;
  await removeDatabase(file);
  try {
    const state = await followDuckdb({ warehouse, memoryLimit, lockTimeout: 0, file });
    // The old file may be the only one that still holds the rows of unreadable commits.
    if (state.behind > 0 && (isUsable || !(await exists(file)))) throw new RebuildError(state.reason);
    crashPoint('built the new indexhouse.duckdb');
    await replaceDatabase(file, database);
    crashPoint('put the new indexhouse.duckdb in place');
    await rm(warehouseFolder(warehouse).duckdbRemoval, { force: true });
    return state;
  } catch (cause) {
    await removeDatabase(file);
    const kept = isUsable ? 'indexhouse.duckdb stays as it was' : 'there is no indexhouse.duckdb now';
    throw new RebuildError(`cannot rebuild indexhouse.duckdb; ${kept}: ${withRemedy(cause)}`, { cause });
  }
}

/** Whether there is a file that can be opened. @throws BusyError */
async function canBeOpened(database: string, warehouse: string): Promise<boolean> {
  if (!(await exists(database))) return false;
  try {
    (await Engine.open({ file: database, memoryLimit: 64e6, temporary: scratchFolder(warehouse) })).close();
    return true;
  } catch (error) {
    const holder = lockHolder(error);
    if (holder) throw new BusyError(`cannot rebuild ${database}: ${holder} has it open. Close it there and try again`);
    if (diskRemedy(error)) throw error;
    // Any other error means that the file is broken, which a rebuild repairs.
    return false;
  }
}

/**
 * Compares `indexhouse.duckdb` row by row with the commits that it holds. Being behind is not a difference. With
 * `repair`, it is rebuilt if it differs or lags.
 */
export async function compareDuckdb(
  log: Log,
  { memoryLimit, engine, repair }: { memoryLimit: number; engine: EngineOptions; repair: boolean },
): Promise<Compared> {
  const check = () => withEngine(engine, (opened) => checkDuckdb(opened, log, engine.temporary));
  const differences = await check();
  if (!repair || differences.length === 0) return { differences, repaired: [] };
  try {
    await rebuildDuckdb({ warehouse: log.path, memoryLimit });
  } catch (error) {
    if (!(error instanceof BusyError || error instanceof RebuildError)) throw error;
    return { differences: differences.map((one) => ({ ...one, remedy: error.message })), repaired: [] };
  }
  return { differences: await check(), repaired: ['rebuilt indexhouse.duckdb from the Parquet files'] };
}

function scratch({ warehouse, memoryLimit }: Pick<FollowDuckdbInput, 'warehouse' | 'memoryLimit'>) {
  return { memoryLimit, temporary: scratchFolder(warehouse) };
}

/** Opens the file for writing, or creates it. Waits for readers. @throws EngineError if one keeps it open */
export function openWaiting(input: FollowDuckdbInput): Promise<Engine> {
  const tries = { withinMs: input.lockTimeout, everyMs: RETRY_INTERVAL_MS };
  return waitingForLock(() => openDatabase(input), tries);
}

/** Attaches the file, because only `attach` accepts a row group size. */
async function openDatabase(input: FollowDuckdbInput): Promise<Engine> {
  const file = input.file ?? warehouseFolder(input.warehouse).database;
  const engine = await Engine.open(scratch(input));
  try {
    if (!(await exists(file))) await createDatabase(engine, file, await timeZoneOf(input.warehouse));
    await attachForWriting(engine, file, DATABASE);
  } catch (error) {
    engine.close();
    throw error;
  }
  return engine;
}

/** Creates a native file under another name first: DuckDB refuses one that a crash or a full disk left half-written. */
export async function createDatabase(engine: Engine, file: string, timeZone: string): Promise<void> {
  const temporary = `${file}.tmp`;
  await removeDatabase(temporary);
  // The WAL of a file that was deleted by hand would be replayed into the new one.
  await rm(`${file}.wal`, { force: true });
  await attachForWriting(engine, temporary, 'made');
  await createTables(engine);
  await engine.run('create table views_of (text_sha256 varchar not null)');
  await createViews(engine, timeZone);
  await engine.run('checkpoint made; use memory; detach made');
  await rename(temporary, file);
}

/** Attaches a native file for writing, creating it if needed: the default database of statements. Rows keep their order. */
export async function attachForWriting(engine: Engine, file: string, name: string): Promise<void> {
  checkAreFiles([file]);
  const attach = `attach ${literal(file)} as ${name} (row_group_size ${ROW_GROUP_SIZE})`;
  await engine.run(`${attach}; use ${name}; set preserve_insertion_order = true`);
}

/** `indexhouse.duckdb`, open for writing: one transaction for each commit. */
class DuckdbFile implements LogCopy {
  readonly name = 'duckdb';

  constructor(
    private readonly engine: Engine,
    private readonly input: FollowDuckdbInput,
  ) {}

  async drop(log: Log): Promise<void> {
    const { engine } = this;
    await createViews(engine, await timeZoneOf(this.input.warehouse));
    // They are of commits that it lacks: a file that holds their rows is rebuilt.
    if (log.tombstoneFiles.length > 0) await engine.run(`insert into tombstones by name ${lackingTombstones(log)}`);
  }

  known(): Promise<ReadonlySet<string>> {
    return knownCommits(this.engine);
  }

  async take(marker: Marker, state: string | null): Promise<void> {
    await tuneFor(this.engine, marker);
    await inTransaction(this.engine, () => this.#insertAll(marker, state));
  }

  async #insertAll(marker: Marker, state: string | null): Promise<void> {
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
    for (const table of LOOSE_TABLES) {
      const { id } = ROW_FILES[table];
      const missing = await lackingRows(engine, log.files(table), table, id);
      if (missing.length === 0) continue;
      const { damaged } = await readReadable(engine, table, missing, (files) => {
        const lacking = `(${log.query(table, files)}) anti join ${table} using (${id}, website_id)`;
        return inTransaction(engine, () => engine.run(`insert into ${table} by name select * from ${lacking}`));
      });
      skipped.push(...damaged.map(({ path, reason }) => `${path} ${reason}`));
    }
    await this.#insertStates(log);
    await engine.run('checkpoint');
    return skipped;
  }

  /** A website whose newest commit could not be taken has the pages of the last one that could. */
  async #insertStates({ path, markers }: Log): Promise<void> {
    const query =
      'select max(snapshot_id) as id from snapshots anti join page_state using (website_id) group by website_id';
    const newest = new Set((await this.engine.rows(z.object({ id: z.string() }), query)).map(({ id }) => id));
    for (const marker of markers.filter(({ snapshotId }) => newest.has(snapshotId))) {
      const state = stateFileOf(path, marker);
      if (await isWholeParquet(state)) await insert(this.engine, 'page_state', state);
    }
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
export async function createViews(engine: Engine, timeZone: string): Promise<void> {
  const views = viewScript(timeZone);
  const text = createHash('sha256').update(`${views}${descriptionsText()}`).digest('hex');
  const [known] = await engine.rows(z.object({ text: z.string() }), 'select text_sha256 as text from views_of');
  if (known?.text === text) return;
  await inTransaction(engine, async () => {
    await engine.run(views);
    await commentOn(engine);
    await engine.run(`delete from views_of; insert into views_of values (${literal(text)})`);
  });
}

/**
 * Tunes the engine to the size of a commit. DuckDB merges small row groups at every checkpoint. For a large commit,
 * this doubles the time; without it, small commits would let the file grow to three times its size.
 */
async function tuneFor(engine: Engine, { files }: Marker): Promise<void> {
  const isLarge = Object.values(files).some(({ rows }) => rows >= LARGE_COMMIT_ROWS);
  const large = `set max_vacuum_tasks = 0; set checkpoint_threshold = '${NO_LOG_THRESHOLD}'`;
  await engine.run(isLarge ? large : 'reset max_vacuum_tasks; reset checkpoint_threshold');
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

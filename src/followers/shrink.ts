import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { crashPoint } from '../storage/crash-point.js';
import { withRemedy } from '../storage/disk-error.js';
import { exists } from '../storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../storage/engine.js';
import { lockHolder, probeLock } from '../storage/locks.js';
import { warehouseFolder } from '../warehouse/layout.js';
import type { OpenWarehouse } from '../warehouse/open.js';
import { TABLES, THINNED_TABLES } from '../warehouse/tables.js';
import {
  attachForWriting,
  catchUpDuckdb,
  createDatabase,
  DATABASE,
  type FollowDuckdbInput,
  openWaiting,
} from './duckdb.js';
import { OLD_ROWS, type Retention, readRetention, removeDatabase, replaceDatabase } from './native-file.js';

/** What was done to `indexhouse.duckdb`, under the names of `maintain --json`. */
export interface Shrunk {
  /** Rows of `coverage` and `url_reports` are kept from this date on; null: all of them. */
  retained_from: string | null;
  /** Rows that the copy left out, or in a dry run would leave out. */
  rows_dropped: number;
  /** Null if there is no file. */
  bytes_before: number | null;
  bytes_after: number | null;
  /** Why it could not be done; nothing is lost, and the next `maintain` tries again. */
  reason: string | null;
}

const NOTHING_DONE = { retained_from: null, rows_dropped: 0, bytes_before: null, bytes_after: null, reason: null };

/**
 * Deletes old rows, and rows of files that retention removed, from `indexhouse.duckdb`, and replaces it with a compact
 * copy: deleting alone does not make a file smaller. Can be repeated after an interruption at any point. The caller holds
 * the run lock.
 */
export async function shrinkDuckdb(
  input: FollowDuckdbInput & { retainedFrom: string | null },
  log: OpenWarehouse,
): Promise<Shrunk> {
  const file = warehouseFolder(input.warehouse).database;
  const shrunk: Shrunk = { ...NOTHING_DONE, bytes_before: await sizeOf(file) };
  try {
    const { retainedFrom, deletedRows } = await dropAndCopy(input, log, `${file}.new`);
    if (deletedRows > 0) await replaceDatabase(`${file}.new`, file);
    crashPoint('put the smaller file in place');
    Object.assign(shrunk, { retained_from: retainedFrom, rows_dropped: deletedRows });
  } catch (error) {
    await removeDatabase(`${file}.new`);
    shrunk.reason = reasonOf(error);
  }
  return { ...shrunk, bytes_after: await sizeOf(file) };
}

/**
 * What `shrinkDuckdb` would do, read without writing to the warehouse.
 *
 * @param dropping the date from which rows would be kept, and how many of those would be dropped with files of the log
 */
export async function lookAtShrinking(
  warehouse: string,
  dropping: { retainedFrom: string | null; rowsOfFiles: number },
  options: EngineOptions,
): Promise<Shrunk> {
  const { retainedFrom, rowsOfFiles } = dropping;
  const file = warehouseFolder(warehouse).database;
  const looked = { ...NOTHING_DONE, retained_from: retainedFrom, bytes_before: await sizeOf(file) };
  if (looked.bytes_before === null) return looked;
  const held = await probeLock(file);
  try {
    const reading = { ...options, file, readOnly: true };
    const { retained_from, rows_dropped } = await withEngine(reading, (engine) => countDroppable(engine, retainedFrom));
    const reason = held ? heldBy(held.holder) : null;
    return { ...looked, retained_from, rows_dropped: rows_dropped + rowsOfFiles, reason };
  } catch (error) {
    return { ...looked, reason: reasonOf(error) };
  }
}

async function countDroppable(
  engine: Engine,
  before: string | null,
): Promise<Pick<Shrunk, 'retained_from' | 'rows_dropped'>> {
  const { retainedFrom, deletedRows } = await readRetention(engine);
  let rows = deletedRows;
  for (const table of THINNED_TABLES) {
    if (before === null) break;
    const query = `select count(*) as rows from ${table} where ${OLD_ROWS}`;
    const [counted] = await engine.rows(z.object({ rows: z.coerce.number() }), query, { before });
    rows += counted?.rows ?? 0;
  }
  const from = [before, retainedFrom].filter((date) => date !== null).sort();
  return { retained_from: from.at(-1) ?? null, rows_dropped: rows };
}

/** Keeps the file open while it is copied, so that nobody else can open it. */
async function dropAndCopy(input: FollowDuckdbInput, log: OpenWarehouse, smaller: string): Promise<Retention> {
  const engine = await openWaiting(input);
  try {
    const { reason } = await catchUpDuckdb(engine, input, log);
    if (reason) throw new Error(reason);
    const retention = await readRetention(engine);
    if (retention.deletedRows > 0) await copyTo(engine, smaller);
    return retention;
  } finally {
    engine.close();
  }
}

async function copyTo(engine: Engine, file: string): Promise<void> {
  await removeDatabase(file);
  await createDatabase(engine, file);
  await attachForWriting(engine, file, 'smaller');
  for (const table of TABLES) {
    await engine.run(`insert into smaller.${table} by name select * from ${DATABASE}.${table}`);
  }
  await engine.run(`update smaller.retention set retained_from = (select retained_from from ${DATABASE}.retention)`);
  await engine.run('checkpoint smaller');
  await engine.run(`use ${DATABASE}`);
  await engine.run('detach smaller');
  crashPoint('made the smaller file');
}

function reasonOf(error: unknown): string {
  const holder = lockHolder(error);
  return holder ? heldBy(holder) : `indexhouse.duckdb could not be made smaller: ${withRemedy(error)}`;
}

function heldBy(holder: string): string {
  return `${holder} has indexhouse.duckdb open, so it was not changed; close it there and run \`indexhouse maintain\` again`;
}

/** Size in bytes, or null if there is no such file. Uses `stat`: opening a database file would release its lock. */
async function sizeOf(file: string): Promise<number | null> {
  return (await exists(file)) ? (await stat(file)).size : null;
}

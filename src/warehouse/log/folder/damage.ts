import { z } from 'zod';
import { Failure, messageOf } from '../../../base/exit.js';
import type { Engine } from '../../../base/storage/engine.js';
import { whyNotParquet } from '../../../base/storage/parquet-file.js';
import { websiteOf } from './layout.js';
import { OTHER_ROWS, withOtherRows } from './sums.js';
import { isLogTable, type Table } from './tables.js';

/** How many files are checked concurrently. */
const LOOKED_AT_ONCE = 64;

/** A file of the log that cannot be read. */
export interface DamagedFile {
  path: string;
  table: Table;
  /** The website in whose folder the file is. */
  websiteId: string;
  /** What follows the file's name in a sentence: `is missing`, `is empty`, … */
  reason: string;
}

/** Files of the log that a command needs cannot be read. */
export class DamageError extends Failure {
  constructor(
    readonly damaged: readonly DamagedFile[],
    options?: ErrorOptions,
  ) {
    const isDerived = damaged.every(({ table }) => table === 'page_state');
    super(`${damageText(damaged)}. ${isDerived ? '`indexhouse verify --repair` rebuilds it' : REMEDY}`, options);
  }
}

/** How DuckDB refuses a file whose inside is damaged; it does not always say which file. */
const OF_DAMAGE = /\b(IO|Invalid|Serialization|Corrupt\w*) Error: |Failed to read file|in Parquet file/;

/** Whether DuckDB failed on the inside of a file. */
export function isOfDamage(error: unknown): error is Error {
  return error instanceof Error && !(error instanceof DamageError) && OF_DAMAGE.test(error.message);
}

export const REMEDY = 'Restore damaged files from a backup; `indexhouse verify` lists them all';

/** The first damaged file and what is wrong with it, and how many more there are. */
function damageText(damaged: readonly DamagedFile[]): string {
  const [first] = damaged;
  const more = damaged.length > 1 ? `, and ${damaged.length - 1} more cannot be read` : '';
  return first ? `${first.path} ${first.reason}${more}` : 'nothing';
}

export function damagedFile(table: Table, path: string, reason: string): DamagedFile {
  return { path, table, websiteId: websiteOf(path), reason };
}

/**
 * Does what needs all of some files. They are only checked one by one if DuckDB refuses them, so the check costs nothing
 * if all are intact.
 *
 * @throws DamageError if some cannot be read
 */
export async function needing<T>(find: () => Promise<DamagedFile[]>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const damaged = await find();
    throw damaged.length > 0 ? new DamageError(damaged, { cause: error }) : error;
  }
}

/**
 * Reads files of a table as far as they can be read: for followers, `status` and `verify`, which name the others.
 *
 * @returns the result of `read` for the files that can be read, and the files that were left out
 */
export async function readReadable<T>(
  engine: Engine,
  table: Table,
  files: readonly string[],
  read: (files: readonly string[]) => Promise<T>,
): Promise<{ value: T; readable: readonly string[]; damaged: DamagedFile[] }> {
  try {
    return { value: await read(files), readable: files, damaged: [] };
  } catch (error) {
    const damaged = await findDamaged(engine, table, files);
    if (damaged.length === 0) throw error;
    const readable = without(files, damaged);
    return { value: await read(readable), readable, damaged };
  }
}

export function without(files: readonly string[], damaged: readonly DamagedFile[]): string[] {
  const left = new Set(damaged.map(({ path }) => path));
  return files.filter((file) => !left.has(file));
}

/**
 * Finds the files that are missing, empty or truncated, or whose footer DuckDB cannot read; of markers, runs and
 * tombstones also those with other rows than were written.
 */
export async function findDamaged(engine: Engine, table: Table, files: readonly string[]): Promise<DamagedFile[]> {
  const torn = await findTorn(table, files);
  return [...torn, ...(await findUnreadable(engine, table, without(files, torn)))];
}

/** Finds the files that do not begin and end as a Parquet file does: quick, and without an engine. */
export async function findTorn(table: Table, files: readonly string[]): Promise<DamagedFile[]> {
  const damaged: DamagedFile[] = [];
  for (let at = 0; at < files.length; at += LOOKED_AT_ONCE) {
    const some = files.slice(at, at + LOOKED_AT_ONCE);
    const reasons = await Promise.all(some.map((file) => whyNotParquet(file)));
    for (const [index, reason] of reasons.entries()) {
      if (reason !== null) damaged.push(damagedFile(table, some[index] ?? '', reason));
    }
  }
  return damaged;
}

async function findUnreadable(engine: Engine, table: Table, files: readonly string[]): Promise<DamagedFile[]> {
  if (files.length === 0) return [];
  try {
    await engine.rows(z.unknown(), 'select count(*) from parquet_schema($files)', { files: [...files] });
    const others = isLogTable(table) ? await withOtherRows(engine, files) : [];
    return others.map((file) => damagedFile(table, file, OTHER_ROWS));
  } catch (error) {
    if (files.length === 1) return [damagedFile(table, files[0] ?? '', `cannot be read: ${firstLine(error)}`)];
  }
  const half = files.length >> 1;
  return [
    ...(await findUnreadable(engine, table, files.slice(0, half))),
    ...(await findUnreadable(engine, table, files.slice(half))),
  ];
}

/** The error message, without the statement that failed and a full stop. */
export function firstLine(error: unknown): string {
  const message = messageOf(error);
  return (message.split('\n')[0] ?? '').replace(/ \(in: .*$|(?<![.\s])[.\s]+$/g, '');
}

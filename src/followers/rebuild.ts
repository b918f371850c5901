import { BusyError, Failure } from '../exit.js';
import { diskRemedy, withRemedy } from '../storage/disk-error.js';
import { exists } from '../storage/durable.js';
import { withEngine } from '../storage/engine.js';
import { lockHolder } from '../storage/locks.js';
import { scratchFolder, warehouseFolder } from '../warehouse/layout.js';
import { type FollowDuckdbInput, followDuckdb } from './duckdb.js';
import type { FollowerState } from './follower.js';
import { type Retention, readRetention, removeDatabase, replaceDatabase } from './native-file.js';

/** The new file could not be built; the old one is unchanged. */
export class RebuildError extends Failure {}

/**
 * Rebuilds `indexhouse.duckdb` from the Parquet files in a new file, which then replaces the old one. The caller holds
 * the run lock.
 *
 * @param retainedFrom the date from which rows of `coverage` and `url_reports` are kept, or null for all; left out: as in
 *   the old file
 * @returns the state of the follower, which can only lack snapshots if there was no usable file before
 * @throws BusyError if another process has the old file open, RebuildError; in both cases the old file is unchanged
 */
export async function rebuildDuckdb(input: Omit<FollowDuckdbInput, 'lockTimeout' | 'file'>): Promise<FollowerState> {
  const { warehouse, memoryLimit, retainedFrom } = input;
  const { database } = warehouseFolder(warehouse);
  const old = await lookAtOld(database, warehouse);
  const usable = old !== null;
  const file = `${database}.new`;
  await removeDatabase(file);
  try {
    const from = retainedFrom === undefined ? (old?.retainedFrom ?? null) : retainedFrom;
    const state = await followDuckdb({ warehouse, memoryLimit, lockTimeout: 0, file, retainedFrom: from });
    // The old file may be the only one that still holds the rows of unreadable commits.
    if (state.behind > 0 && (usable || !(await exists(file)))) throw new RebuildError(state.reason);
    await replaceDatabase(file, database);
    return state;
  } catch (cause) {
    await removeDatabase(file);
    const kept = usable ? 'indexhouse.duckdb stays as it was' : 'there is no indexhouse.duckdb now';
    throw new RebuildError(`cannot rebuild indexhouse.duckdb; ${kept}: ${withRemedy(cause)}`, { cause });
  }
}

/**
 * @returns what was dropped from the file; null if there is none that can be opened
 * @throws BusyError
 */
async function lookAtOld(database: string, warehouse: string): Promise<Retention | null> {
  if (!(await exists(database))) return null;
  const options = { file: database, memoryLimit: 64e6, temporary: scratchFolder(warehouse) };
  try {
    return await withEngine(options, (engine) => readRetention(engine));
  } catch (error) {
    const holder = lockHolder(error);
    if (holder) throw new BusyError(`cannot rebuild ${database}: ${holder} has it open. Close it there and try again`);
    if (diskRemedy(error)) throw error;
    // Any other error means that the file is broken, which a rebuild repairs.
    return null;
  }
}

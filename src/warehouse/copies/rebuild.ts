import { BusyError, Failure } from '../../base/exit.js';
import { counted } from '../../base/observe/format.js';
import { crashPoint } from '../../base/storage/crash-point.js';
import { diskRemedy, withRemedy } from '../../base/storage/disk-error.js';
import { exists } from '../../base/storage/durable.js';
import { Engine, withEngine } from '../../base/storage/engine.js';
import { lockHolder } from '../../base/storage/locks.js';
import { scratchFolder, warehouseFolder } from '../log/folder/layout.js';
import { type Log, openLog } from '../log/log.js';
import { catchUpDuckdb, type FollowDuckdbInput, openWaiting, scratch } from './duckdb.js';
import type { FollowerState } from './follower.js';
import { duckdbLag, isOutdated, removeDatabase, replaceDatabase } from './native-file.js';

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
    const reason = holder
      ? `${holder} has indexhouse.duckdb open, so it is ${counted(behind, 'snapshot')} behind; the next sync catches up once it is closed`
      : `indexhouse.duckdb cannot be opened: ${withRemedy(error)}. The Parquet files are complete: ${diskRemedy(error) ? 'the next sync catches up' : 'delete it, and the next sync rebuilds it'}`;
    return { name: 'duckdb', behind, reason };
  }
  try {
    if (!(await isOutdated(engine, log))) return await catchUpDuckdb(engine, input, log);
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

import { rename, rm } from 'node:fs/promises';
import { exists, syncFile, syncFolder } from '../storage/durable.js';
import { Engine } from '../storage/engine.js';
import { lockHolder } from '../storage/lock-holder.js';
import { scratchFolder, warehouseFolder } from '../warehouse/layout.js';
import { type FollowerState, followDuckdb } from './duckdb.js';

/** The file that is to be replaced is in use. */
export class HeldError extends Error {
  override name = 'BusyError';
}

/**
 * Makes `indexhouse.duckdb` anew from the Parquet files, beside the old one, and puts it in its place. The caller
 * holds the run lock.
 *
 * @throws HeldError where somebody has the old file open; it stays as it is then
 */
export async function rebuildDuckdb({
  warehouse,
  memoryLimit,
}: {
  warehouse: string;
  memoryLimit: number;
}): Promise<FollowerState> {
  const { database } = warehouseFolder(warehouse);
  await checkNotHeld(database, warehouse);
  const file = `${database}.new`;
  await removeDatabase(file);
  const state = await followDuckdb({ warehouse, memoryLimit, lockTimeout: 0, file });
  await syncFile(file);
  await removeDatabase(database);
  await rename(file, database);
  await syncFolder(warehouse);
  return state;
}

async function checkNotHeld(database: string, warehouse: string): Promise<void> {
  if (!(await exists(database))) return;
  try {
    (await Engine.open({ file: database, memoryLimit: 64e6, temporary: scratchFolder(warehouse) })).close();
  } catch (error) {
    const holder = lockHolder(error);
    // Any other error is a broken file: what a rebuild is for.
    if (holder) throw new HeldError(`cannot rebuild ${database}: ${holder} holds it. Close it there and try again`);
  }
}

async function removeDatabase(file: string): Promise<void> {
  await rm(file, { force: true });
  await rm(`${file}.wal`, { force: true });
}

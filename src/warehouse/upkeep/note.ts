import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../../base/config/schema.js';
import { BusyError } from '../../base/exit.js';
import type { Logger } from '../../base/observe/log.js';
import { publishFile } from '../../base/storage/durable.js';
import { type Engine, withEngine } from '../../base/storage/engine.js';
import { PARQUET_FORMAT } from '../../base/storage/parquet-file.js';
import { checkOwnership } from '../bucket/owner.js';
import { followAll } from '../copies/follow.js';
import { tableFile, withOwnScratch } from '../log/folder/layout.js';
import { checkIdentity, prepareWarehouse } from '../log/folder/prepare.js';
import { copyRows } from '../log/folder/sums.js';
import { rowsQuery } from '../log/folder/tables.js';
import { RunLock } from '../log/lock.js';

/** A row of `note_log`, for each of some websites: a note, or the removal of one. */
export interface NoteInput {
  websites: readonly string[];
  note_date: string;
  directory: string | null;
  note: string | null;
  /** The id of the note that it removes. */
  removes: string | null;
}

/**
 * Adds a note, or the removal of one, and lets the followers catch up. It is written without the run lock, so also during
 * a sync: its files are named after a new id and renamed into place, and nothing is derived from them. Only the followers
 * need the lock; if another process holds it, they catch up when that ends.
 *
 * @returns followers: null if they are left to the process that holds the lock
 * @throws WarehouseError; OwnerError if the bucket belongs to another folder
 */
export async function addNote(config: Config, input: NoteInput, logger: Logger) {
  const { path, time_zone } = config.warehouse;
  await checkIdentity(path, time_zone);
  await checkOwnership({ config, warehouse: path, logger });
  const note_id = await writeRows(config, input);
  const lock = await RunLock.take(path, 'note').catch((error: unknown) => {
    if (error instanceof BusyError) return null;
    throw error;
  });
  try {
    if (lock) await prepareWarehouse(path, time_zone);
    // Whoever has indexhouse.duckdb open is not waited for: the next sync catches up.
    return { note_id, followers: lock && (await followAll({ config, logger, lockTimeout: 0 })) };
  } finally {
    lock?.release();
  }
}

async function writeRows({ warehouse }: Config, { websites, ...row }: NoteInput): Promise<string> {
  const { path, memory_limit: memoryLimit } = warehouse;
  const id = uuidv7();
  const write = async (engine: Engine, made: string) => {
    const noted_at = new Date().toISOString();
    for (const websiteId of websites) {
      const values = { note_id: id, website_id: websiteId, noted_at, ...row };
      await copyRows(engine, rowsQuery('note_log', values), { file: made, format: PARQUET_FORMAT }, values);
      await publishFile(made, tableFile(path, 'note_log', { websiteId, date: row.note_date, id }), path);
    }
  };
  await withOwnScratch(path, (temporary) =>
    withEngine({ memoryLimit, temporary }, (engine) => write(engine, join(temporary, 'note.made'))),
  );
  return id;
}

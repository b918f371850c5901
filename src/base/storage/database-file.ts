import { rm } from 'node:fs/promises';
import { publish, syncFile } from './durable.js';

/** Replaces a database file by a complete new one. A reader that has the old one open keeps it. */
export async function replaceDatabase(complete: string, file: string): Promise<void> {
  await syncFile(complete);
  // The WAL of the old file would be replayed into the new one. What it holds is in the Parquet files, too.
  await rm(`${file}.wal`, { force: true });
  await publish(complete, file);
}

/** Removes a database file and its WAL. */
export async function removeDatabase(file: string): Promise<void> {
  await rm(file, { force: true });
  await rm(`${file}.wal`, { force: true });
}

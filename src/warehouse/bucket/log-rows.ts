import { mkdir, rename, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exists, md5Of, statIfThere, writeDurably } from '../../base/storage/durable.js';
import { listTableFiles } from '../log/folder/layout.js';
import { dateOf } from '../log/marker-index.js';
import type { Bucket } from './client.js';
import { each } from './each.js';
import { DamagedObjectError } from './errors.js';
import { fileOfKey, idOfKey } from './keys.js';
import type { ListedObject } from './listing.js';

/** The small tables of the log, in the order in which their files are put in place: none refers to a later one. */
const TABLES = ['tombstones', 'snapshots', 'runs', 'note_log'] as const;

/** A file of the log that a folder lacks, or has with other bytes. */
export interface Row extends Pick<ListedObject, 'key' | 'modified'> {
  file: string;
  /** Where it is until its data are there. */
  incoming: string;
  isReplaced: boolean;
}

/** What has to be done for the markers, runs, notes and tombstones of a folder to equal those of a bucket. */
export interface RowChanges {
  lacking: Row[];
  /** Files that the bucket does not have. */
  gone: string[];
  /** The date of the newest snapshot in the bucket, `YYYY-MM-DD`; empty if there is none. */
  newestDate: string;
}

/**
 * Compares a folder with a bucket by size and time, and fetches nothing.
 *
 * @param damaged keys of objects that were damaged when they were fetched
 * @throws BucketError
 */
export async function compareRows(
  bucket: Bucket,
  folder: string,
  { incoming, damaged }: { incoming: string; damaged: readonly string[] },
): Promise<RowChanges> {
  const changes: RowChanges = { lacking: [], gone: [], newestDate: '' };
  for (const table of TABLES) {
    const left = new Set(await listTableFiles(folder, table));
    for await (const object of bucket.list(`parquet/${table}/`)) {
      const file = fileOfKey(folder, object.key);
      // Not a file of the warehouse: somebody else put it there.
      if (!file?.endsWith('.parquet')) continue;
      left.delete(file);
      const date = dateOf(file);
      if (table === 'snapshots' && date > changes.newestDate) changes.newestDate = date;
      if (!damaged.includes(object.key) && (await isSame(file, object))) continue;
      const { key, modified } = object;
      const isReplaced = await exists(file);
      changes.lacking.push({ key, modified, file, incoming: fileOfKey(incoming, key) ?? '', isReplaced });
    }
    changes.gone.push(...left);
  }
  return changes;
}

/** A fetched file has the time of its object. One that was written here has the bytes that the bucket names. */
async function isSame(file: string, { size, modified, etag }: ListedObject): Promise<boolean> {
  const found = await statIfThere(file);
  if (found?.size !== size) return false;
  return found.mtimeMs === Date.parse(modified) || (await md5Of(file)) === etag;
}

/** Fetches rows to where they wait. @returns those that the bucket still has */
export async function fetchRows(bucket: Bucket, rows: readonly Row[]): Promise<Row[]> {
  const fetched: Row[] = [];
  await each(rows, async (row) => {
    // All bytes, because the sum of the rows leaves out the statistics by which DuckDB skips rows.
    const isThere = await bucket.download(row.key, row.incoming, 'sent').catch(async (error: unknown) => {
      if (!(error instanceof DamagedObjectError)) throw error;
      // Whoever needs it must not take it for absent.
      await writeDurably(row.incoming, '');
      return true;
    });
    if (isThere !== null) fetched.push(row);
  });
  const rank = ({ key }: Row) => TABLES.findIndex((table) => key.startsWith(`parquet/${table}/`));
  return fetched.sort((a, b) => rank(a) - rank(b) || (idOfKey(a.key) < idOfKey(b.key) ? -1 : 1));
}

/** Moves a fetched row into its place. */
export async function place({ incoming, file, modified }: Row): Promise<void> {
  const at = new Date(modified);
  await utimes(incoming, at, at);
  await mkdir(dirname(file), { recursive: true });
  await rename(incoming, file);
}

/** The folder below which fetched rows wait, with the same paths as in the warehouse. */
export function incomingIn(folder: string): string {
  return join(folder, 'incoming');
}

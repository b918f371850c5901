import { randomUUID } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { codeOf, TEMPORARY_FILE } from '../../../base/storage/durable.js';
import { decodeId, encodeId, WEBSITE_FOLDER } from '../../../base/storage/names.js';
import { checkWithin, removeWithin } from '../../../base/storage/only-files.js';
import { HOUR_MS } from '../../../base/time.js';
import { TABLES, type Table } from './tables.js';

const WEBSITE_PREFIX = 'website=';
/** Stands for itself in a folder's name. */
const PLAIN_ID = /^[\w-][\w.-]*$/;
/** A Parquet file of a warehouse, relative to it. */
export const warehousePath = new RegExp(
  `^(parquet/\\w+/${WEBSITE_FOLDER}/date=\\d{4}-\\d\\d-\\d\\d|state/${WEBSITE_FOLDER})/[\\da-f-]{36}\\.parquet$`,
);

/** The files and folders of a warehouse. */
export function warehouseFolder(path: string) {
  return {
    lock: join(path, 'run.lock.duckdb'),
    database: join(path, 'indexhouse.duckdb'),
    analytics: join(path, 'analytics.duckdb'),
    /** What never changes once there is data: format, id, time zone. */
    identity: join(path, 'warehouse.json'),
    /** By what the bucket names this folder as its owner; never copied. */
    owner: join(path, 'owner.json'),
    /** What an unfinished restore has fetched. */
    incoming: join(path, 'incoming'),
    /** The rows of old markers in one file, for readers; derived. */
    index: join(path, 'index'),
    /** What an interrupted `remove` still has to do. */
    removal: join(path, 'removal.json'),
    /** What `remove` took out that the bucket still has. */
    bucketRemoval: join(path, 'bucket-removal.json'),
    /** The websites that `remove` took out and of which `indexhouse.duckdb` still has rows. */
    duckdbRemoval: join(path, 'duckdb-removal.json'),
    /** The keys that give access to the HTTP service. */
    keys: join(path, 'service-keys.json'),
    /** Held open while the keys are changed. */
    keysLock: join(path, 'service-keys.lock.duckdb'),
    /** Which notices were sent to which channel, and which wait for one that is down. */
    notices: join(path, 'notices.json'),
    /** Held open while notices are sent. */
    noticesLock: join(path, 'notices.lock.duckdb'),
    /** What the newest run is doing, or how it ended. */
    run: join(path, 'run.json'),
    /** Which files nights have proven by their SHA-256, and when. */
    proven: join(path, 'proven.json'),
    /** When the daemon last started each job. */
    jobs: join(path, 'jobs.json'),
    /** Held open by the daemon. */
    scheduleLock: join(path, 'schedule.lock.duckdb'),
  };
}

/** The website in whose folder a file is; empty if it is in none. */
export function websiteOf(path: string): string {
  const at = path.lastIndexOf(`${sep}${WEBSITE_PREFIX}`);
  if (at < 0) return '';
  const [name = ''] = path.slice(at + 1 + WEBSITE_PREFIX.length).split(sep, 1);
  return PLAIN_ID.test(name) ? name : (decodeId(name) ?? name);
}

/** What has files in the log: the tables, and checkpoints. */
export type LogFolder = Table | 'checkpoints';

/** `parquet/<table>/website=<id>/date=<date>/<snapshot_id>.parquet` */
export function tableFile(
  warehouse: string,
  table: LogFolder,
  { websiteId, date, id }: { websiteId: string; date: string; id: string },
): string {
  return join(warehouse, 'parquet', table, `website=${encodeId(websiteId)}`, `date=${date}`, `${id}.parquet`);
}

/** `state/website=<id>/<snapshot_id>.parquet` */
export function stateFile(warehouse: string, websiteId: string, snapshotId: string): string {
  return join(stateFolder(warehouse, websiteId), `${snapshotId}.parquet`);
}

export function stateFolder(warehouse: string, websiteId: string): string {
  return join(warehouse, 'state', `website=${encodeId(websiteId)}`);
}

/**
 * Every Parquet file of a table, sorted by path. We list them ourselves, because an id may contain pattern characters.
 *
 * @param websiteId left out: all websites
 * @param from left out: all dates; else this date and later ones
 */
export async function listTableFiles(
  warehouse: string,
  table: LogFolder,
  { websiteId, from = '' }: { websiteId?: string | undefined; from?: string | undefined } = {},
): Promise<string[]> {
  const root = join(warehouse, 'parquet', table);
  const websites = websiteId === undefined ? await namesIn(root) : [`website=${encodeId(websiteId)}`];
  const files: string[] = [];
  for (const website of websites) {
    const dates = await namesIn(join(root, website));
    for (const date of dates.filter((name) => name >= `date=${from}`)) {
      const folder = join(root, website, date);
      const names = await namesIn(folder);
      files.push(...names.filter((name) => name.endsWith('.parquet')).map((name) => join(folder, name)));
    }
  }
  return files;
}

/** The id of a website's newest file of a table, from the file names; null if it has none. */
export async function newestFile(warehouse: string, table: LogFolder, websiteId: string): Promise<string | null> {
  const root = join(warehouse, 'parquet', table, `website=${encodeId(websiteId)}`);
  const date = (await namesIn(root)).at(-1);
  const names = date === undefined ? [] : await namesIn(join(root, date));
  return names.findLast((name) => name.endsWith('.parquet'))?.replace(/\.parquet$/, '') ?? null;
}

/** The ids of the websites that have a snapshot or a run. */
export async function websitesIn(warehouse: string): Promise<string[]> {
  const tables = ['snapshots', 'runs'] as const;
  const names = await Promise.all(tables.map((table) => namesIn(join(warehouse, 'parquet', table))));
  const ids = names.flat().map((name) => decodeId(name.replace(/^website=/, '')));
  return [...new Set(ids)].filter((id) => id !== null);
}

/** The folders that hold all websites of a warehouse, or only the given ones. */
export function readableFolders(warehouse: string, websites: readonly string[] | undefined): string[] {
  if (!websites) return ['parquet', 'state', 'index'].map((name) => join(warehouse, name));
  const tables = [...TABLES, 'checkpoints'].map((table) => join(warehouse, 'parquet', table));
  const folders = websites.map((id) => `website=${encodeId(id)}`);
  return [...tables, join(warehouse, 'state')].flatMap((parent) => folders.map((name) => join(parent, name)));
}

/**
 * Checks that no link stands where something is written, moved or deleted without looking: a folder of somebody else may
 * contain any. What is below `parquet` and `state` is checked when it is used.
 *
 * @throws Failure naming it
 */
export function checkPlaces(warehouse: string): void {
  const { database, incoming, index } = warehouseFolder(warehouse);
  const folders = ['parquet', 'state', 'schema', 'set-aside', join('runs', 'damaged')];
  const all = [...folders.map((name) => join(warehouse, name)), scratchFolder(warehouse), index, incoming];
  for (const path of [...all, database, `${database}.wal`]) checkWithin(warehouse, path);
}

/** Where work under the run lock spills and prepares files. Its holder has it alone, and finds it empty. */
export function scratchFolder(warehouse: string): string {
  return join(warehouse, 'tmp', 'locked');
}

/** Hands a new folder to short work without the run lock, whose files are moved into the warehouse; and deletes it. */
export async function withOwnScratch<T>(warehouse: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(warehouse, 'tmp', randomUUID());
  checkWithin(warehouse, folder);
  try {
    return await use(folder);
  } finally {
    await removeWithin(warehouse, folder);
  }
}

/**
 * Deletes what processes left that died. Process ids do not tell: those of other containers cannot be seen. So the
 * caller holds the run lock, and work without it has an hour.
 */
export async function dropScratch(warehouse: string): Promise<void> {
  const namesOf = async (folder: string) => (await namesIn(join(warehouse, folder))).map((name) => join(folder, name));
  const files = await Promise.all(['', 'schema', 'index'].map(namesOf));
  for (const name of [...(await namesOf('tmp')), ...files.flat().filter((name) => TEMPORARY_FILE.test(name))]) {
    const path = join(warehouse, name);
    const changedAt = (await lstat(path).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (path === scratchFolder(warehouse) || Date.now() - changedAt >= HOUR_MS) {
      await removeWithin(warehouse, path);
    }
  }
}

/** The names in a folder, sorted; none if it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return [];
    throw error;
  }
}

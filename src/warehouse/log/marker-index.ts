import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { exists, sha256Of } from '../../base/storage/durable.js';
import { readJson, writeJson } from '../../base/storage/json-file.js';
import { WEBSITE_FOLDER } from '../../base/storage/names.js';
import { warehouseFolder } from './folder/layout.js';

export const INDEXED_TABLES = ['snapshots', 'runs'] as const;
export type IndexedTable = (typeof INDEXED_TABLES)[number];

const fileSchema = z.object({ name: z.string().regex(/^[\w-]+\.parquet$/), sha256: z.string() });
const indexSchema = z.object({
  /** To be raised by a version that changes the content. */
  version: z.literal(3),
  /** Rows of this date or later are not in the index, `YYYY-MM-DD`. */
  before: z.iso.date(),
  /**
   * One of its markers, relative to the warehouse: an index of another warehouse names one that does not exist here.
   */
  witness: z.string().regex(new RegExp(`^parquet/snapshots/${WEBSITE_FOLDER}/date=[\\d-]+/[\\w-]+\\.parquet$`)),
  files: z.object({ snapshots: fileSchema, runs: fileSchema }),
});
export type IndexContent = z.infer<typeof indexSchema>;

/**
 * The older rows of the tables with a small file per commit or run, in one file for each table: thousands of files take
 * seconds to open. It is derived from those files; without it, readers open them themselves.
 */
export interface MarkerIndex {
  before: string;
  files: Record<IndexedTable, string>;
}

/** @returns null if there is none, or if it is of another warehouse or damaged */
export async function readIndex(warehouse: string): Promise<MarkerIndex | null> {
  const { folder, file } = placeOf(warehouse);
  const index = await readJson(file, indexSchema).catch(() => null);
  if (!index || !(await exists(join(warehouse, index.witness)))) return null;
  for (const { name, sha256 } of Object.values(index.files)) {
    if ((await sha256Of(join(folder, name)).catch(() => null)) !== sha256) return null;
  }
  const { before, files } = index;
  return { before, files: { snapshots: join(folder, files.snapshots.name), runs: join(folder, files.runs.name) } };
}

/** Replaces the index. */
export function writeIndex(warehouse: string, index: IndexContent): Promise<void> {
  return writeJson(placeOf(warehouse).file, index);
}

/** Whether there is an index, usable or not. */
export function hasIndex(warehouse: string): Promise<boolean> {
  return exists(placeOf(warehouse).file);
}

/** Deletes the index: readers open the files of markers themselves from then on. */
export async function dropIndex(warehouse: string): Promise<void> {
  await rm(placeOf(warehouse).file, { force: true });
}

/**
 * Drops an index that covers this date. Must be called before a marker or run of the date appears: readers would not
 * look for its file.
 */
export async function makeRoom(warehouse: string, date: string): Promise<void> {
  const index = await readJson(placeOf(warehouse).file, indexSchema);
  if (!index || date < index.before) await dropIndex(warehouse);
}

/** Those of the given files of a table with an earlier date. */
export function earlierThan(files: readonly string[], date: string): string[] {
  return files.filter((file) => dateOf(file) < date);
}

/** The date in the path of a file of a table. */
export function dateOf(file: string): string {
  return basename(dirname(file)).replace(/^date=/, '');
}

function placeOf(warehouse: string): { folder: string; file: string } {
  const folder = warehouseFolder(warehouse).index;
  return { folder, file: join(folder, 'index.json') };
}

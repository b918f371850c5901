import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { exists, makeFolder, publishFile, sha256Of } from '../../base/storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { readJson, writeJson } from '../../base/storage/json-file.js';
import { WEBSITE_FOLDER } from '../../base/storage/names.js';
import { DAY_MS, HOUR_MS } from '../../base/time.js';
import { listTableFiles, namesIn, warehouseFolder } from './folder/layout.js';
import { tableQuery } from './folder/prepare.js';
import { readMarkers } from './markers.js';

export const INDEXED_TABLES = ['snapshots', 'runs'] as const;
type IndexedTable = (typeof INDEXED_TABLES)[number];

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

/** Fewer new markers than this are not worth indexing: their own files are read quickly enough. */
const LEAST_MARKERS = 200;
/** DuckDB holds the footers of all files that a statement names in memory. */
const FILES_AT_ONCE = 1_000;
/** The smallest row groups that DuckDB writes, so that a query for one website reads little of others. */
const BY_WEBSITE = 'format parquet, compression zstd, row_group_size 2048';
const ORDER: Record<IndexedTable, string> = {
  snapshots: 'order by website_id, snapshot_id',
  runs: 'order by website_id, run_id',
};

/**
 * Adds the missing markers to the index, once there are enough and all can be read. The caller holds the run lock.
 *
 * @param now milliseconds since 1970
 * @param least fewer new markers are left in their own files
 */
export async function updateIndex(
  warehouse: string,
  options: EngineOptions,
  now: number,
  least = LEAST_MARKERS,
): Promise<void> {
  const old = await readIndex(warehouse);
  const from = old?.before;
  const listed = await listTableFiles(warehouse, 'snapshots', { from });
  const before = newestDate(listed, now);
  const snapshots = earlierThan(listed, before);
  const [witness] = snapshots;
  if (snapshots.length < least || witness === undefined) return;
  const runs = earlierThan(await listTableFiles(warehouse, 'runs', { from }), before);
  await makeFolder(warehouseFolder(warehouse).index);
  await withEngine(options, async (engine) => {
    // Files that cannot be read are not indexed, so that readers find and report them.
    if (!(await areWhole(engine, warehouse, snapshots))) return;
    const within = { engine, warehouse };
    const files = {
      snapshots: await addRows(within, 'snapshots', old, snapshots),
      runs: await addRows(within, 'runs', old, runs),
    };
    const index: z.infer<typeof indexSchema> = { version: 3, before, witness: relative(warehouse, witness), files };
    await writeJson(placeOf(warehouse).file, index);
    const names = Object.values(files).map(({ name }) => name);
    const replaced = Object.values(old?.files ?? {}).map((path) => basename(path));
    await dropReplaced(warehouseFolder(warehouse).index, [...names, ...replaced], now);
  });
}

/** Whether all of these markers can be read. */
async function areWhole(engine: Engine, warehouse: string, paths: readonly string[]): Promise<boolean> {
  for (const some of chunksOf(paths)) {
    const { damaged } = await readMarkers(engine, warehouse, some);
    if (damaged.length > 0) return false;
  }
  return true;
}

interface Within {
  engine: Engine;
  warehouse: string;
}

/** Writes the rows of many files, after those of the old index, into a new file. */
async function addRows(
  { engine, warehouse }: Within,
  table: IndexedTable,
  old: MarkerIndex | null,
  files: readonly string[],
) {
  const path = join(warehouseFolder(warehouse).index, `${table}-${randomUUID()}.parquet`);
  const parts: string[] = [];
  for (const some of chunksOf(files)) {
    const part = `${path}.${parts.length}`;
    await engine.copy(tableQuery(table, some), part, 'format parquet');
    parts.push(part);
  }
  const query = `${tableQuery(table, [...(old ? [old.files[table]] : []), ...parts])} ${ORDER[table]}`;
  await engine.copy(query, `${path}.tmp`, BY_WEBSITE);
  for (const part of parts) await rm(part);
  await publishFile(`${path}.tmp`, path);
  return { name: basename(path), sha256: await sha256Of(path) };
}

function chunksOf(files: readonly string[]): string[][] {
  const chunks: string[][] = [];
  for (let at = 0; at < files.length; at += FILES_AT_ONCE) chunks.push(files.slice(at, at + FILES_AT_ONCE));
  return chunks;
}

/** The newest date that is not in the future, on which more commits may follow. */
function newestDate(files: readonly string[], now: number): string {
  const today = new Date(now + DAY_MS).toISOString().slice(0, 10);
  const dates = files.map(dateOf).filter((date) => date <= today);
  return dates.sort().at(-1) ?? '';
}

/** Deletes replaced files after an hour, but never those that were just replaced: running readers still need them. */
async function dropReplaced(folder: string, kept: readonly string[], now: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const file = join(folder, name);
    if (kept.includes(name) || !name.includes('.parquet')) continue;
    if (now - (await stat(file)).mtimeMs >= HOUR_MS) await rm(file, { force: true });
  }
}

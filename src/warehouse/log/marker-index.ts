import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { exists, makeFolder, publishFile, sha256Of } from '../../base/storage/durable.js';
import { type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { readJson, writeJson } from '../../base/storage/json-file.js';
import { DAY_MS, HOUR_MS } from '../../base/time.js';
import { listTableFiles, namesIn, warehouseFolder } from './folder/layout.js';
import { tableQuery } from './folder/prepare.js';
import { areWhole } from './markers.js';

/** Fewer new markers than this are not worth indexing: their own files are read quickly enough. */
const LEAST_MARKERS = 200;
/** The newest nights stay in their own files, because most new commits fall on them. */
const OWN_FILES_DAYS = 2;
/** DuckDB holds the footers of all files that a statement names in memory. */
const FILES_AT_ONCE = 1_000;
/** The smallest row groups that DuckDB writes, so that a query for one website reads little of others. */
const FORMAT = 'format parquet, compression zstd, row_group_size 2048';
export const INDEXED_TABLES = ['snapshots', 'runs'] as const;
type IndexedTable = (typeof INDEXED_TABLES)[number];
const ORDER = { snapshots: 'website_id, snapshot_id', runs: 'website_id, run_id' } as const;

const fileSchema = z.object({ name: z.string().regex(/^[\w-]+\.parquet$/), sha256: z.string() });
const indexSchema = z.object({
  /** To be raised by a version that changes the content. */
  version: z.literal(1).default(1),
  /** Rows of this date or later are not in the index, `YYYY-MM-DD`. */
  before: z.string(),
  /**
   * One of its markers, relative to the warehouse: an index of another warehouse names one that does not exist here.
   */
  witness: z.string(),
  files: z.object({ snapshots: fileSchema, runs: fileSchema }),
});

/**
 * The older rows of the tables with one file per commit or run, in a single file for each table, because thousands of
 * files take seconds to open. It is derived from those files and replaced as a whole; without it, readers open the
 * files themselves.
 */
export interface MarkerIndex {
  before: string;
  files: Record<IndexedTable, string>;
}

/** @returns null if there is none, or if it is damaged or of another warehouse */
export async function readIndex(warehouse: string): Promise<MarkerIndex | null> {
  const { folder, file } = placeOf(warehouse);
  const data = await readJson(file, indexSchema).catch(() => null);
  if (!data || !(await exists(join(warehouse, data.witness)))) return null;
  for (const { name, sha256 } of Object.values(data.files)) {
    if ((await sha256Of(join(folder, name)).catch(() => null)) !== sha256) return null;
  }
  const { snapshots, runs } = data.files;
  return { before: data.before, files: { snapshots: join(folder, snapshots.name), runs: join(folder, runs.name) } };
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
  const before = indexedBefore(listed, now);
  const markers = earlierThan(listed, before);
  const [witness] = markers;
  if (markers.length < least || witness === undefined) return;
  const lacking = { snapshots: markers, runs: earlierThan(await listTableFiles(warehouse, 'runs', { from }), before) };
  const { folder, file } = placeOf(warehouse);
  await makeFolder(folder);
  await withEngine(options, async (engine) => {
    // Files that cannot be read are not indexed, so that readers find and report them.
    for (const some of chunksOf(markers)) if (!(await areWhole(engine, warehouse, some))) return;
    const write = async (table: IndexedTable) => {
      const name = `${table}-${randomUUID()}.parquet`;
      const path = join(folder, name);
      const parts = old ? [old.files[table]] : [];
      for (const [at, some] of chunksOf(lacking[table]).entries()) {
        await engine.copy(tableQuery(warehouse, table, some), `${path}.${at}`, 'format parquet');
        parts.push(`${path}.${at}`);
      }
      await engine.copy(`${tableQuery(warehouse, table, parts)} order by ${ORDER[table]}`, `${path}.tmp`, FORMAT);
      for (const part of parts) if (part.startsWith(path)) await rm(part);
      await publishFile(`${path}.tmp`, path);
      return { name, sha256: await sha256Of(path) };
    };
    const files = { snapshots: await write('snapshots'), runs: await write('runs') };
    const index = { version: 1, before, witness: relative(warehouse, witness), files };
    await writeJson(file, index);
    const replaced = Object.values(old?.files ?? {}).map((one) => basename(one));
    await dropReplaced(folder, [files.snapshots.name, files.runs.name, ...replaced], now);
  });
}

function chunksOf(files: readonly string[]): string[][] {
  const chunks: string[][] = [];
  for (let at = 0; at < files.length; at += FILES_AT_ONCE) chunks.push(files.slice(at, at + FILES_AT_ONCE));
  return chunks;
}

/** The date two days before the newest one that is not in the future. */
function indexedBefore(files: readonly string[], now: number): string {
  const today = dateText(now + DAY_MS);
  const newest =
    files
      .map(dateOf)
      .filter((date) => date <= today)
      .sort()
      .at(-1) ?? '';
  const at = Date.parse(newest);
  return Number.isNaN(at) ? '' : dateText(at - OWN_FILES_DAYS * DAY_MS);
}

/** Those of the given files of a table with an earlier date. */
export function earlierThan(files: readonly string[], date: string): string[] {
  return files.filter((file) => dateOf(file) < date);
}

/** The date in the path of a file of a table. */
export function dateOf(file: string): string {
  return basename(dirname(file)).replace(/^date=/, '');
}

function dateText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Deletes replaced files after an hour, but never those that were just replaced: running readers still need them. */
async function dropReplaced(folder: string, kept: readonly string[], now: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const file = join(folder, name);
    if (kept.includes(name) || !name.includes('.parquet')) continue;
    if (now - (await stat(file)).mtimeMs >= HOUR_MS) await rm(file, { force: true });
  }
}

function placeOf(warehouse: string): { folder: string; file: string } {
  const folder = warehouseFolder(warehouse).index;
  return { folder, file: join(folder, 'index.json') };
}

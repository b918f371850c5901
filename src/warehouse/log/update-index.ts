import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { grouped } from '../../base/observe/causes.js';
import { makeFolder, publishFile, sha256Of } from '../../base/storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { PARQUET_FORMAT } from '../../base/storage/parquet-file.js';
import { DAY_MS, HOUR_MS } from '../../base/time.js';
import { listTableFiles, namesIn, warehouseFolder } from './folder/layout.js';
import { tableQuery } from './folder/prepare.js';
import { hasRowPerFile } from './folder/tables.js';
import {
  dateOf,
  dropIndex,
  earlierThan,
  INDEXED_DATA,
  type IndexedData,
  type IndexedTable,
  isIndexed,
  isIntact,
  type MarkerIndex,
  readIndex,
  writeIndex,
} from './marker-index.js';
import { byCommit, filesOf, type Marker, readMarkers } from './markers.js';

/** Fewer new markers than this are not worth indexing: their own files are read quickly enough. */
const LEAST_MARKERS = 200;
/** DuckDB holds the footers of all files that a statement names in memory. */
const FILES_AT_ONCE = 1_000;
/** The smallest row groups that DuckDB writes, so that a query for one website reads little of others. */
const BY_WEBSITE = 'format parquet, compression zstd, row_group_size 2048';
/** Data stays in the order of commits, so that a query for some nights reads little of others. */
const ORDER: Partial<Record<IndexedTable | IndexedData, string>> = {
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
  if (old && !(await isAllIntact(old))) {
    await dropIndex(warehouse);
    return updateIndex(warehouse, options, now, least);
  }
  const runs = earlierThan(await listTableFiles(warehouse, 'runs', { from }), before);
  await makeFolder(warehouseFolder(warehouse).index);
  await withEngine(options, async (engine) => {
    const markers = await wholeMarkers(engine, warehouse, snapshots);
    // Files that cannot be read are not indexed, so that readers find and report them.
    if (markers === null) return;
    const within = { engine, warehouse };
    const indexed = (table: IndexedData) => markers.filter((marker) => isIndexed(before, marker, table));
    const files = {
      snapshots: await addRows(within, 'snapshots', old, snapshots),
      runs: await addRows(within, 'runs', old, runs),
    };
    const data = {
      coverage_summary: await addMonths(within, 'coverage_summary', old, indexed('coverage_summary')),
      page_versions: await addMonths(within, 'page_versions', old, indexed('page_versions')),
    };
    await writeIndex(warehouse, { version: 2, before, witness: relative(warehouse, witness), files, data });
    const names = [files, ...Object.values(data)].flatMap((some) => Object.values(some)).map(({ name }) => name);
    const months = Object.values(old?.data ?? {}).flatMap((some) => Object.values(some).map(({ path }) => path));
    const replaced = [...Object.values(old?.files ?? {}), ...months].map((path) => basename(path));
    await dropReplaced(warehouseFolder(warehouse).index, [...names, ...replaced], now);
  });
}

/** What the index holds is written again with what is added, so all of it must be intact. */
async function isAllIntact(index: MarkerIndex): Promise<boolean> {
  for (const table of INDEXED_DATA) if (!(await isIntact(index, table))) return false;
  return true;
}

/** @returns null if one of them cannot be read */
async function wholeMarkers(engine: Engine, warehouse: string, paths: readonly string[]): Promise<Marker[] | null> {
  const read: Marker[] = [];
  for (const some of chunksOf(paths)) {
    const { markers, damaged } = await readMarkers(engine, { warehouse, schemas: warehouse }, some);
    if (damaged.length > 0) return null;
    read.push(...markers);
  }
  return read.sort(byCommit);
}

interface Within {
  engine: Engine;
  warehouse: string;
}

async function addRows(within: Within, table: IndexedTable, old: MarkerIndex | null, files: readonly string[]) {
  const path = await gather(within, table, old ? [old.files[table]] : [], files);
  return { name: basename(path), sha256: await sha256Of(path) };
}

/** A month's file grows by its own rows only, so that what a night writes does not grow with the history. */
async function addMonths(within: Within, table: IndexedData, old: MarkerIndex | null, markers: readonly Marker[]) {
  const months = { ...old?.data?.[table] };
  const files = grouped(filesOf(within.warehouse, markers, table), (file) => dateOf(file).slice(0, 7));
  for (const [month, some] of files) {
    const earlier = months[month];
    const path = await gather(within, table, earlier ? [earlier.path] : [], some);
    months[month] = { path, sha256: await sha256Of(path) };
  }
  const entries = Object.entries(months);
  return Object.fromEntries(entries.map(([month, { path, sha256 }]) => [month, { name: basename(path), sha256 }]));
}

/** Writes the rows of many files, after those of the `earlier` ones of the index, into a new one. @returns its path */
async function gather(
  { engine, warehouse }: Within,
  table: IndexedTable | IndexedData,
  earlier: readonly string[],
  files: readonly string[],
): Promise<string> {
  const path = join(warehouseFolder(warehouse).index, `${table}-${randomUUID()}.parquet`);
  const parts: string[] = [];
  for (const some of chunksOf(files)) {
    const part = `${path}.${parts.length}`;
    await engine.copy(tableQuery(warehouse, table, some), part, 'format parquet');
    parts.push(part);
  }
  const format = hasRowPerFile(table) ? BY_WEBSITE : PARQUET_FORMAT;
  const query = `${tableQuery(warehouse, table, [...earlier, ...parts])} ${ORDER[table] ?? ''}`;
  await engine.copy(query, `${path}.tmp`, format);
  for (const part of parts) await rm(part);
  await publishFile(`${path}.tmp`, path);
  return path;
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

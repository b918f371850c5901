import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { jsonOf } from '../contract/validate.js';
import { exists, makeFolder, publish, readIfThere, sha256Of, syncFile, writeDurably } from '../storage/durable.js';
import { type EngineOptions, withEngine } from '../storage/engine.js';
import { DAY_MS, HOUR_MS } from '../time.js';
import { listTableFiles, namesIn, warehouseFolder } from './layout.js';
import { areWhole } from './markers.js';
import { tableQuery } from './prepare.js';

/** So many markers are read quickly enough from files of their own. */
const LEAST_MARKERS = 200;
/** The newest nights stay in files of their own: most commits are of these. */
const OWN_FILES_DAYS = 2;
/** DuckDB holds the ends of all files that a statement names in memory. */
const FILES_AT_ONCE = 1_000;
/** As few rows in a row group as DuckDB writes: whoever asks for one website reads no other one's. */
const FORMAT = 'format parquet, compression zstd, row_group_size 2048';
export const INDEXED_TABLES = ['snapshots', 'runs'] as const;
type IndexedTable = (typeof INDEXED_TABLES)[number];
const ORDER = { snapshots: 'website_id, snapshot_id', runs: 'website_id, run_id' } as const;

const fileSchema = z.object({ name: z.string().regex(/^[\w-]+\.parquet$/), sha256: z.string() });
const indexSchema = z.object({
  /** Another version that changes what is in it says so here. */
  version: z.literal(1).default(1),
  /** What is of this date or later is not in the index, `YYYY-MM-DD`. */
  before: z.string(),
  /** One of the markers in it, below the warehouse: an index from elsewhere names one that is not there. */
  witness: z.string(),
  files: z.object({ snapshots: fileSchema, runs: fileSchema }),
});

/**
 * The rows of earlier dates of the tables that have a file for each commit or run, in one file each: thousands of files
 * take seconds to open. It is derived from them, and replaced as a whole; without it readers open the files themselves.
 */
export interface MarkerIndex {
  before: string;
  files: Record<IndexedTable, string>;
}

/** @returns null where there is none, or one that is damaged or of another warehouse */
export async function readIndex(warehouse: string): Promise<MarkerIndex | null> {
  const { folder, file } = placeOf(warehouse);
  const { data } = indexSchema.safeParse(jsonOf((await readIfThere(file).catch(() => null)) ?? ''));
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

/** Readers open the files of markers themselves from now on. */
export async function dropIndex(warehouse: string): Promise<void> {
  await rm(placeOf(warehouse).file, { force: true });
}

/** To be called before a marker or run of this date appears: readers would not look for it beside an index. */
export async function makeRoom(warehouse: string, date: string): Promise<void> {
  const text = await readIfThere(placeOf(warehouse).file);
  if (text === null) return;
  const { data } = indexSchema.safeParse(jsonOf(text));
  if (!data || date < data.before) await dropIndex(warehouse);
}

/**
 * Takes into the index what it lacks, once that is much and can all be read. The run lock is held.
 *
 * @param now milliseconds since 1970
 * @param least fewer are left where they are
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
    // What cannot be read stays where readers find and name it.
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
      await syncFile(`${path}.tmp`);
      await publish(`${path}.tmp`, path);
      return { name, sha256: await sha256Of(path) };
    };
    const files = { snapshots: await write('snapshots'), runs: await write('runs') };
    const index = { version: 1, before, witness: relative(warehouse, witness), files };
    await writeDurably(file, `${JSON.stringify(index)}\n`);
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

/** Of some files of a table. */
export function earlierThan(files: readonly string[], date: string): string[] {
  return files.filter((file) => dateOf(file) < date);
}

/** Of a file of a table. */
export function dateOf(file: string): string {
  return basename(dirname(file)).replace(/^date=/, '');
}

function dateText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** An hour later, and never those that have just been replaced: a reader that has begun still finds them. */
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

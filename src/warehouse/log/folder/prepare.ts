import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../../../base/exit.js';
import { exists, makeFolder, readIfThere, writeDurably } from '../../../base/storage/durable.js';
import type { Engine } from '../../../base/storage/engine.js';
import { readSummedJson, summedJson } from '../../../base/storage/json-file.js';
import { checkAreFiles } from '../../../base/storage/only-files.js';
import { literal } from '../../../base/storage/sql.js';
import { packageVersion } from '../../../base/version.js';
import { warehouseFolder } from './layout.js';
import { columnsText, type Table, typedColumns } from './tables.js';

const WAREHOUSE_FORMAT = 1;
/** DuckDB reads these in a file name as a pattern and has no way to escape them. */
const PATTERN_CHARACTERS = /[*?[\]{}]/;

const identitySchema = z.object({
  warehouse_format: z.int(),
  id: z.uuid(),
  time_zone: z.string(),
  /** Of the program that made the warehouse. */
  written_by: z.string().optional(),
});

/** The content of `warehouse.json`; null if it is damaged. */
export function parseIdentity(text: string): z.infer<typeof identitySchema> | null {
  return readSummedJson(identitySchema, text);
}

/** The warehouse cannot be used with this configuration; nothing was changed. */
export class WarehouseError extends UsageError {}

/** That the files are of another version, which one, and what becomes of the history. */
async function otherVersion(path: string): Promise<WarehouseError> {
  const text = await readIfThere(warehouseFolder(path).identity).catch(() => null);
  const { written_by: version } = parseIdentity(text ?? '') ?? {};
  const [by, that] = version ? [`indexhouse ${version}`, version] : ['another version of indexhouse', 'that version'];
  return new WarehouseError(
    `${path} was written by ${by}, whose files are different: use ${that}, which still reads its history, or set ` +
      `warehouse.path to a new folder, where indexhouse ${await packageVersion()} starts a new one`,
  );
}

const IS_FILE = 'is a file: name the folder of a warehouse';

/**
 * Creates the folder of a new warehouse, or checks that an existing one matches this configuration.
 *
 * @throws WarehouseError if its dates are in another time zone, its format is newer, or the path is unusable
 */
export async function prepareWarehouse(path: string, timeZone: string): Promise<void> {
  const isThere = await checkIdentity(path, timeZone);
  await writeStamp(path);
  if (isThere) return;
  // Written last: if it exists, every table can be read.
  const written_by = await packageVersion();
  const identity = { warehouse_format: WAREHOUSE_FORMAT, id: randomUUID(), time_zone: timeZone, written_by };
  await writeDurably(warehouseFolder(path).identity, summedJson(identity));
}

/**
 * Checks, without writing, whether the warehouse can be used with this configuration.
 *
 * @returns false if there is no warehouse yet
 * @throws WarehouseError like `prepareWarehouse`
 */
export async function checkIdentity(path: string, timeZone: string): Promise<boolean> {
  checkPath('warehouse.path', path);
  if (await exists(warehouseFolder(path).incoming))
    throw new WarehouseError(`${path} is not restored whole: run the same \`indexhouse restore\` again`);
  const found = await readIdentity(warehouseFolder(path).identity);
  if (found === null) return false;
  if (found.warehouse_format > WAREHOUSE_FORMAT) {
    throw new WarehouseError(
      `${path} was written by a newer version of indexhouse${found.written_by ? ` (${found.written_by})` : ''}: install that version or a newer one`,
    );
  }
  if (found.time_zone !== timeZone) {
    throw new WarehouseError(
      `warehouse.time_zone is ${timeZone}, but the dates in ${path} are in ${found.time_zone}: ` +
        'set it back in the configuration, or start a new warehouse folder',
    );
  }
  return true;
}

/**
 * The time zone of the warehouse's dates; UTC if only its Parquet files exist.
 *
 * @throws WarehouseError if the file with the time zone is damaged
 */
export async function timeZoneOf(path: string): Promise<string> {
  return (await readIdentity(warehouseFolder(path).identity))?.time_zone ?? 'UTC';
}

/** The id of the warehouse, in its folder and in its bucket. @throws WarehouseError if the folder has none */
export async function identityOf(path: string): Promise<string> {
  await checkWarehouseThere(path);
  const found = await readIdentity(warehouseFolder(path).identity);
  if (found) return found.id;
  throw new WarehouseError(`${path} has no warehouse.json: run \`indexhouse sync\` first`);
}

/** @throws WarehouseError for a file, and for a path that DuckDB would not take literally */
export function checkPath(name: string, path: string): void {
  if (existsSync(path) && statSync(path).isFile()) throw new WarehouseError(`${path} ${IS_FILE}`);
  if (PATTERN_CHARACTERS.test(path)) {
    throw new WarehouseError(`${name} contains one of * ? [ ] { }, which DuckDB reads as a pattern: ${path}`);
  }
}

/** @throws WarehouseError if there is no such folder */
export async function checkFolder(path: string): Promise<void> {
  if (!existsSync(path)) throw new WarehouseError(`no warehouse at ${path}: run \`indexhouse sync\` first`);
  if (!statSync(path).isDirectory()) throw new WarehouseError(`${path} ${IS_FILE}`);
}

/** @throws WarehouseError if there is no warehouse */
export async function checkWarehouseThere(warehouse: string): Promise<void> {
  await checkFolder(warehouse);
  // A copy may consist of the Parquet files alone: they are the source of truth.
  const marks = [warehouseFolder(warehouse).identity, join(warehouse, 'parquet')];
  const found = await Promise.all(marks.map((mark) => exists(mark)));
  if (!found.includes(true)) throw new WarehouseError(`no warehouse at ${warehouse}: run \`indexhouse sync\` first`);
}

async function readIdentity(file: string): Promise<z.infer<typeof identitySchema> | null> {
  const text = await readIfThere(file);
  if (text === null) return null;
  const found = parseIdentity(text);
  if (found) return found;
  throw new WarehouseError(
    `${file} is damaged: restore it from a backup; it holds the warehouse's format, id and time zone`,
  );
}

/** The columns of the version that wrote the warehouse. */
function schemaStamp(path: string): string {
  return join(path, 'schema', 'columns.json');
}

/** Records the columns of this version. @throws WarehouseError if another version wrote the warehouse */
export async function writeStamp(path: string): Promise<void> {
  if (await isStamped(path)) return;
  await makeFolder(join(path, 'schema'));
  await writeDurably(schemaStamp(path), columnsText());
}

/**
 * Whether the columns of a warehouse are recorded: a copy may consist of the Parquet files alone.
 *
 * @throws WarehouseError if they are those of another version
 */
export async function isStamped(path: string): Promise<boolean> {
  const stamp = await readIfThere(schemaStamp(path)).catch(() => null);
  if (stamp === null) return false;
  if (stamp !== columnsText()) throw await otherVersion(path);
  return true;
}

/**
 * A query over exactly these Parquet files of a table; without any, it returns no rows. The columns are ours, and have our
 * types, whatever a file says.
 *
 * @throws Failure if one is not a file
 */
export function tableQuery(table: Table, files: readonly string[]): string {
  checkAreFiles(files);
  if (files.length === 0) return `select ${typedColumns(table, () => 'null')} where false`;
  return `select ${typedColumns(table)} from ${parquetOf(`[${files.map(literal).join(', ')}]`)}`;
}

function parquetOf(files: string): string {
  return `read_parquet(${files}, union_by_name = true, hive_partitioning = false)`;
}

/** Like `tableQuery`, over the files that `listFiles` names for `source` by the time the query runs. */
export function listedQuery(table: Table, source: string): string {
  return `select ${typedColumns(table)} from ${parquetOf(listedFiles(source))}`;
}

/** The files that `listFiles` names for `source`, as an expression. */
export function listedFiles(source: string): string {
  return `getvariable('files_of_${source}')`;
}

/** @param files null: the source is not listed, and reading it fails */
export function listFiles(engine: Engine, sources: readonly string[], files: string[] | null): Promise<void> {
  return engine.set(Object.fromEntries(sources.map((source) => [`files_of_${source}`, files])));
}

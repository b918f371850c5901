import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../exit.js';
import { exists, makeFolder, publish, syncFile, writeDurably } from '../storage/durable.js';
import { type Engine, withEngine } from '../storage/engine.js';
import { isWholeParquet } from '../storage/parquet-file.js';
import { identifier, literal } from '../storage/sql.js';
import { columnsOfTables, columnsText } from './columns.js';
import { namesIn, schemaFile, scratchFolder, warehouseFolder } from './layout.js';
import { TABLES, type Table } from './tables.js';

const WAREHOUSE_FORMAT = 1;
/** DuckDB reads these in a file's name as a pattern, and offers no way to escape them. */
const PATTERN_CHARACTERS = /[*?[\]{}]/;

const identitySchema = z.object({ warehouse_format: z.int(), time_zone: z.string() });

/** The warehouse cannot be used with this configuration; nothing was changed. */
export class WarehouseError extends UsageError {}

/**
 * Makes the folder of a new warehouse, or checks that an existing one is of this configuration.
 *
 * @throws WarehouseError another time zone than the one its dates were made in; a newer format; an unusable path
 */
export async function prepareWarehouse(path: string, timeZone: string, memoryLimit: number): Promise<void> {
  const isThere = await checkIdentity(path, timeZone);
  await makeFolder(join(path, 'schema'));
  await writeSchemas(path, memoryLimit);
  if (isThere) return;
  // Last: where it is, every table can be read.
  const identity = { warehouse_format: WAREHOUSE_FORMAT, time_zone: timeZone };
  await writeDurably(warehouseFolder(path).identity, `${JSON.stringify(identity)}\n`);
}

/**
 * Checks, without writing, whether the warehouse can be used with this configuration.
 *
 * @returns false where there is no warehouse yet
 * @throws WarehouseError as `prepareWarehouse` does
 */
export async function checkIdentity(path: string, timeZone: string): Promise<boolean> {
  checkPath('warehouse.path', path);
  const found = await readIdentity(warehouseFolder(path).identity);
  if (found === null) return false;
  if (found.warehouse_format > WAREHOUSE_FORMAT) {
    throw new WarehouseError(
      `${path} was written by a newer version of indexhouse: install that version or a newer one`,
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
 * The time zone that the warehouse's dates were made in; null where only its Parquet files are there.
 *
 * @throws WarehouseError where the file that says so is damaged
 */
export async function timeZoneOf(path: string): Promise<string | null> {
  return (await readIdentity(warehouseFolder(path).identity))?.time_zone ?? null;
}

/** @throws WarehouseError for a path that DuckDB would not take as it is */
export function checkPath(name: string, path: string): void {
  if (PATTERN_CHARACTERS.test(path)) {
    throw new WarehouseError(`${name} contains one of * ? [ ] { }, which DuckDB reads as a pattern: ${path}`);
  }
}

/** @throws WarehouseError where there is no warehouse */
export async function checkWarehouseThere(warehouse: string): Promise<void> {
  // A copy may hold the Parquet files alone; they are the truth.
  const marks = [warehouseFolder(warehouse).identity, join(warehouse, 'parquet')];
  const found = await Promise.all(marks.map((mark) => exists(mark)));
  if (!found.includes(true)) throw new WarehouseError(`no warehouse at ${warehouse}: run \`indexhouse sync\` first`);
}

async function readIdentity(file: string): Promise<z.infer<typeof identitySchema> | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  try {
    return identitySchema.parse(JSON.parse(text));
  } catch {
    throw new WarehouseError(
      `${file} is damaged: restore it from a backup; it holds the warehouse's format and time zone`,
    );
  }
}

/** Where it says what this version says, the empty files beside it have all columns. */
function schemaStamp(path: string): string {
  return join(path, 'schema', 'columns.json');
}

async function writeSchemas(path: string, memoryLimit: number): Promise<void> {
  if (await hasSchemas(path)) return;
  await withEngine({ memoryLimit, temporary: scratchFolder(path) }, async (engine) => {
    for (const table of await lackingSchemas(engine, path)) {
      const file = schemaFile(path, table);
      await engine.copy(emptyQuery(table), `${file}.tmp`, 'format parquet');
      await syncFile(`${file}.tmp`);
      await publish(`${file}.tmp`, file);
    }
  });
  await writeDurably(schemaStamp(path), columnsText());
}

/** Whether the empty file of each table is there, with the columns of this version: a look at the files' ends. */
async function hasSchemas(path: string): Promise<boolean> {
  const stamp = await readFile(schemaStamp(path), 'utf8').catch(() => null);
  if (stamp !== columnsText()) return false;
  const whole = await Promise.all(TABLES.map((table) => isWholeParquet(schemaFile(path, table))));
  return !whole.includes(false);
}

/**
 * Checks that the empty file of each table is there with all columns, without writing any.
 *
 * @param temporary folder for spill files
 * @throws WarehouseError where a table lacks some: an older version wrote it, or it is a copy of the Parquet files alone
 */
export async function checkSchemas(path: string, memoryLimit: number, temporary: string): Promise<void> {
  const [lacking] = await withEngine({ memoryLimit, temporary }, (engine) => lackingSchemas(engine, path));
  if (lacking === undefined) return;
  const file = schemaFile(path, lacking);
  throw new WarehouseError(`${file} is from another version: run \`indexhouse sync\` or \`rebuild\` first`);
}

/** The tables whose empty file is missing, damaged, or lacks a column; one of a newer version may have more. */
async function lackingSchemas(engine: Engine, path: string): Promise<Table[]> {
  const columns = columnsOfTables();
  const names = await namesIn(join(path, 'schema'));
  const files = TABLES.map((table) => schemaFile(path, table)).filter((file) => names.includes(basename(file)));
  const found = await columnsInFiles(engine, files);
  return TABLES.filter((table) => {
    const there = found.get(schemaFile(path, table));
    return !columns.get(table)?.every(({ name }) => there?.includes(name));
  });
}

const fileRow = z.object({ file_name: z.string(), names: z.array(z.string()) });

/** The names in the schema of each file that can be read: what cannot holds nothing that cannot be made anew. */
async function columnsInFiles(engine: Engine, files: string[]): Promise<Map<string, string[]>> {
  if (files.length === 0) return new Map();
  try {
    const query = 'select file_name, list(name) as names from parquet_schema($files) group by file_name';
    const rows = await engine.rows(fileRow, query, { files });
    return new Map(rows.map(({ file_name, names }) => [file_name, names]));
  } catch {
    if (files.length === 1) return new Map();
    const each = await Promise.all(files.map((file) => columnsInFiles(engine, [file])));
    return new Map(each.flatMap((found) => [...found]));
  }
}

/**
 * The folder whose empty files give each table its columns, for who only reads: the warehouse, or, where that lacks some
 * (an older version wrote it, or it is a copy of the Parquet files alone), `temporary`, in which they are made.
 */
export async function schemasOf(engine: Engine, warehouse: string, temporary: string): Promise<string> {
  if (await hasSchemas(warehouse)) return warehouse;
  await makeFolder(join(temporary, 'schema'));
  for (const table of TABLES) {
    await engine.copy(emptyQuery(table), schemaFile(temporary, table), 'format parquet');
  }
  return temporary;
}

function emptyQuery(table: Table): string {
  const columns = columnsOfTables().get(table) ?? [];
  return `select ${columns.map(({ name, type }) => `null::${type} as ${identifier(name)}`).join(', ')} where false`;
}

/** With the empty file of the table first: no files are no rows then, and older files get later columns. */
export function withEmpty(schemas: string, table: Table, files: readonly string[]): string[] {
  return [schemaFile(schemas, table), ...files];
}

/** A query over some Parquet files of a table: exactly these, one state of the world. */
export function tableQuery(schemas: string, table: Table, files: readonly string[]): string {
  const list = withEmpty(schemas, table, files).map(literal).join(', ');
  return `select * from read_parquet([${list}], union_by_name = true, hive_partitioning = false)`;
}

import { statSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf, UsageError } from '../../base/exit.js';
import type { Engine } from '../../base/storage/engine.js';
import { identifier, literal } from '../../base/storage/sql.js';
import { firstLine } from '../../warehouse/log/folder/damage.js';

/** A file of the user's that is read as a table. */
export interface OwnTable {
  name: string;
  file: string;
}

// Every row is looked at before the types of columns are decided.
const CSV = ['read_csv', ', header = true, sample_size = -1'] as const;
const NESTED = ['read_json', ', sample_size = -1'] as const;
const FORMS = {
  csv: CSV,
  tsv: CSV,
  parquet: ['read_parquet', ''],
  json: NESTED,
  jsonl: NESTED,
  ndjson: NESTED,
} as const;
const ENDING = /\.(\w+)(\.gz)?$/;
const NAME = /^[a-z_]\w*$/i;

/**
 * Copies a file of the user's into a table. Call it before the engine is restricted to folders.
 *
 * @throws UsageError for a name that is not possible or taken, and for a file that cannot be read
 */
export async function addOwnTable(engine: Engine, folder: string, { name, file }: OwnTable): Promise<void> {
  const refuse = (what: string) => new UsageError(`--table ${name}: ${what}`);
  if (!NAME.test(name)) throw refuse('a name is made of letters, digits and underscores, and begins with no digit');
  const named = 'from information_schema.tables where lower(table_name) = lower($name)';
  const taken = await engine.rows(z.unknown(), named, { name });
  if (taken.length > 0) throw refuse('there is a table or view of this name already: choose another one');
  try {
    await readOwn({ folder, name, file }, (from) => engine.table(identifier(name), `from ${from}`));
  } catch (cause) {
    throw refuse(messageOf(cause));
  }
}

/**
 * Hands a file of the user's, as a call for FROM, to `use`.
 *
 * @param own `folder`: a temporary one, for a link to the file, because DuckDB reads some names as patterns
 * @throws UsageError for a file that is not there, has another form, or cannot be read
 */
export async function readOwn<T>(
  { folder, name, file }: OwnTable & { folder: string },
  use: (from: string) => Promise<T>,
): Promise<T> {
  const [ending = '', form] = ENDING.exec(file.toLowerCase()) ?? [];
  const [, [call, options] = []] = Object.entries(FORMS).find(([one]) => one === form) ?? [];
  if (!call) throw new UsageError(`${file} is none of .${Object.keys(FORMS).join(', .')}, with .gz or without`);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new UsageError(`there is no file ${file}`);
  const link = join(folder, `own-${name}${ending}`);
  await symlink(resolve(file), link);
  try {
    return await use(`${call}(${literal(link)}${options})`);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`cannot read ${file}: ${firstLine(cause).replaceAll(link, file)}`, { cause });
  } finally {
    await rm(link);
  }
}

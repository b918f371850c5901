import { statSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { globExpression } from '../../base/config/globs.js';
import { messageOf, UsageError } from '../../base/exit.js';
import { count, counted } from '../../base/observe/format.js';
import type { Engine } from '../../base/storage/engine.js';
import { identifier, literal, sql } from '../../base/storage/sql.js';
import { firstLine } from '../../warehouse/log/folder/damage.js';
import { listedFiles } from '../../warehouse/log/folder/prepare.js';
import { OWN_PAGES } from './definitions.js';

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
const TABLE_NAME = /^[a-z_]\w*$/i;

/**
 * Copies a file of the user's into a table. Call it before the engine is restricted to folders.
 *
 * @throws UsageError for a name that is not possible or taken, and for a file that cannot be read
 */
export async function addOwnTable(engine: Engine, folder: string, { name, file }: OwnTable): Promise<void> {
  const refuse = (what: string) => new UsageError(`--table ${name}: ${what}`);
  if (!TABLE_NAME.test(name))
    throw refuse('a name is made of letters, digits and underscores, and begins with no digit');
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
async function readOwn<T>(
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

const MOST_ROWS = 1_000_000;
/** Each is compared with every page. */
const MOST_PATTERNS = 1000;
/** What a longer pattern would take of a page's URL is more than browsers send. */
const MOST_CHARACTERS = 2000;
/** Patterns that one expression rules out at once. */
const TOGETHER = 32;
const MOST_COLUMNS = 8;
const NAME = /^[a-z_]\w{0,62}$/i;

/** What was made of a file of the user's: the columns that `pages` has, of which reports group by the first, and what is wrong with the file, a sentence each. */
export interface OwnColumns {
  columns: readonly string[];
  notes: readonly string[];
}

/** What `pages` has of a URL, unless the user's file says otherwise. */
const REPLACEABLE = ['directory', 'host', 'template'];
const USABLE = `up to ${MOST_COLUMNS} columns are read, named with letters, digits and underscores, and unlike those of pages`;

/**
 * Makes `own.pages`, what a file of the user's with a column `url` or `pattern` says of each page, and puts its columns
 * into `pages`. If it cannot be used, `own.pages` stays empty. Call it as the work of `Definitions.make`.
 */
export async function addOwnPages(engine: Engine, folder: string, file: string): Promise<OwnColumns> {
  const notes: string[] = [];
  // Without its folder: reports and dashboards go to others.
  const note = (what: string) => void notes.push(`pages_from: ${what.replaceAll(file, basename(file))}.`);
  try {
    const columns = await readOwn({ folder, name: OWN_PAGES, file }, (call) => readRows(engine, call, file, note));
    await joinColumns(engine, columns);
    return { columns, notes };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    note(error.message);
    return { columns: [], notes };
  } finally {
    await engine.run('set preserve_insertion_order = false');
  }
}

/** Reads the rows of the file into `own.rows`. Returns the names of the columns that can be used. */
async function readRows(engine: Engine, call: string, file: string, note: (what: string) => void): Promise<string[]> {
  const names = await namesOf(engine, `from ${call}`);
  const find = (key: string) => names.find((name) => name.toLowerCase() === key);
  const key = find('url') ?? find('pattern');
  if (key === undefined) throw new UsageError(`${file} has no column url or pattern; there are ${names.join(', ')}`);
  const taken = new Set((await namesOf(engine, 'pages')).filter((name) => !REPLACEABLE.includes(name)));
  const isNew = (name: string) => taken.size < taken.add(name.toLowerCase()).size;
  const columns = names.filter((name) => name !== key && NAME.test(name) && isNew(name)).slice(0, MOST_COLUMNS);
  const left = names.filter((name) => name !== key && !columns.includes(name));
  if (left.length > 0) note(`${file}: ${left.join(', ')} left out: ${USABLE}`);
  if (columns.length === 0) throw new UsageError(`${file} has no column beside ${key} that can be used`);
  const isUrl = key === find('url');
  const said = columns.map((name) => `{key: ${literal(name)}, value: trim(${identifier(name)}::varchar)}`);
  const text = `trim(${identifier(key)}::varchar)`;
  const keys = isUrl ? `${text} as url, null::varchar as pattern` : `null::varchar as url, ${text} as pattern`;
  const most = isUrl ? MOST_ROWS : MOST_PATTERNS;
  const given = `select row_number() over () as place, ${keys}, [${said.join(', ')}] as said from ${call} limit ${most + 1}`;
  // In the order of the file.
  await engine.run('set preserve_insertion_order = true');
  await engine.table('own.rows', `with given as (${given}) ${sql('answers/own/rows')}`);
  const cut = await engine.rows(z.unknown(), 'delete from own.rows where place > $most returning place', { most });
  if (cut.length > 0) note(`${file} has more than ${count(most)} rows, and only the first are used`);
  await definePlaceOf(engine, (long) => note(`${file}: ${long} left out, longer than ${count(MOST_CHARACTERS)}`));
  return columns;
}

/** Defines `own.place_of`: the first row whose pattern a URL matches. */
async function definePlaceOf(engine: Engine, tooLong: (patterns: string) => void): Promise<void> {
  const row = z.object({ place: z.coerce.number(), pattern: z.string() });
  const all = await engine.rows(row, "select place, pattern from own.rows where pattern <> '' order by place");
  const patterns = all.filter(({ pattern }) => pattern.length <= MOST_CHARACTERS);
  if (patterns.length < all.length) tooLong(counted(all.length - patterns.length, 'pattern'));
  await engine.run(`create macro own.place_of(url) as ${firstOf(patterns, TOGETHER)}`);
}

/** LIKE with a column as its pattern takes for ever on some URLs, and an expression is fast only if it is constant. */
function firstOf(rows: readonly { place: number; pattern: string }[], together: number): string {
  if (rows.length === 0) return 'null::bigint';
  const cases: string[] = [];
  for (let at = 0; at < rows.length; at += together) {
    const some = rows.slice(at, at + together);
    const matched = `regexp_matches(url, ${literal(globExpression(some.map(({ pattern }) => pattern)) ?? '')})`;
    cases.push(`when ${matched} then ${together === 1 ? some[0]?.place : firstOf(some, 1)}`);
  }
  return `case ${cases.join(' ')} end`;
}

async function namesOf(engine: Engine, relation: string): Promise<string[]> {
  const names = z.object({ column_name: z.string() });
  return (await engine.rows(names, `select column_name from (describe ${relation})`)).map((row) => row.column_name);
}

async function joinColumns(engine: Engine, columns: readonly string[]): Promise<void> {
  await engine.view('own.pages', `select website_id, url, own from read_parquet(${listedFiles(OWN_PAGES)})`);
  const own = columns.map((name) => `said.own[${literal(name)}] as ${identifier(name)}`);
  await engine.run('alter view pages rename to known_pages');
  const joined = 'known_pages as known left join own.pages as said using (website_id, url)';
  const replaced = REPLACEABLE.filter((name) => columns.some((column) => column.toLowerCase() === name));
  const known = replaced.length > 0 ? `known.* exclude (${replaced.join(', ')})` : 'known.*';
  await engine.view('pages', `select ${known}, ${own.join(', ')} from ${joined}`);
}

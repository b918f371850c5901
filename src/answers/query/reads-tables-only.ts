import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { nearest } from '../../base/config/suggest.js';
import type { Engine } from '../../base/storage/engine.js';
import { packageFolder, sqlNames } from '../../base/storage/sql.js';

/** What is allowed in FROM besides tables and views: functions that make rows or describe tables. */
const TABLE_FUNCTIONS = new Set([
  ...['range', 'generate_series', 'unnest', 'repeat', 'repeat_row', 'json_each', 'json_tree', 'summary'],
  ...['test_all_types', 'icu_calendar_names', 'pg_timezone_names'],
  ...['duckdb_columns', 'duckdb_tables', 'duckdb_views', 'duckdb_schemas', 'duckdb_databases', 'duckdb_types'],
  ...['duckdb_functions', 'duckdb_keywords', 'pragma_table_info', 'pragma_show', 'pragma_version'],
  ...[...macroNames('warehouse/periods'), 'selected_pages'],
]);
const ALLOWED = readFileSync(join(packageFolder(), 'sql', 'answers', 'functions.txt'), 'utf8');
/** What is allowed elsewhere: functions that see nothing of the machine, or of this process, but their arguments. */
export const FUNCTIONS: readonly string[] = [
  ...ALLOWED.replaceAll(/^#.*/gm, '').trim().split(/\s+/),
  ...[...macroNames('warehouse/macros'), 'clicks_before', 'warehouse_time_zone'],
];

function macroNames(folder: string): string[] {
  return sqlNames(folder).map((name) => name.replace(/^.*\/\d+_/, ''));
}

/** A call in FROM holds the call itself once more, in the form of those elsewhere. */
const CALLED = new Set([...FUNCTIONS, ...TABLE_FUNCTIONS]);
/** The harmless ones, which describe tables or nothing at all. */
export const PRAGMAS = /^pragma\s+(version|show_tables|database_list|table_info\s*\(\s*'\w+'\s*\))$/i;
/** Tables of the system that show settings, which name folders of this machine, or what others ask. */
const REFUSED_TABLE = /^(.*\.)?"?(pg_settings|pg_prepared_statements|duckdb_logs)"?$/i;
/** Names that DuckDB takes for a file if no table has them. */
const FILE_NAME =
  /[/\\*?]|:\/\/|\.(parquet|csv|tsv|txt|json|jsonl|ndjson|db|ddb|duckdb|sqlite|xlsx|avro|arrow)(\.\w+)?$/i;

/** In a parsed statement: the name of what is read or called, and its schema. */
const NAME = /"(?:table_name|function_name|schema_name)":"(\w+)"/g;
/** In a parsed statement: that it lists tables, views or functions. */
const LISTS =
  /"SHOW_(?:UNQUALIFIED|FROM)"|"(?:table_name|function_name|schema_name)":"(?:information_schema|(?:duckdb|pg|pragma|sqlite)_)/i;

const parsedRow = z.object({ parsed: z.string() });
const parsedSchema = z.looseObject({ error: z.boolean() });
const nodeSchema = z.looseObject({
  type: z.string().optional(),
  class: z.string().optional(),
  table_name: z.string().optional(),
  function_name: z.string().optional(),
  function: z.looseObject({ function_name: z.string() }).optional(),
});

/**
 * Searches one parsed statement for anything but reading of tables and views. Nothing is bound, so no file is opened,
 * and no message can contain a file's content.
 *
 * @returns what is refused, as it follows "it" in a sentence, or null; the names of what it reads and calls; and whether
 * it lists what there is
 */
export async function lookInto(engine: Engine, statement: string) {
  if (PRAGMAS.test(statement)) return { refused: null, names: statement.match(/\w+/g) ?? [], lists: true };
  const [row] = await engine.rows(parsedRow, 'select json_serialize_sql($statement::varchar) as parsed', { statement });
  const text = row?.parsed ?? '';
  const parsed = parsedSchema.parse(JSON.parse(text));
  const found = { names: [...text.matchAll(NAME)].map(([, name]) => name ?? ''), lists: LISTS.test(text) };
  if (parsed.error) return { ...found, refused: `is not a query but ${/^\w*/.exec(statement)?.[0].toUpperCase()}` };
  // With a list instead of recursion, because a hostile text can be nested to any depth.
  const left: unknown[] = [parsed];
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== 'object' || node === null) continue;
    const refused = Array.isArray(node) ? null : refusedIn(node);
    if (refused !== null) return { ...found, refused };
    for (const inner of Object.values(node)) left.push(inner);
  }
  return { ...found, refused: null };
}

function refusedIn(node: object): string | null {
  const parsed = nodeSchema.safeParse(node);
  if (!parsed.success) return null;
  const { type, class: kind, table_name, function_name, function: called } = parsed.data;
  if (type === 'TABLE_FUNCTION') {
    const name = called?.function_name.toLowerCase() ?? '';
    return TABLE_FUNCTIONS.has(name) ? null : `calls ${name}() in FROM`;
  }
  if (table_name !== undefined && REFUSED_TABLE.test(table_name)) return `reads ${table_name}`;
  if (type === 'BASE_TABLE' && table_name !== undefined && FILE_NAME.test(table_name)) {
    return `reads the file ${table_name}`;
  }
  const isCall = kind === 'FUNCTION' || kind === 'WINDOW';
  return isCall && !CALLED.has(function_name?.toLowerCase() ?? '') ? `calls ${notAllowed(function_name ?? '')}` : null;
}

function notAllowed(name: string): string {
  // Cut, because comparing a hostile name could take long.
  const meant = nearest(name.slice(0, 40), FUNCTIONS);
  return `${name}(), which is not one of the functions that may be called${meant ? ` (did you mean ${meant}()?)` : ''}`;
}

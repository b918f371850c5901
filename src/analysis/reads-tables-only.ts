import { z } from 'zod';
import type { Engine } from '../storage/engine.js';

/** What is allowed in FROM besides tables and views: functions that make rows or describe tables. */
const TABLE_FUNCTIONS = new Set([
  ...['range', 'generate_series', 'unnest', 'repeat', 'repeat_row', 'json_each', 'json_tree', 'summary'],
  ...['test_all_types', 'icu_calendar_names', 'pg_timezone_names'],
  ...['duckdb_columns', 'duckdb_tables', 'duckdb_views', 'duckdb_schemas', 'duckdb_databases', 'duckdb_types'],
  ...['duckdb_functions', 'duckdb_keywords', 'pragma_table_info', 'pragma_show', 'pragma_version'],
]);
/** Functions that see more of the machine, or of this process, than their arguments. */
const REFUSED_FUNCTIONS = new Set(['getenv', 'write_log', 'current_setting', 'getvariable']);
/** The harmless ones, which describe tables or nothing at all. */
export const PRAGMAS = /^pragma\s+(version|show_tables|database_list|table_info\s*\(\s*'\w+'\s*\))$/i;
/** A table of the system that tells settings, which name folders of this machine. */
const SETTINGS_TABLE = /^(.*\.)?"?pg_settings"?$/i;
/** Names that DuckDB takes for a file if no table has them. */
const FILE_NAME =
  /[/\\*?]|:\/\/|\.(parquet|csv|tsv|txt|json|jsonl|ndjson|db|ddb|duckdb|sqlite|xlsx|avro|arrow)(\.\w+)?$/i;

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
 * @returns what is refused, as it follows "it" in a sentence; null if nothing is
 */
export async function whatElseIsRead(engine: Engine, statement: string): Promise<string | null> {
  if (PRAGMAS.test(statement)) return null;
  const [row] = await engine.rows(parsedRow, 'select json_serialize_sql($statement::varchar) as parsed', { statement });
  const parsed = parsedSchema.parse(JSON.parse(row?.parsed ?? ''));
  if (parsed.error) return `is not a query but ${/^\w*/.exec(statement)?.[0].toUpperCase()}`;
  // With a list instead of recursion, because a hostile text can be nested to any depth.
  const left: unknown[] = [parsed];
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== 'object' || node === null) continue;
    const refused = Array.isArray(node) ? null : refusedIn(node);
    if (refused !== null) return refused;
    for (const inner of Object.values(node)) left.push(inner);
  }
  return null;
}

function refusedIn(node: object): string | null {
  const parsed = nodeSchema.safeParse(node);
  if (!parsed.success) return null;
  const { type, class: kind, table_name, function_name, function: called } = parsed.data;
  if (type === 'TABLE_FUNCTION') {
    const name = called?.function_name.toLowerCase() ?? '';
    return TABLE_FUNCTIONS.has(name) ? null : `calls ${name}() in FROM`;
  }
  if (table_name !== undefined && SETTINGS_TABLE.test(table_name)) return 'reads the settings in pg_settings';
  if (type === 'BASE_TABLE' && table_name !== undefined && FILE_NAME.test(table_name)) {
    return `reads the file ${table_name}`;
  }
  if (kind === 'FUNCTION' && REFUSED_FUNCTIONS.has(function_name?.toLowerCase() ?? ''))
    return `calls ${function_name}()`;
  return null;
}

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../src/base/storage/engine.js';
import { literal } from '../../src/base/storage/sql.js';
import { filesOfTable, givenEveryTable } from '../given/every-table.js';
import { temporaryFolder } from '../given/folder.js';
import { mayInstallTools } from '../given/packages.js';
import type { Row } from '../given/parquet.js';
import { byDuckdb, type Column, canonical, documentedColumns, fingerprint } from '../given/readers.js';
import { askPython, installPython } from './packages.js';

const CLICKHOUSE_TYPES: Readonly<Record<string, string>> = {
  VARCHAR: 'Nullable(String)',
  JSON: 'Nullable(String)',
  INTEGER: 'Nullable(Int32)',
  BIGINT: 'Nullable(Int64)',
  DOUBLE: 'Nullable(Float64)',
  BOOLEAN: 'Nullable(Bool)',
  DATE: 'Nullable(Date32)',
  'TIMESTAMP WITH TIME ZONE': "Nullable(DateTime64(6, 'UTC'))",
  'VARCHAR[]': 'Array(Nullable(String))',
  'STRUCT(from_value VARCHAR, to_value VARCHAR, from_snapshot_id VARCHAR, observed_at TIMESTAMP WITH TIME ZONE)[]':
    "Array(Tuple(from_value Nullable(String), to_value Nullable(String), from_snapshot_id Nullable(String), observed_at Nullable(DateTime64(6, 'UTC'))))",
};
/** Versions write a list as text in different ways, but not as JSON. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  url_reports: ['sitemaps'],
  page_versions: ['report_sitemaps', 'changes', 'change_details'],
  page_history: ['report_sitemaps', 'changes', 'change_details'],
  page_state: ['report_sitemaps'],
  pages: ['report_sitemaps'],
};

/** The rows of each statement, asked of a DuckDB file or of none. */
const ASK_DUCKDB = `
import duckdb, json, sys
file, statements = json.load(sys.stdin)
con = duckdb.connect(file or ":memory:", read_only=bool(file))
con.execute("set TimeZone = 'UTC'")
print(json.dumps([con.execute(sql).fetchall() for sql in statements]))`;
/** The rows of each statement, as ClickHouse writes them: one JSON array a line. */
const ASK_CLICKHOUSE = `
import chdb, json, sys
print(json.dumps([str(chdb.query(sql, "JSONCompactEachRow")) for sql in json.load(sys.stdin)]))`;

const ARE_THERE = mayInstallTools() && installPython('chdb', 'duckdb-1.1');

test.runIf(ARE_THERE)('ClickHouse and DuckDB 1.1 read every table as DuckDB of today does', async () => {
  const warehouse = await givenEveryTable('both');
  const texts: string[] = [];
  for (const [table, columns] of await documentedColumns()) {
    const files = await filesOfTable(warehouse, table);
    const rows = canonical(await byDuckdb(files), columns);
    expect(rows.length, `test/given/every-table.ts makes no rows of ${table}`).toBeGreaterThan(0);
    const clickhouse = canonical(byClickhouse(files, columns), columns);
    expect([table, fingerprint(clickhouse)]).toEqual([table, fingerprint(rows)]);
    texts.push(asTexts(table, `read_parquet([${files.map(literal).join(', ')}])`));
  }
  expect(askOlder(texts)).toEqual(await askOurs(texts));
});

test.runIf(ARE_THERE)('DuckDB 1.1 opens analytics.duckdb, and every view answers as in DuckDB of today', async () => {
  const file = join(await givenEveryTable(), 'analytics.duckdb');
  const list = "select view_name from duckdb_views() where not internal and database_name = 'analytics' order by all";
  const [names = []] = z.array(z.array(z.tuple([z.string()]))).parse(await askOurs([list], file));
  expect(names.length).toBeGreaterThan(10);
  const statements = names.map(([name]) => asTexts(name, name));
  expect(askOlder(statements, file)).toEqual(await askOurs(statements, file));
  // Beside tables of one's own.
  const attached = [`attach ${literal(file)} as seo (read_only)`, 'use seo', 'select count(*) > 0 from pages'];
  expect(askOlder(attached)).toEqual([[], [], [[true]]]);
});

/** A query for all values as texts, but for what follows from the hour at which it is asked. */
function asTexts(relation: string, from: string): string {
  const lists = (LISTS[relation] ?? []).map((list) => `to_json(${list}) as ${list}`);
  const shown = lists.length > 0 ? `* replace (${lists.join(', ')})` : '*';
  return `select columns(*)::varchar from (select ${shown} from ${from}) order by all`;
}

function askOlder(statements: string[], file: string | null = null): unknown {
  return askPython('duckdb-1.1', ASK_DUCKDB, '.', [file, statements]);
}

function askOurs(statements: string[], file?: string): Promise<unknown[]> {
  const options = { memoryLimit: 256e6, temporary: temporaryFolder(), ...(file ? { file, readOnly: true } : {}) };
  return withEngine(options, async (engine) => {
    const answers: unknown[] = [];
    for (const sql of statements) answers.push((await engine.raw.runAndReadAll(sql)).getRowsJson());
    return answers;
  });
}

function byClickhouse(files: string[], columns: readonly Column[]): Row[] {
  const structure = columns.map(({ name, type }) => `${name} ${CLICKHOUSE_TYPES[type]}`).join(', ');
  const shown = columns.map(({ name, type }) =>
    type.startsWith('TIMESTAMP') ? `toUnixTimestamp64Milli(${name})` : name,
  );
  const statements = files.map(
    (file) =>
      `select ${shown.join(', ')} from file(${literal(file)}, Parquet, ${literal(structure)})
       settings output_format_json_quote_64bit_integers = 0, use_hive_partitioning = 0`,
  );
  const answers = z.array(z.string()).parse(askPython('chdb', ASK_CLICKHOUSE, '.', statements));
  return answers
    .flatMap((answer) => answer.split('\n').filter((line) => line !== ''))
    .map((line) => z.array(z.unknown()).parse(JSON.parse(line)))
    .map((values) => Object.fromEntries(columns.map(({ name }, at) => [name, values[at]])));
}

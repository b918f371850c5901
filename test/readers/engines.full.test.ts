import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { literal, packageFolder } from '../../src/storage/sql.js';
import { filesOfTable, givenEveryTable } from '../given/every-table.js';
import type { Row } from '../given/parquet.js';
import { byDuckdb, type Column, canonical, documentedColumns, fingerprint } from '../given/readers.js';
import { askClickhouse, askDuckdb, duckdbModule, installReaders } from './packages.js';

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
};
/** Versions write a list as text in different ways, but not as JSON. */
const LISTS: Readonly<Record<string, string>> = {
  url_reports: 'sitemaps',
  page_state: 'report_sitemaps',
  pages: 'report_sitemaps',
};

const folder = mkdtempSync(join(tmpdir(), 'indexhouse-readers-'));

const ARE_THERE = installReaders(folder);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.runIf(ARE_THERE).each(['zstd', 'snappy', 'gzip'] as const)('%s', (codec) => {
  test('ClickHouse and DuckDB 1.1 read every table as DuckDB of today does', async () => {
    const warehouse = await givenEveryTable(codec, onTestFinished);
    const texts: string[] = [];
    for (const [table, columns] of await documentedColumns()) {
      const files = await filesOfTable(warehouse, table);
      const rows = canonical(await byDuckdb(files), columns);
      expect(rows.length, `test/given/every-table.ts makes no rows of ${table}`).toBeGreaterThan(0);
      const clickhouse = canonical(byClickhouse(files, columns), columns);
      expect([table, fingerprint(clickhouse)]).toEqual([table, fingerprint(rows)]);
      texts.push(asTexts(table, `read_parquet([${files.map(literal).join(', ')}])`));
    }
    expect(askDuckdb(duckdbModule(folder), texts)).toEqual(askDuckdb(duckdbModule(), texts));
  });

  test('DuckDB 1.1 opens analytics.duckdb, and every view answers as in DuckDB of today', async () => {
    const file = join(await givenEveryTable(codec, onTestFinished), 'analytics.duckdb');
    const list = [
      "select view_name from duckdb_views() where not internal and database_name = 'analytics' order by all",
    ];
    const names = z.array(z.array(z.tuple([z.string()]))).parse(askDuckdb(duckdbModule(), list, file))[0] ?? [];
    expect(names.length).toBeGreaterThan(10);
    const statements = names.map(([name]) => asTexts(name, name));
    const older = askDuckdb(duckdbModule(folder), statements, file);
    expect(older).toEqual(askDuckdb(duckdbModule(), statements, file));
  });
});

test.runIf(ARE_THERE)('the guide tells ClickHouse rightly what to read', async () => {
  const warehouse = await givenEveryTable('zstd', onTestFinished);
  const guide = readFileSync(join(packageFolder(), 'docs', 'bi', 'parquet.md'), 'utf8');
  const statement = /```clickhouse\n([\s\S]*?)```/.exec(guide)?.[1]?.replaceAll("'warehouse/", `'${warehouse}/`) ?? '';
  // The first night is out of use; of the second, two entries passed at once. The rest came by a replay.
  expect(askClickhouse(folder, [statement])).toEqual(['["2025-03-02", 2]\n']);
});

/** A query for all values as texts, but for what follows from the hour at which it is asked. */
function asTexts(relation: string, from: string): string {
  const list = LISTS[relation];
  const ages = relation === 'pages' ? 'exclude (listing_age_days, report_age_days)' : '';
  const shown = `* ${ages} ${list ? `replace (to_json(${list}) as ${list})` : ''}`;
  return `select columns(*)::varchar from (select ${shown} from ${from}) order by all`;
}

function byClickhouse(files: string[], columns: readonly Column[]): Row[] {
  const structure = columns.map(({ name, type }) => `${name} ${CLICKHOUSE_TYPES[type]}`).join(', ');
  const shown = columns.map(({ name, type }) =>
    type.startsWith('TIMESTAMP') ? `toUnixTimestamp64Milli(${name})` : name,
  );
  const statements = files.map(
    (file) =>
      `select ${shown.join(', ')} from file(${literal(file)}, Parquet, ${literal(structure)})
       settings output_format_json_quote_64bit_integers = 0`,
  );
  const answers = z.array(z.string()).parse(askClickhouse(folder, statements));
  const lines = answers.flatMap((answer) => answer.split('\n').filter((line) => line !== ''));
  return lines.map((line) => {
    const values = z.array(z.unknown()).parse(JSON.parse(line));
    return Object.fromEntries(columns.map(({ name }, at) => [name, values[at]]));
  });
}

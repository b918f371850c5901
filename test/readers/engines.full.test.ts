import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { literal, packageFolder } from '../../src/storage/sql.js';
import { openReader, rowsOf } from '../analysis/given.js';
import { asOf, filesOfTable, givenEveryTable, MOMENTS } from '../given/every-table.js';
import { folderOnDisk } from '../given/folder.js';
import { givenNights } from '../given/nights.js';
import { mayInstallTools } from '../given/packages.js';
import type { Row } from '../given/parquet.js';
import { byDuckdb, type Column, canonical, documentedColumns, fingerprint } from '../given/readers.js';
import { writeJsonType } from '../given/tamper.js';
import { askClickhouse, askDuckdb, askPython, duckdbModule, installPython, installReaders } from './packages.js';

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

const folder = folderOnDisk('readers');

const ARE_THERE = mayInstallTools() && installReaders(folder);
const ARE_THERE_WITH_PYTHON = ARE_THERE && installPython('older', 'newer');

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

describe.runIf(ARE_THERE_WITH_PYTHON)('the guides', () => {
  const clean: (() => void | Promise<void>)[] = [];
  /** A warehouse in which every table has rows. */
  let every: string;

  beforeAll(async () => {
    every = await givenEveryTable('zstd', (each) => clean.push(each));
  });

  afterAll(async () => {
    for (const each of clean.reverse()) await each();
  });

  describe.each(MOMENTS)('a warehouse %s', (moment) => {
    let home: string;
    let told: unknown;

    beforeAll(async () => {
      const warehouse = await asOf(moment, every, (each) => clean.push(each));
      home = dirname(warehouse);
      const reader = await openReader(warehouse);
      const rows = await rowsOf(
        reader,
        'select snapshot_date, count(*) as pages from coverage group by all order by all',
      );
      told = rows.map(({ snapshot_date, pages }) => [snapshot_date, pages]);
      reader.close();
    });

    test('is counted by the SQL of the guide in DuckDB 1.1 and of today, from Python', () => {
      const program = `import duckdb, json
rows = duckdb.sql(${JSON.stringify(blocksOf('parquet.md', 'sql').join(''))}).fetchall()
print(json.dumps([[str(date), pages] for date, pages, indexed in rows]))`;
      expect(askPython('older', program, home)).toEqual(told);
      expect(askPython('newer', program, home)).toEqual(told);
    });

    test('is counted by the pandas and the Polars of the guide', () => {
      const [, pandas, polars] = blocksOf('notebooks.md', 'python');
      const byDate = 'print(json.dumps(sorted([str(date), pages] for date, pages in counts)))';
      const grouped = 'counts = coverage.groupby("snapshot_date").size().items()';
      expect(askPython('newer', `import json\n${pandas}\n${grouped}\n${byDate}`, home)).toEqual(told);
      const lengths = 'counts = coverage.group_by("snapshot_date").len().rows()';
      expect(askPython('newer', `import json\n${polars}\n${lengths}\n${byDate}`, home)).toEqual(told);
    });

    test('is counted by the ClickHouse of the guide', () => {
      const [statement = ''] = blocksOf('parquet.md', 'clickhouse');
      const [answer] = z
        .array(z.string())
        .parse(askClickhouse(folder, [statement.replaceAll("'warehouse/", `'${home}/warehouse/`)]));
      const lines = (answer ?? '').split('\n').filter((line) => line !== '');
      expect(lines.map((line) => JSON.parse(line))).toEqual(told);
    });
  });

  test('pandas, Polars and ClickHouse read files with the JSON type beside files with text', async () => {
    const nights = await givenNights(onTestFinished);
    await nights.night({ list: { a: { colour: 'red' }, b: { index_summary: 7 } } });
    await writeJsonType(nights.warehouse);
    await nights.night({ list: { a: { colour: 'blue' } } });
    const told = ['{"colour":"blue"}', '{"colour":"red"}'];
    const [, ...blocks] = blocksOf('notebooks.md', 'python');
    for (const block of blocks) {
      const program = `import json\n${block}\nprint(json.dumps(sorted(coverage["extra"].to_list())))`;
      expect(askPython('newer', program, dirname(nights.warehouse))).toEqual(told);
    }
    const files = `${nights.warehouse}/parquet/coverage/*/*/*.parquet`;
    const statement = `select extra from file(${literal(files)}, Parquet, 'extra Nullable(String)') order by extra`;
    expect(askClickhouse(folder, [statement])).toEqual([told.map((text) => `${JSON.stringify([text])}\n`).join('')]);
  });
});

/** The code of one language in a guide, block by block. */
function blocksOf(guide: string, language: string): string[] {
  const text = readFileSync(join(packageFolder(), 'docs', 'bi', guide), 'utf8');
  return [...text.matchAll(/```(\w+)\n([\s\S]*?)```/g)].flatMap(([, name, code]) =>
    name === language && code ? [code] : [],
  );
}

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

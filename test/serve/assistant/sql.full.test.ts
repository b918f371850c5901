import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { Reader } from '../../../src/answers/query/reader.js';
import { FUNCTIONS } from '../../../src/answers/query/reads-tables-only.js';
import { UsageError } from '../../../src/base/exit.js';
import { readRows } from '../../../src/serve/assistant/rows.js';
import { runSql } from '../../../src/serve/assistant/run-sql.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { temporaryFolder } from '../../given/folder.js';
import { filesBelow } from '../../given/thinned.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { asked, call, NIGHTS } from './given.js';
import { REFUSED } from './hostile-sql.js';

const WINDOW = { limit: 10, offset: 0 };
const MEMORY_LIMIT = 256_000_000;

const built = sharedWarehouse(() => buildWarehouse(NIGHTS));
let parquet: string;
beforeAll(async () => {
  parquet = (await listTableFiles(built.path, 'coverage', { websiteId: 'shop' }))[0] ?? '';
});

function written(sql: string): string {
  const secret = join(built.path, 'warehouse.json');
  return sql.replaceAll('FILE', secret).replaceAll('FOLDER', built.path).replaceAll('PARQUET', parquet);
}

async function opened(options: { websites?: string[] } = {}): Promise<Reader> {
  const reader = await Reader.open({ warehouse: built.path, memoryLimit: MEMORY_LIMIT, ...options });
  onTestFinished(() => reader.close());
  return reader;
}

it('hostile statements are refused for what they are, before anything of them runs', async () => {
  const reader = await opened({ websites: ['shop'] });
  const before = filesBelow(built.path);
  for (const hostile of REFUSED) {
    const sql = written(hostile);
    const refused = await readRows(reader, { name: 'query_sql', sql, parameters: {} }, WINDOW).catch((error) => error);
    expect([hostile, refused]).toEqual([hostile, expect.any(UsageError)]);
    expect([hostile, String(refused)]).toEqual([hostile, expect.not.stringContaining('time_zone')]);
    expect([hostile, String(refused)]).toEqual([hostile, expect.stringMatching(CLEAR)]);
  }
  expect(filesBelow(built.path)).toEqual(before);
  expect((await readRows(reader, { name: 'q', sql: 'from snapshots', parameters: {} }, WINDOW)).total).toBe(3);
});

const CLEAR = /Only tables and views can be read: give exactly one statement|(Parser|Binder|Catalog) Error: /;

/** Functions in all forms of SQL: DuckDB's parser turns each into a call by name. */
const HARMLESS = [
  "select '1'::int, try_cast('x' as int), cast('{}' as json), 'a'::blob, [1, 2]::int[2], x'ab'",
  "select -1, 5!, 2 ** 3, 7 // 2, 1 << 2, 'a' || 'b', [1] && [1], [1.0, 2] <=> [2.0, 1]",
  "select url not like 'a%' escape '!', url ilike 'b', url !~ 'c', url similar to 'd' from pages",
  'select [n + 1 for n in [1, 2, 3] if n > 1], list_transform([1], x -> x), list_reduce([1, 2], lambda x, y: x + y)',
  "select {a: 1}.a, row(1, 2), map {'a': 1}['a'], 'abc'[1:2], '{\"a\": 1}'::json->>'$.a'",
  "select extract(year from now()), now() at time zone 'UTC', date '2025-03-01' + interval (1) day, current_date",
  'select row_number() over w, lag(url) over w from pages window w as (partition by website_id order by url)',
  'select mode() within group (order by url), quantile_cont(1, 0.5), count(distinct url) filter (url is not null) from pages',
  "select directory_of(url), template_of(url), url.upper() from pages where is_website(website_id, 'shop')",
  "from pages pivot (count(*) for website_id in ('shop'))",
  'summarize pages',
];

it('casts, operators, lambdas, windows and our own macros can be used in SQL', async () => {
  const reader = await opened();
  for (const sql of HARMLESS) {
    expect((await readRows(reader, { name: sql, sql, parameters: {} }, WINDOW)).total).toBeGreaterThan(0);
  }
  const mistyped = readRows(reader, { name: 'q', sql: "select substing('a', 1)", parameters: {} }, WINDOW);
  await expect(mistyped).rejects.toThrow('did you mean substring()?');
});

it('every function of this version of DuckDB was reviewed: it is allowed to questions, or refused', async () => {
  const refused = readFileSync(join(import.meta.dirname, 'refused-functions.txt'), 'utf8');
  const patterns = refused.replaceAll(/^#.*/gm, '').trim().split(/\s+/);
  const isRefused = new RegExp(`^(${patterns.join('|').replaceAll('*', '.*')})$`);
  const reader = await opened();
  await reader.provideAll();
  const there = await reader.engine.rows(
    z.object({ name: z.string(), kind: z.string() }),
    'select distinct lower(function_name) as name, function_type as kind from duckdb_functions()',
  );
  const reviewed = (name: string) => FUNCTIONS.includes(name) || isRefused.test(name);
  expect(there.filter(({ name, kind }) => !/^(table|pragma)/.test(kind) && !reviewed(name))).toEqual([]);
  expect(FUNCTIONS.filter((known) => !there.some(({ name }) => name === known))).toEqual([]);
});

it('rows that are too wide are cut', async () => {
  const wide = Array.from({ length: 100 }, (_, at) => `repeat('x', 1900) as c${at}`);
  const sql = `select ${wide.join(', ')}, repeat('y', 5000) as long`;
  const { rows, ...counts } = await readRows(await opened(), { name: 'q', sql, parameters: {} }, WINDOW);
  expect(JSON.stringify(rows).length).toBeLessThan(50_000);
  expect(counts).toMatchObject({ returned: 1, next_offset: null, cut_values: 101 });
});

it('query_sql answers with the rows of its client alone, in a process without environment and without leftovers', async () => {
  const folder = temporaryFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const client = await asked(built.path);
  const { content } = await call(client, 'query_sql', {
    sql: 'select url, first_seen_at from pages order by url',
    limit: 2,
    offset: 1,
  });
  expect(content).toMatchObject({
    columns: ['url', 'first_seen_at'],
    rows: [
      ['https://other.example/blog/002', '2025-03-01T02:00:00.000Z'],
      ['https://other.example/blog/004', '2025-03-01T02:00:00.000Z'],
    ],
    total: 66,
    next_offset: 3,
    basis: { websites: [{ website_id: 'other' }, { website_id: 'shop' }] },
  });
  const { error } = await call(client, 'query_sql', { sql: "from read_text('/etc/passwd')" });
  expect(error).toContain('calls read_text() in FROM');
  const sql = 'select website_id, count(*) from pages group by all';
  const request = { warehouse: built.path, websites: ['shop'], sql, ...WINDOW };
  const { rows } = await runSql(request, new AbortController().signal, { memoryLimit: MEMORY_LIMIT });
  expect(rows).toEqual([['shop', 61]]);
  expect(readdirSync(folder).filter((name) => !name.startsWith('indexhouse-reader-'))).toEqual([]);
});

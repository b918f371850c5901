import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toRows, type Value } from '../../src/analysis/values.js';

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  // Short and long ones, empty ones, nulls, other scripts, a zero byte and a byte order mark, in no order.
  await connection.run(
    `create table pages as
     select
       n,
       if(n % 11 = 0, null, repeat('seite-é-', (n * 7919 % 5)::integer) || n) as page,
       case n % 4 when 0 then 'Submitted and indexed' when 1 then '' when 2 then chr(65279) || 'mark in front of it' end as state,
       if(n % 13 = 0, null, [page, null, 'a' || chr(0) || 'text with a zero byte', state][: (n % 5)::integer]) as sitemaps
     from range(10000) t(n)`,
  );
});

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

async function answer(query: string): Promise<Value[][]> {
  const rows: Value[][] = [];
  for await (const chunk of await connection.stream(query)) rows.push(...toRows(chunk));
  return rows;
}

function hex(value: Value | undefined): Value {
  return typeof value === 'string' ? Buffer.from(value).toString('hex').toUpperCase() : (value ?? null);
}

it.each([
  ['as they are stored', 'from pages'],
  ['sorted', 'from pages order by state, page desc'],
  ['sorted and limited', 'from pages order by page limit 3000 offset 2500'],
  ['filtered', "from pages where page like '%7%'"],
  [
    'joined, one text for many rows',
    "from (select n, name as page, state, sitemaps from pages join (values (0, 'a name of many rows'), (1, 'another of them')) names(k, name) on n % 3 = k)",
  ],
  [
    'grouped',
    'from (select min(n) as n, page, any_value(state) as state, any_value(sitemaps) as sitemaps from pages group by page)',
  ],
  ['none', 'from pages where n < 0'],
])('texts and lists of them are told byte by byte: %s', async (_, from) => {
  const rows = await answer(
    `select page, hex(page), state, hex(state), sitemaps, list_transform(sitemaps, lambda one: hex(one)) ${from}`,
  );
  expect(rows.length > 0).toBe(!from.includes('n < 0'));
  for (const [page, pageHex, state, stateHex, sitemaps, sitemapsHex] of rows) {
    expect([hex(page), hex(state)]).toEqual([pageHex, stateHex]);
    expect(Array.isArray(sitemaps) ? sitemaps.map(hex) : sitemaps).toEqual(sitemapsHex);
  }
});

it('a text may be longer than what is read at one go', async () => {
  const [[long, next] = []] = await answer(
    "select repeat('0123456789', 300000) || n, repeat('x', 40) from range(1) t(n)",
  );
  expect([String(long).length, String(long).slice(-11), next]).toEqual([3_000_001, '01234567890', 'x'.repeat(40)]);
});

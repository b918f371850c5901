import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reader } from '../../src/analysis/reader.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { CRAWLED_STATE, INDEXED_STATE, storiesWarehouse } from './answers-given.js';
import { analysisRows, openReader, rowsOf } from './given.js';

let warehouse: BuiltWarehouse;
let reader: Reader;

beforeAll(async () => {
  warehouse = await storiesWarehouse();
  reader = await openReader(warehouse.path);
});

afterAll(() => {
  reader.close();
  warehouse.remove();
});

async function told(given: Record<string, string>, ...columns: string[]) {
  const rows = await analysisRows(reader, 'coverage_by_state', { website: 'shop', ...given });
  return rows.map((row) => ['index_coverage_state', ...columns].map((column) => row[column]));
}

test('reasons first, then what is not known, then what is indexed', async () => {
  expect(await told({}, 'pages', 'share', 'pages_change', 'trend', 'sparkline')).toEqual([
    [CRAWLED_STATE, 3, 0.1875, 2, [0, 1, 4, 3], '▁▂▇▅'],
    ['Blocked by robots.txt', 1, 0.0625, 1, [0, 0, 1, 1], '▁▁▇▇'],
    ['Discovered - currently not indexed', 1, 0.0625, -1, [0, 2, 1, 1], '▁▇▃▃'],
    ['Soft 404', 1, 0.0625, 1, [0, 0, 0, 1], '▁▁▁▇'],
    ['(none)', 1, 0.0625, 0, [1, 1, 1, 1], '▇▇▇▇'],
    [INDEXED_STATE, 9, 0.5625, -3, [13, 12, 10, 9], '▇▅▂▁'],
  ]);
});

test('a change needs a listing to be counted against; the trend covers the weeks that are asked for', async () => {
  const first = await told({ since: '2025-02-28', until: '2025-03-02', weeks: '0' }, 'pages', 'pages_change', 'trend');
  expect(first).toEqual([
    ['Discovered - currently not indexed', 2, null, null],
    [CRAWLED_STATE, 1, null, null],
    ['(none)', 1, null, null],
    [INDEXED_STATE, 12, null, null],
  ]);
  expect((await told({ weeks: '1' }, 'trend'))[0]).toEqual([CRAWLED_STATE, [4, 3]]);
  expect(await told({ until: '2025-02-01' })).toEqual([]);
});

test('each website counts for itself', async () => {
  const wiki = await analysisRows(reader, 'coverage_by_state', { website: 'wiki' });
  expect(wiki.map((row) => [row['index_summary'], row['pages'], row['pages_change'], row['trend']])).toEqual([
    ['Not Indexed', 1, 1, [0, 1]],
    ['Indexed', 0, -1, [1, 0]],
  ]);
  expect(await analysisRows(reader, 'coverage_by_state')).toHaveLength(8);
});

test.each([
  ['[0, 0]', '▁▁'],
  ['[5, 5]', '▇▇'],
  ['[100, 101]', '▇▇'],
  ['[1200, 1200, 1012]', '▇▇▁'],
  ['[1, 2, 3, 4, 5]', '▁▂▃▅▇'],
  ['[]::integer[]', ''],
])('the sparkline of %s is %s', async (counts, line) => {
  expect(await rowsOf(reader, `select sparkline(${counts}) as line`)).toEqual([{ line }]);
});

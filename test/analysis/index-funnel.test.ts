import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reader } from '../../src/analysis/reader.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { storiesWarehouse } from './answers-given.js';
import { analysisRows, openReader } from './given.js';

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

const shares = { share_crawled: 0.5, share_indexed: 0.5, share_indexed_of_crawled: 1 };
// new/slow was crawled and indexed after eight days, new/gone never.
const FIRST = {
  website_id: 'shop',
  week: '2025-02-24',
  age_weeks: 2,
  discovered: 2,
  crawled: 1,
  indexed: 1,
  ...shares,
  median_days_to_crawl: 8,
  median_days_from_crawl: 0,
  median_days_to_index: 8,
  gone: 1,
};
// new/quick came crawled and indexed; new/waiting waits.
const LAST = {
  ...FIRST,
  week: '2025-03-10',
  age_weeks: 0,
  median_days_to_crawl: 0,
  median_days_from_crawl: 1,
  median_days_to_index: 0,
  gone: 0,
};

test('counts new pages by the week that they came in, and how far they are', async () => {
  expect(await analysisRows(reader, 'index_funnel')).toEqual([FIRST, LAST]);
});

test('takes dates and a website', async () => {
  expect(await analysisRows(reader, 'index_funnel', { since: '2025-03-03' })).toEqual([LAST]);
  expect(await analysisRows(reader, 'index_funnel', { until: '2025-03-03' })).toEqual([{ ...FIRST, age_weeks: 1 }]);
  expect(await analysisRows(reader, 'index_funnel', { website: 'wiki' })).toEqual([]);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reader } from '../../src/analysis/reader.js';
import type { GivenPage } from '../given/service.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { analysisRows, openReader } from './given.js';

const NEW_MAP = 'https://shop.example/new.xml';
const OLD_MAP = 'https://shop.example/old.xml';

let warehouse: BuiltWarehouse;
let reader: Reader;

/**
 * j1 to j6 join the new sitemap on the 3rd; o1 to o4 never do, and m was in it from its first report on. Of the first
 * 1, 1, 1, 4 and 2 are indexed, of the others 1, 1, 1, 2 and 2.
 */
beforeAll(async () => {
  const page = (name: string, isIndexed: boolean, sitemaps: string[]): GivenPage => ({
    url: `https://shop.example/${name}`,
    entry: { index_summary: isIndexed ? 'Indexed' : 'Not Indexed' },
    report: { sitemaps },
  });
  const night = (at: string, joined: number, others: number, maps: string[]) => ({
    at: `2025-03-${at}T02:00:00Z`,
    lists: {
      shop: [
        ...[1, 2, 3, 4, 5, 6].map((number) => page(`j${number}`, number <= joined, maps)),
        ...[1, 2, 3, 4].map((number) => page(`o${number}`, number <= others, [OLD_MAP])),
        page('m', true, [NEW_MAP]),
      ],
    },
  });
  warehouse = await buildWarehouse([
    night('01', 1, 1, []),
    night('02', 1, 1, []),
    night('03', 1, 1, [NEW_MAP]),
    night('10', 4, 2, [NEW_MAP]),
    night('12', 2, 2, [NEW_MAP, OLD_MAP]),
  ]);
  reader = await openReader(warehouse.path);
});

afterAll(() => {
  reader.close();
  warehouse.remove();
});

const EFFECT = {
  website_id: 'shop',
  sitemap: NEW_MAP,
  joined_on: '2025-03-03',
  pages: 6,
  before_date: '2025-03-02',
  after_date: '2025-03-10',
  share_before: 0.1667,
  share_after: 0.6667,
  others: 4,
  others_share_before: 0.25,
  others_share_after: 0.5,
  effect: 0.25,
  report_gap_days: 1,
};

test('those who joined, against those who never did, after some days', async () => {
  const given = { sitemap: NEW_MAP, days: '8' };
  expect(await analysisRows(reader, 'sitemap_effect', given)).toEqual([EFFECT]);
  expect(await analysisRows(reader, 'sitemap_effect', { sitemap: NEW_MAP })).toMatchObject([
    { after_date: '2025-03-12', share_after: 0.3333, effect: -0.0833 },
  ]);
  expect(await analysisRows(reader, 'sitemap_effect', { sitemap: NEW_MAP, days: '0' })).toMatchObject([
    { after_date: '2025-03-03', share_after: 0.1667, effect: 0 },
  ]);
});

test('one row for each sitemap and date, of enough pages', async () => {
  const told = async (given: Record<string, string>) =>
    (await analysisRows(reader, 'sitemap_effect', given)).map((row) => [
      row['sitemap'],
      row['joined_on'],
      row['others'],
    ]);
  // Nobody joined the old one before, but for its members, of which there are none to compare: m is the only other.
  expect(await told({})).toEqual([
    [OLD_MAP, '2025-03-12', 1],
    [NEW_MAP, '2025-03-03', 4],
  ]);
  expect(await told({ limit: '1' })).toEqual([[OLD_MAP, '2025-03-12', 1]]);
  expect(await told({ until: '2025-03-11' })).toEqual([[NEW_MAP, '2025-03-03', 4]]);
  expect(await told({ min_pages: '7' })).toEqual([]);
  expect(await told({ website: 'https://shop.example', limit: '1' })).toHaveLength(1);
  expect(await told({ website: 'blog' })).toEqual([]);
});

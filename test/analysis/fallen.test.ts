import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reader } from '../../src/analysis/reader.js';
import type { CoverageEntry } from '../../src/contract/coverage.js';
import type { GivenPage } from '../given/service.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { analysisRows, openReader } from './given.js';

const urlOf = (name: string) => `https://shop.example/${name}`;
const page = (name: string, entry: Partial<CoverageEntry>, blocked = 'No'): GivenPage => ({
  url: urlOf(name),
  entry,
  report: { blocked_by_robots_txt: blocked },
});
const IN = { index_summary: 'Indexed' };
const OUT = { index_summary: 'Not Indexed' };

let warehouse: BuiltWarehouse;
let reader: Reader;

/**
 * a/2 falls on the 2nd and is gone on the 3rd, a/3 falls and comes back. b/1 loses its data on the 3rd; b/2 appears on
 * the 2nd, and has another canonical and a new crawl on the 3rd; robots.txt blocks b/3 on the 2nd only.
 */
beforeAll(async () => {
  const canonical = {
    ...IN,
    searchengine_selected_canonical: urlOf('b/2'),
    last_crawl_time: '2025-03-01T00:00:00.000Z',
  };
  const flipped = { ...canonical, searchengine_selected_canonical: urlOf('b/1') };
  const recrawled = { ...flipped, last_crawl_time: '2025-03-02T00:00:00.000Z' };
  const [first, second, third] = [
    [page('a/1', IN), page('a/2', IN), page('a/3', IN), page('b/1', IN), page('b/3', IN)],
    [
      page('a/1', IN),
      page('a/2', OUT),
      page('a/3', OUT),
      page('b/1', IN),
      page('b/2', canonical),
      page('b/3', IN, 'Yes'),
    ],
    [page('a/1', IN), page('a/3', IN), page('b/1', {}), page('b/2', recrawled), page('b/3', IN)],
  ];
  warehouse = await buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { shop: first } },
    { at: '2025-03-02T02:00:00Z', lists: { shop: second } },
    { at: '2025-03-03T02:00:00Z', lists: { shop: third } },
  ]);
  reader = await openReader(warehouse.path);
});

afterAll(() => {
  reader.close();
  warehouse.remove();
});

describe('deindexed_by_directory', () => {
  test('counts pages that are gone since, or back, as the other analyses of fallen pages do', async () => {
    const row = { website_id: 'shop', directory: '/a/', pages: 3, deindexed: 2, share_deindexed: 0.6667 };
    expect(await analysisRows(reader, 'deindexed_by_directory')).toEqual([row]);
    const fallen = await analysisRows(reader, 'deindexed_pages', { reindexed: 'true' });
    expect(fallen.map(({ url }) => url).sort()).toEqual([urlOf('a/2'), urlOf('a/3')]);
    const inCommon = await analysisRows(reader, 'deindexed_in_common', { reindexed: 'true', min_pages: '1' });
    expect(inCommon).toContainEqual(
      expect.objectContaining({ dimension: 'directory', value: '/a/', pages: 3, deindexed: 2, share: 1 }),
    );
  });

  test('takes a website and a first date', async () => {
    expect(await analysisRows(reader, 'deindexed_by_directory', { website: 'shop' })).toHaveLength(1);
    expect(await analysisRows(reader, 'deindexed_by_directory', { website: 'blog' })).toEqual([]);
    expect(await analysisRows(reader, 'deindexed_by_directory', { since: '2025-03-03' })).toEqual([]);
  });
});

test('changes_per_night counts each kind of change, night by night', async () => {
  const nothing = {
    appeared: 0,
    disappeared: 0,
    indexed: 0,
    deindexed: 0,
    data_lost: 0,
    canonical_flips: 0,
    crawled: 0,
  };
  const on = (snapshot_date: string) => ({ website_id: 'shop', snapshot_date, ...nothing });
  const second = { ...on('2025-03-02'), appeared: 1, deindexed: 2, robots_changes: 1 };
  const changed = { disappeared: 1, indexed: 1, data_lost: 1, canonical_flips: 1, robots_changes: 1, crawled: 1 };
  const third = { ...on('2025-03-03'), ...changed };
  expect(await analysisRows(reader, 'changes_per_night')).toEqual([second, third]);
  expect(await analysisRows(reader, 'changes_per_night', { website: 'shop', since: '2025-03-03' })).toEqual([third]);
  expect(await analysisRows(reader, 'changes_per_night', { website: 'blog' })).toEqual([]);
});

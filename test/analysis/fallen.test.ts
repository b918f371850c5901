import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reader } from '../../src/analysis/reader.js';
import type { CoverageEntry } from '../../src/contract/coverage.js';
import { testAtLength } from '../given/at-length.js';
import type { GivenPage } from '../given/service.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { analysisRows, openReader, rowsOf } from './given.js';

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
    const inCommon = await analysisRows(reader, 'deindexed_in_common', {
      ...{ reindexed: 'true', min_pages: '1', max_p: '1' },
    });
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

testAtLength(
  'deindexed_in_common tells causes, not consequences, and two together where each alone is not enough',
  async () => {
    const [MAP, OTHER_MAP] = ['https://shop.example/new.xml', 'https://shop.example/main.xml'];
    const kinds = [
      { directory: 'a', map: MAP, pages: 12, falls: true },
      { directory: 'a', map: OTHER_MAP, pages: 12, falls: false },
      { directory: 'b', map: MAP, pages: 12, falls: false },
      { directory: 'b', map: OTHER_MAP, pages: 24, falls: false },
    ];
    /** Those that fell have another canonical, sitemap and page fetch since. */
    const listed = (hasFallen: boolean): GivenPage[] =>
      kinds.flatMap(({ directory, map, pages, falls }, kind) =>
        Array.from({ length: pages }, (_, number) => {
          const out = falls && hasFallen;
          const url = urlOf(`${directory}/page-${kind}-${number}`);
          const entry = out
            ? { ...OUT, index_coverage_state: 'Soft 404', searchengine_selected_canonical: urlOf('') }
            : { ...IN, index_coverage_state: 'Submitted and indexed', searchengine_selected_canonical: url };
          const report = out
            ? { sitemaps: [], page_fetch_status: 'Soft 404' }
            : { sitemaps: [map], page_fetch_status: 'Successful' };
          return { url, entry, report };
        }),
      );
    const built = await buildWarehouse([
      { at: '2025-03-01T02:00:00Z', lists: { shop: listed(false) } },
      { at: '2025-03-02T02:00:00Z', lists: { shop: listed(true) } },
    ]);
    const asked = await openReader(built.path);
    try {
      const rows = await analysisRows(asked, 'deindexed_in_common');
      expect(rows.map(({ dimension, value, pages, deindexed }) => [dimension, value, pages, deindexed])).toEqual([
        ['directory + sitemap', `/a/ + ${MAP}`, 12, 12],
        ['directory', '/a/', 24, 12],
        ['sitemap', MAP, 24, 12],
      ]);
      const became = await analysisRows(asked, 'deindexed_became');
      expect(became.map(({ dimension, value, share }) => [dimension, value, share])).toEqual(
        expect.arrayContaining([
          ['went_to', 'Soft 404', 1],
          ['fetch_status', 'Soft 404', 1],
          ['canonical', 'other page, same host', 1],
        ]),
      );
    } finally {
      asked.close();
      built.remove();
    }
  },
);

test.each([
  ['https://a.example', ''],
  ['https://a.example/', '/'],
  ['https://a.example/blog/2025/red-shoes-12.html?page=2', '/blog/{n}/{slug}.html?page'],
  ['https://a.example/products/123', '/products/{n}'],
  ['https://a.example/x/3f2504e0-4f89-11d3-9a0c-0305e82c3301/y#top', '/x/{id}/{slug}'],
  ['https://a.example/search?q=a&b=c&lang', '/{slug}?q&b&lang'],
])('the template of %s is %s', async (url, template) => {
  expect(await rowsOf(reader, 'select template_of($url) as template', { url })).toEqual([{ template }]);
});

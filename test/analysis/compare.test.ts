import { afterAll, beforeAll, expect, test } from 'vitest';
import { askAnalysis } from '../../src/analysis/ask-rows.js';
import type { Reader } from '../../src/analysis/reader.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { CRAWLED_STATE, INDEXED_STATE, storiesWarehouse } from './answers-given.js';
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

type Figures = Record<string, unknown[]>;

async function compared(given: Record<string, string>): Promise<Figures> {
  const rows = await analysisRows(reader, 'compare', { website: 'shop', ...given });
  return Object.fromEntries(
    rows.map((row) => [String(row['figure']), [row['left_pages'], row['right_pages'], row['difference']]]),
  );
}

test('two dates, figure by figure', async () => {
  const [first] = await analysisRows(reader, 'compare', { website: 'shop' });
  expect(first).toMatchObject({ figure: 'Pages', left_side: '2025-03-02', right_side: '2025-03-11' });
  expect(Object.entries(await compared({}))).toEqual([
    ['Pages', [16, 16, 0]],
    ['Indexed', [12, 9, -3]],
    ['Not indexed', [3, 6, 3]],
    ['Without inspection data', [1, 1, 0]],
    [`State: ${INDEXED_STATE}`, [12, 9, -3]],
    [`State: ${CRAWLED_STATE}`, [1, 3, 2]],
    ['State: Discovered - currently not indexed', [2, 1, -1]],
    ['State: Blocked by robots.txt', [0, 1, 1]],
    ['State: Soft 404', [0, 1, 1]],
    ['Crawled within 7 days', [12, 5, -7]],
    ['Never crawled', [3, 2, -1]],
    ['Canonical as declared', [12, 8, -4]],
    ['Canonical differs', [0, 1, 1]],
    ['With a report', [15, 15, 0]],
    ['In a sitemap', [13, 13, 0]],
    // `unblocked` was until then, `blocked` is since.
    ['Blocked by robots.txt', [1, 1, 0]],
    ['Indexing not allowed', [0, 0, 0]],
    ['Fetch failed', [1, 2, 1]],
  ]);
});

test('two directories, with the shares of their own pages', async () => {
  const rows = await analysisRows(reader, 'compare', { website: 'shop', directory: 'blog', other: '/docs/' });
  expect(rows.find(({ figure }) => figure === 'Indexed')).toEqual({
    website_id: 'shop',
    figure: 'Indexed',
    left_side: 'blog',
    right_side: '/docs/',
    left_pages: 1,
    right_pages: 4,
    difference: 3,
    left_share: 0.25,
    right_share: 0.8,
    share_difference: 0.55,
  });
  expect(await compared({ other: '/docs/' })).toMatchObject({ Pages: [16, 5, -11] });
  expect(await compared({ directory: '/docs/', since: '2025-03-01' })).toMatchObject({ Pages: [5, 5, 0] });
});

test('a side that is not known, or has no page', async () => {
  expect(await compared({ since: '2025-02-01' })).toMatchObject({ Pages: [null, 16, null], Indexed: [null, 9, null] });
  const nothing = await analysisRows(reader, 'compare', { website: 'shop', directory: '/none/' });
  expect(nothing[0]).toMatchObject({ figure: 'Pages', left_pages: 0, right_pages: 0, right_share: null });
  expect(await analysisRows(reader, 'compare', { until: '2025-02-01', since: '2025-01-01' })).toEqual([]);
});

test('dates the wrong way round are refused', async () => {
  await expect(askAnalysis(reader, 'compare', { since: '2025-03-11', until: '2025-03-01' })).rejects.toThrow(
    'compare: since (2025-03-11) lies after until (2025-03-01).',
  );
});

import { expect, it } from 'vitest';
import { withReader } from '../../../src/answers/query/reader.js';
import { analysisRows } from '../query/given.js';
import { givenWarehouse, indexed, out } from './given.js';

const manyOf = (letter: string, directories: number, pages: number) =>
  Array.from({ length: directories * pages }, (_, at) => {
    const directory = `${letter}${String(Math.floor(at / pages)).padStart(3, '0')}`;
    return `https://shop.example/${directory}/${at % pages}`;
  });

const OLD = manyOf('d', 500, 2);
/** Larger than the old ones, the last 20 of which are then not among the 500 largest any more. */
const NEW = manyOf('n', 20, 3);
const SMALL = 'https://shop.example/small/0';
const [FALLEN = '', ...STAYING] = OLD;
const sections = { reports: { max_per_run: 0 } };
const shop = givenWarehouse([
  { at: '2025-03-01T02:00:00Z', lists: { shop: [...OLD, SMALL].map((url) => indexed(url)) }, sections },
  {
    at: '2025-03-02T02:00:00Z',
    lists: { shop: [...[...STAYING, ...NEW].map((url) => indexed(url)), out(FALLEN), out(SMALL)] },
    sections,
  },
]);

it('of more than 500 directories, those that one of both listings sums up are summed up on both sides', async () => {
  const [rows, first] = await withReader({ warehouse: shop.path, memoryLimit: 256e6 }, async (reader) => [
    await analysisRows(reader, 'coverage_by_directory', { limit: 'none' }),
    await analysisRows(reader, 'coverage_by_directory', { until: '2025-03-01', limit: 'none' }),
  ]);
  const changed = rows?.filter(({ pages_change, indexed_change }) => pages_change !== 0 || indexed_change !== 0);
  expect(rows).toHaveLength(481);
  expect(changed).toMatchObject([
    // 20 new directories, 20 that were among the largest before, and the small one: 101 pages, and 41 before.
    { directory: '(other)', pages: 101, indexed: 100, not_indexed: 1, pages_change: 60, indexed_change: 59 },
    { directory: '/d000/', pages: 2, indexed: 1, pages_change: 0, indexed_change: -1 },
  ]);
  expect(rows?.reduce((sum, { pages }) => sum + Number(pages), 0)).toBe(OLD.length + NEW.length + 1);
  // A first listing names its 500 largest.
  expect(first).toHaveLength(501);
  expect(first).toContainEqual(expect.objectContaining({ directory: '/d000/', pages: 2, pages_change: null }));
});

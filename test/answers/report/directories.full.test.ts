import { expect, it } from 'vitest';
import { buildWarehouse } from '../../given/warehouse.js';
import { analysisRows, openReader } from '../query/given.js';
import { indexed, out } from './given.js';

const manyOf = (letter: string, directories: number, pages: number) =>
  Array.from({ length: directories * pages }, (_, at) => {
    const directory = `${letter}${String(Math.floor(at / pages)).padStart(3, '0')}`;
    return `https://shop.example/${directory}/${at % pages}`;
  });

it('of more than 500 directories, those that one of both listings sums up are summed up on both sides', async () => {
  const [fallen = '', ...staying] = manyOf('d', 500, 2);
  const small = 'https://shop.example/small/0';
  // Larger than the old ones, the last 20 of which are then not among the 500 largest any more.
  const now = [...[...staying, ...manyOf('n', 20, 3)].map((url) => indexed(url)), out(fallen), out(small)];
  const sections = { reports: { max_per_run: 0 } };
  const { path } = await buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { shop: [fallen, ...staying, small].map((url) => indexed(url)) }, sections },
    { at: '2025-03-02T02:00:00Z', lists: { shop: now }, sections },
  ]);
  const rows = await analysisRows(await openReader(path), 'coverage_by_directory', { limit: 'none' });
  expect(rows).toHaveLength(481);
  expect(rows.filter(({ pages_change, indexed_change }) => pages_change !== 0 || indexed_change !== 0)).toMatchObject([
    // 20 new directories, 20 that were among the largest before, and the small one: 101 pages, and 41 before.
    { directory: '(other)', pages: 101, indexed: 100, not_indexed: 1, pages_change: 60, indexed_change: 59 },
    { directory: '/d000/', pages: 2, indexed: 1, pages_change: 0, indexed_change: -1 },
  ]);
  expect(rows.reduce((sum, { pages }) => sum + Number(pages), 0)).toBe(now.length);
});

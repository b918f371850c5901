import { describe, expect, it } from 'vitest';
import { withReader } from '../../src/analysis/reader.js';
import { analysisRows } from '../analysis/given.js';
import { atLength, testAtLength } from '../given/at-length.js';
import { givenWarehouse, indexed, out, reportOf } from './given.js';
import { words } from './parsed.js';

const urlsOf = (directory: string, pages: number) =>
  Array.from({ length: pages }, (_, page) => `https://shop.example/${directory}/${page}`);
const manyOf = (letter: string, directories: number, pages: number) =>
  Array.from({ length: directories }, (_, at) => urlsOf(`${letter}${String(at).padStart(3, '0')}`, pages)).flat();

describe('of more than 500 directories', () => {
  const OLD = manyOf('d', 500, 2);
  /** Larger than the old ones, the last 20 of which are then not among the 500 largest any more. */
  const NEW = manyOf('n', 20, 3);
  const [SMALL = ''] = urlsOf('small', 1);
  const [FALLEN = '', ...STAYING] = OLD;
  const staying = [...STAYING, ...NEW].map((url) => indexed(url));
  const sections = { reports: { max_per_run: 0 } };
  const nights = [
    { at: '2025-03-01T02:00:00Z', lists: { shop: [...OLD, SMALL].map((url) => indexed(url)) }, sections },
    { at: '2025-03-02T02:00:00Z', lists: { shop: [...staying, out(FALLEN), out(SMALL)] }, sections },
    { at: '2025-03-03T02:00:00Z', lists: { shop: [...staying, out(FALLEN), indexed(SMALL)] }, sections },
  ];
  const shop = givenWarehouse(nights.slice(0, atLength(2, 3)));

  it('coverage_by_directory: those that one of both listings has only among `(other)` are there on both sides', async () => {
    const rows = await withReader({ warehouse: shop.path, memoryLimit: 256e6 }, (reader) =>
      analysisRows(reader, 'coverage_by_directory', { since: '2025-03-01', until: '2025-03-02', limit: '1000' }),
    );
    const changed = rows.filter(({ pages_change, indexed_change }) => pages_change !== 0 || indexed_change !== 0);
    expect(rows).toHaveLength(481);
    expect(changed).toMatchObject([
      // 20 new directories, 20 that were among the largest before, and the small one: 101 pages, and 41 before.
      { directory: '(other)', pages: 101, indexed: 100, not_indexed: 1, pages_change: 60, indexed_change: 59 },
      { directory: '/d000/', pages: 2, indexed: 1, pages_change: 0, indexed_change: -1 },
    ]);
    expect(rows.reduce((sum, { pages }) => sum + Number(pages), 0)).toBe(OLD.length + NEW.length + 1);
  });

  it('coverage_by_directory: the first listing, which nothing is compared with, names its 500 largest', async () => {
    const rows = await withReader({ warehouse: shop.path, memoryLimit: 256e6 }, (reader) =>
      analysisRows(reader, 'coverage_by_directory', { since: '2025-02-01', until: '2025-03-02', limit: '1000' }),
    );
    expect(rows).toHaveLength(501);
    expect(rows).toContainEqual(expect.objectContaining({ directory: '/n000/', pages: 3, pages_change: null }));
  });

  testAtLength(
    'a report names no loser that only came among `(other)`, and the pages that fell out there',
    async () => {
      const { report, page } = await reportOf(shop, { since: '2025-03-02', until: '2025-03-02' });
      const directories = report.sections[0]?.directories ?? [];
      const moved = { deindexed: 1, newly_indexed: 0 };
      expect(directories.slice(0, 2)).toEqual([
        { website_id: 'shop', directory: '(other)', pages: 101, indexed: 100, indexed_before: 41, ...moved },
        { website_id: 'shop', directory: '/d000/', pages: 2, indexed: 1, indexed_before: 2, ...moved },
      ]);
      expect(directories.slice(2).filter((row) => row.indexed !== row.indexed_before)).toEqual([]);
      expect(words(page)).toContain(
        'indexhouse query deindexed_by_directory --param website=shop --param since=2025-03-02',
      );
    },
  );

  testAtLength('a report shows what only won before what stayed as it was', async () => {
    const { report, page } = await reportOf(shop, { since: '2025-03-03', until: '2025-03-03' });
    expect(report.sections[0]?.directories[0]).toMatchObject({ directory: '(other)', deindexed: 0, newly_indexed: 1 });
    expect(words(page)).not.toContain('No directory lost or gained');
  });
});

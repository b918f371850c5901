import { beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { withReader } from '../../../src/answers/query/reader.js';
import { reportMail } from '../../../src/answers/report/mail.js';
import { reportPage } from '../../../src/answers/report/page.js';
import { once } from '../../given/at-length.js';
import { broken, givenWarehouse, indexed, out, reportOf } from './given.js';
import { parsed, words } from './parsed.js';

const HOSTILE = `"'><script>alert(1)<`;
const pagesOf = (directory: string, pages: number, fallen = 0) =>
  Array.from({ length: pages }, (_, at) => `https://shop.example/${directory}/${at}`).map((url, at) =>
    at < fallen ? out(url, 'Soft 404') : indexed(url),
  );
const listed = (blog: number, docs: number) => ({
  shop: [
    ...pagesOf('blog', 12, blog),
    ...pagesOf('docs', 8, docs),
    ...pagesOf(HOSTILE, 5),
    out('https://shop.example/'),
  ],
});

/** Two pages of the docs fall out in the week before the last one, of which one comes back; then seven of the blog. */
const shop = givenWarehouse([
  { at: '2025-01-05T02:00:00Z', lists: listed(0, 0) },
  { at: '2025-03-03T02:00:00Z', lists: listed(0, 2) },
  { at: '2025-03-10T02:00:00Z', lists: listed(0, 1) },
  { at: '2025-03-11T02:00:00Z', lists: { shop: [broken('https://shop.example/blog/1')] } },
  { at: '2025-03-12T02:00:00Z', lists: listed(7, 1), maxRejectRatio: 1 },
]);

const listedRow = z.object({ date: z.string(), directory: z.string(), pages: z.int(), indexed: z.int() });
const LISTINGS = `select snapshot_date as date, directory_of(url) as directory, count(*)::integer as pages,
  count_if(index_summary = 'Indexed')::integer as indexed from coverage_daily group by all order by all`;

let last: Awaited<ReturnType<typeof reportOf>>;
beforeAll(async () => {
  last = await reportOf(shop);
});

describe('what a report shows over time', () => {
  once('the heat map has the counts of each listing, night by night, and marks what changed much', async () => {
    const { report, page } = last;
    const { heat = [], columns = [], step, layers = [] } = report.sections[0]?.over_time ?? {};
    expect([step, columns[0], columns.length]).toEqual([1, '2025-01-05', 67]);
    const cells = heat.flatMap(({ directory, cells }) =>
      cells.flatMap((cell) => (cell ? [{ directory, ...cell }] : [])),
    );
    const listings = await withReader({ warehouse: shop.path, memoryLimit: 256e6 }, (reader) =>
      reader.rows(listedRow, LISTINGS),
    );
    const counts = cells.map(({ date, directory, pages, indexed }) => ({ date, directory, pages, indexed }));
    const order = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
    expect(counts.sort(order)).toEqual(listings.sort(order));
    expect(cells.filter(({ isMarked }) => isMarked)).toMatchObject([
      { directory: '/blog/', date: '2025-03-12', since: '2025-03-10', change: -7 },
    ]);
    // What lost most comes first; nights without a complete listing are empty.
    expect(heat.map(({ directory }) => directory)).toEqual(['/blog/', '/docs/', `/${HOSTILE}/`, '/']);
    expect(heat[0]?.cells.at(-2)).toBeNull();
    expect(layers.map(({ name, pages }) => [name, pages.at(-2), pages.at(-1)])).toEqual([
      ['Soft 404', null, 8],
      ['Crawled - currently not indexed', null, 1],
      ['Submitted and indexed', null, 17],
    ]);
    const titles = parsed(page).attributes.filter(({ name }) => name === 'title');
    expect(titles.map(({ value }) => value.replaceAll('\u00a0', ' '))).toContain(
      'Mar 12: 5 of 12 pages indexed (41.7%), −7 since Mar 10',
    );
    expect(words(page)).toContain(`/${HOSTILE}/`);
    expect(reportPage(report)).toBe(page);
  });

  once('a long period is drawn week by week, and its columns end with its last date', async () => {
    const { report } = await reportOf(shop, { since: '2024-12-01' });
    const { columns, step, heat } = report.sections[0]?.over_time ?? {};
    expect([step, columns?.[0], columns?.at(-1)]).toEqual([7, '2025-01-08', '2025-03-12']);
    expect(heat?.[0]?.cells.flatMap((cell) => cell?.date ?? [])).toEqual(['2025-01-05', '2025-03-03', '2025-03-12']);
  });

  once('the first page summarizes all, says what is new, and is the whole of a brief report', async () => {
    const { report, page } = last;
    const [whole, brief] = [words(page), words(reportPage(report, true))];
    for (const shown of [whole, brief, words(reportMail(report))]) {
      expect(shown).toContain('New since the 7 days before: losses in /blog/, to “Soft 404”.');
      expect(shown).toContain('Of the 2 pages that fell out in the 7 days before, 1 is indexed again.');
      expect(shown).toContain('What to look at first');
    }
    expect(whole.slice(0, whole.indexOf(' Appendix')).trim()).toBe(brief.trim());
    expect(brief).not.toContain('Data quality');
  });
});

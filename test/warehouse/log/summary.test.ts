import { expect, test } from 'vitest';
import { givenNights } from '../../given/nights.js';
import { readTable } from '../../given/parquet.js';

const sections = { reports: { max_per_run: 0 } };
const INDEXED = { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed', canonicals_match: true };
const CRAWLED = { last_crawl_time: '2025-02-20T00:00:00.000Z', days_since_last_crawl: 9 };
const BLOG = [
  ['/blog/', 'Indexed', true, 2],
  ['/blog/', 'Not Indexed', null, 1],
];

test('the summary of a snapshot counts its listing by directory and state', async () => {
  const given = await givenNights();
  const blog = { 'blog/a': { ...INDEXED, ...CRAWLED }, 'blog/b': { ...INDEXED, ...CRAWLED, days_since_last_crawl: 3 } };
  const list = { ...blog, 'blog/c/d': { index_summary: 'Not Indexed' }, a: {}, 'b?c=/d/': INDEXED };
  await given.night({ list, sections });
  // The page in quarantine keeps its state.
  await given.night({ list: { ...blog, 'blog/c/d': { index_summary: 7 } }, sections });
  const shown = ['directory', 'index_summary', 'canonicals_match', 'pages'];
  const rows = (await readTable(given.warehouse, 'coverage_summary')).map((row) =>
    shown.map((name) => (typeof row[name] === 'bigint' ? Number(row[name]) : row[name])),
  );
  expect(rows).toEqual([['/', 'Indexed', true, 1], ['/', null, null, 1], ...BLOG, ...BLOG]);
});

import { describe, expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../../src/base/storage/engine.js';
import { sql } from '../../../src/base/storage/sql.js';
import { createTables } from '../../../src/warehouse/log/folder/tables.js';
import { once } from '../../given/at-length.js';
import { temporaryFolder } from '../../given/folder.js';
import { givenNights, type Nights } from '../../given/nights.js';
import { readTable } from '../../given/parquet.js';

const MEMORY = 256e6;
const LISTING_ONLY = { reports: { max_per_run: 0 } };
const INDEXED = { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed', canonicals_match: true };
const CRAWLED = { last_crawl_time: '2025-02-20T00:00:00.000Z', days_since_last_crawl: 9 };
/** Refused. */
const BROKEN = { index_summary: 7 };

/** Two nights: pages with and without a directory, one that was never inspected, and one in quarantine. */
async function twoNights(): Promise<Nights> {
  const given = await givenNights(onTestFinished);
  const blog = { 'blog/a': { ...INDEXED, ...CRAWLED }, 'blog/b': { ...INDEXED, ...CRAWLED, days_since_last_crawl: 3 } };
  const list = { ...blog, 'blog/c/d': { index_summary: 'Not Indexed' }, a: {}, 'b?c=/d/': INDEXED };
  await given.night({ list, sections: LISTING_ONLY });
  await given.night({ list: { ...blog, 'blog/c/d': BROKEN }, sections: LISTING_ONLY });
  return given;
}

async function summaryRows(warehouse: string) {
  const rows = await readTable(warehouse, 'coverage_summary');
  const shown = ['directory', 'index_summary', 'canonicals_match', 'pages'];
  return rows.map((row) => shown.map((name) => (typeof row[name] === 'bigint' ? Number(row[name]) : row[name])));
}

const BLOG = [
  ['/blog/', 'Indexed', true, 2],
  ['/blog/', 'Not Indexed', null, 1],
];
/** In the second night, the page in quarantine keeps its state. */
const LISTED = [['/', 'Indexed', true, 1], ['/', null, null, 1], ...BLOG, ...BLOG];

describe('the summary of a snapshot', () => {
  once('counts its listing by directory and state', async () => {
    const { warehouse } = await twoNights();
    expect(await summaryRows(warehouse)).toEqual(LISTED);
  });
});

once('what is beyond the 500 largest directories is put together', async () => {
  const rows = await withEngine({ memoryLimit: MEMORY, temporary: temporaryFolder() }, async (engine) => {
    await createTables(engine);
    await engine.run(sql('warehouse/macros/001_directory_of'));
    await engine.run(
      `insert into coverage by name
       select 'c' as snapshot_id, 'w' as website_id, now() as snapshot_at, current_date as snapshot_date,
         now() as listed_at, format('https://w.example/{}/{}', range % 700, range) as url,
         false as canonicals_match_present
       from range(1500)`,
    );
    for (const table of ['coverage', 'rejected_records'])
      await engine.run(`create view ranged_${table} as from ${table}`);
    await engine.run('create view ranged_state as from page_state');
    const summary = `select directory, pages from (${sql('warehouse/stage/coverage_summary')}) order by pages desc, directory`;
    return engine.rows(z.object({ directory: z.string(), pages: z.int() }), summary);
  });
  expect(rows).toHaveLength(501);
  // 1500 pages: three in each of the first 100 directories, two in each of the others.
  expect(rows[0]).toEqual({ directory: '(other)', pages: 400 });
  expect(rows[1]).toEqual({ directory: '/0/', pages: 3 });
  expect(rows.reduce((sum, { pages }) => sum + pages, 0)).toBe(1500);
});

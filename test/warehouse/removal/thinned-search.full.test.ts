import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { withReader } from '../../../src/answers/query/reader.js';
import { DamageError } from '../../../src/warehouse/log/folder/damage.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { analysisRows, openReader } from '../../answers/query/given.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { commitInspected } from '../../given/inspected.js';
import { maintainAt } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';

const NIGHTS = [0, 1, 2, 3];
/** On this night Google refused search analytics, so that nobody fetched again what the night before saw. */
const REFUSED = 2;
const NOW = Date.parse('2025-03-05T12:00:00Z');
const HOUR_MS = 3_600_000;
const QUESTIONS = {
  days: 'select * from search_days order by all',
  dates: 'select * from search_dates order by all',
  found: `select rich_results.* from rich_results
    join page_state using (website_id, url) where snapshot_id = report_snapshot_id order by all`,
  linked: `select referring_urls.* from referring_urls
    join page_state using (website_id, url) where snapshot_id = report_snapshot_id order by all`,
};

async function answers(warehouse: string) {
  return withReader({ warehouse, memoryLimit: 256e6 }, async (reader) => {
    const rows = (query: string) => reader.rows(z.record(z.string(), z.unknown()), query);
    const datesOf = async (table: string) => {
      const found = await rows(`select distinct snapshot_date::varchar as date from ${table} order by all`);
      return found.map(({ date }) => Number(String(date).slice(-2)));
    };
    const known: Record<string, unknown> = {};
    for (const [name, query] of Object.entries(QUESTIONS)) known[name] = await rows(query);
    const tables = ['search_final', 'search_fresh', 'rich_results', 'referring_urls'];
    return { known, dates: await Promise.all(tables.map(datesOf)) };
  });
}

let built: string;
beforeAll(async () => {
  built = join(temporaryFolder(), 'warehouse');
  const found = {
    richResultsResult: { verdict: 'PASS', detectedItems: [{ richResultType: 'Products', items: [{ name: 'x' }] }] },
    referringUrls: ['https://w.example/from'],
  };
  const nights = NIGHTS.map((night) => {
    const inspected = night === 0 ? ['/a', '/b'] : ['/b'];
    // The newest inspection of a page to which nothing links keeps the reports of a night, but not its referring URLs.
    const all = night === 1 ? [...inspected, '/c'] : inspected;
    return {
      lists: ['/a', '/b', '/c'],
      inspects: Object.fromEntries(all.map((path) => [path, 'Submitted and indexed'])),
      extra: Object.fromEntries(inspected.map((path) => [path, found])),
      ...(night === REFUSED ? {} : { clicks: { '/a': night + 1 } }),
    };
  });
  await commitInspected(built, nights);
});

test('preliminary days and what older inspections found are thinned; what is known now stays as it was', async () => {
  const warehouse = copyOf(built);
  const before = await answers(warehouse);
  for (const now of [NOW, NOW + HOUR_MS]) {
    const { parquet } = await maintainAt(warehouse, { retention: '1d', now });
    expect(parquet.find(({ table }) => table === 'search_fresh')?.kept).toMatchObject([
      { reason: 'recent', files: 1 },
      { reason: 'newest_days', files: 1 },
    ]);
  }
  const after = await answers(warehouse);
  expect(after.known).toEqual(before.known);
  expect(after.dates).toEqual([before.dates[0], [2, 4], [1, 2, 4], [1, 4]]);
  const reader = await openReader(warehouse);
  expect(await analysisRows(reader, 'referring_url_changes', { since: '2025-03-01' })).toEqual([]);
  expect(await findingsOf(warehouse)).toEqual([]);
});

test('a damaged file of search analytics is named, and nothing is removed', async () => {
  const warehouse = copyOf(built);
  const [file = ''] = (await listTableFiles(warehouse, 'search_fetches')).sort();
  truncateSync(file, 20);
  const failed = await maintainAt(warehouse, { retention: '1d', now: NOW }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(DamageError);
  expect(failed).toMatchObject({ damaged: [{ path: file, table: 'search_fetches' }] });
  expect(await listTableFiles(warehouse, 'tombstones')).toEqual([]);
});

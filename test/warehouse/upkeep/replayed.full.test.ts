import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { withReader } from '../../../src/answers/query/reader.js';
import { rebuildDuckdb } from '../../../src/warehouse/copies/rebuild.js';
import { givenNights } from '../../given/nights.js';
import { mendPayloads } from '../../given/quarantine.js';
import { replayNow } from '../../given/replayed.js';
import { maintainAt } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { configFor } from '../../given/warehouse.js';

const REPORTS = { a: { page_fetch_status: 'Successful' } };

test('a newest report that was replayed keeps its own file and not that of its snapshot', async () => {
  const { warehouse, night } = await bound();
  await night({ list: { a: {}, b: {} }, reports: { ...REPORTS, b: { page_fetch_status: 7 } } });
  await night({ list: { a: { index_summary: 'Indexed' }, b: {} }, reports: { ...REPORTS, b: 500 } });
  await mendPayloads(warehouse, { '"page_fetch_status":7': '"page_fetch_status":"Soft 404"' });
  await rebuildDuckdb({ warehouse, memoryLimit: 256e6 });
  await replayNow(configFor({ baseUrl: 'http://127.0.0.1:1', warehouse }));

  const retention = { parquet_keep_daily: '1d' };
  const now = Date.parse('2025-05-01T00:00:00Z');
  const { parquet } = await maintainAt(warehouse, { retention, now });
  await maintainAt(warehouse, { retention, now: now + 2 * 3_600_000 });
  expect(parquet.map(({ table, files, kept }) => [table, files, kept.map(({ reason }) => reason)])).toEqual([
    ['coverage', 1, ['newest_listing']],
    ['url_reports', 1, ['last_of_period', 'replayed']],
  ]);
  expect(await findingsOf(warehouse)).toEqual([]);
  await withReader({ warehouse, memoryLimit: 256e6 }, async (reader) => {
    const row = z.object({ url: z.string(), page_fetch_status: z.string(), replayed: z.boolean().nullable() });
    const asked = `select url, page_fetch_status, quarantine.replayed
      from url_reports left join quarantine using (url) order by url`;
    expect(await reader.rows(row, asked)).toEqual([
      { url: 'https://w.example/a', page_fetch_status: 'Successful', replayed: null },
      { url: 'https://w.example/b', page_fetch_status: 'Soft 404', replayed: true },
    ]);
  });
});

async function bound() {
  const nights = await givenNights(onTestFinished);
  return { warehouse: nights.warehouse, night: nights.night.bind(nights) };
}

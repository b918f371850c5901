import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { askRows } from '../../src/answers/query/ask-rows.js';
import { listTableFiles } from '../../src/warehouse/log/folder/layout.js';
import { rewrite } from '../given/tamper.js';
import { buildWarehouse } from '../given/warehouse.js';
import { analysisRows, openReader, rowsOf } from './query/given.js';

/** Of a day on which the clock ran back between two listings, of two pages and of three. */
async function givenClockRanBack() {
  const lists = (...names: string[]) => ({ w: names.map((name) => ({ url: `https://w.example/${name}` })) });
  const { path } = await buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: lists('a') },
    { at: '2025-03-02T02:00:00Z', lists: lists('a', 'b') },
    { at: '2025-03-02T10:00:00Z', lists: lists('a', 'b', 'c') },
  ]);
  const markers = await listTableFiles(path, 'snapshots');
  const newest = markers.at(-1) ?? '';
  await rewrite(newest, "select * replace (snapshot_at - interval '9 hours' as snapshot_at) from self");
  return { path, ids: markers.map((file) => basename(file, '.parquet')) };
}

test('every answer is about the newest commit, even if the clock ran back', async () => {
  const { path, ids } = await givenClockRanBack();
  const reader = await openReader(path);
  const period = { since: '2025-03-02', until: '2025-03-02' };
  const [, second, third] = ids;
  const daily = 'select snapshot_id, before_id, snapshot_ids from daily_listings order by snapshot_id desc limit 1';
  expect(await rowsOf(reader, daily)).toEqual([
    { snapshot_id: third, before_id: ids[0], snapshot_ids: [second, third] },
  ]);
  const pages = {
    coverage_daily: await rowsOf(reader, "from coverage_daily where snapshot_date = '2025-03-02'"),
    pages: await rowsOf(reader, 'from pages where listing_age_days = 0'),
  };
  expect(Object.values(pages).map((rows) => rows.length)).toEqual([3, 3]);
  const compared = await analysisRows(reader, 'compare', { website: 'w', since: '2025-03-01', until: '2025-03-02' });
  expect(compared.find(({ figure }) => figure === 'Pages')).toMatchObject({ left_pages: 1, right_pages: 3 });
  const given = { website: 'w', from: period.since, until: period.until };
  const reported = await askRows(reader, 'answers/report/snapshots', z.object({ snapshot_id: z.string() }), given);
  expect(reported.map(({ snapshot_id }) => snapshot_id)).toEqual([second, third]);
});

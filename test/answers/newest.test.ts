import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { listTableFiles } from '../../src/warehouse/log/folder/layout.js';
import { rewrite } from '../given/tamper.js';
import { buildWarehouse } from '../given/warehouse.js';
import { analysisRows, openReader, rowsOf } from './query/given.js';

test('every answer is about the newest commit, even if the clock ran back between two listings of a day', async () => {
  const lists = (...names: string[]) => ({ w: names.map((name) => ({ url: `https://w.example/${name}` })) });
  const { path } = await buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: lists('a') },
    { at: '2025-03-02T02:00:00Z', lists: lists('a', 'b') },
    { at: '2025-03-02T10:00:00Z', lists: lists('a', 'b', 'c') },
  ]);
  const markers = await listTableFiles(path, 'snapshots');
  await rewrite(markers.at(-1) ?? '', "select * replace (snapshot_at - interval '9 hours' as snapshot_at) from self");
  const [first, second, third] = markers.map((file) => basename(file, '.parquet'));
  const reader = await openReader(path);
  const daily = 'select snapshot_id, before_id, snapshot_ids from daily_listings order by snapshot_id desc limit 1';
  expect(await rowsOf(reader, daily)).toEqual([
    { snapshot_id: third, before_id: first, snapshot_ids: [second, third] },
  ]);
  expect(await rowsOf(reader, "from coverage_daily where snapshot_date = '2025-03-02'")).toHaveLength(3);
  expect(await rowsOf(reader, 'from pages where listing_age_days = 0')).toHaveLength(3);
  const compared = await analysisRows(reader, 'compare', { website: 'w', since: '2025-03-01', until: '2025-03-02' });
  expect(compared.find(({ figure }) => figure === 'Pages')).toMatchObject({ left_pages: 1, right_pages: 3 });
});

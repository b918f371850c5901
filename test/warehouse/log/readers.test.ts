import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withEngine } from '../../../src/base/storage/engine.js';
import { filesOfTable } from '../../given/every-table.js';
import { temporaryFolder } from '../../given/folder.js';
import { givenNights } from '../../given/nights.js';
import { readParquet } from '../../given/parquet.js';

test('files from before a column was added are read beside newer ones, null where they lack it', async () => {
  const nights = await givenNights(undefined, 'followed');
  await nights.night({ list: { a: {} } });
  const { warehouse } = nights;
  const [newer = ''] = await filesOfTable(warehouse, 'runs');
  const folder = temporaryFolder();
  const older = join(folder, 'older.parquet');
  await withEngine({ memoryLimit: 256e6, temporary: folder }, (engine) =>
    engine.copy(`select * exclude (requests_retried) from read_parquet('${newer}')`, older, 'format parquet'),
  );
  expect(await readParquet(older)).toMatchObject([{ outcome: 'committed', requests_sent: expect.any(Number) }]);
  const place = join(warehouse, 'parquet', 'runs', 'website=w', 'date=2024-01-01');
  mkdirSync(place, { recursive: true });
  copyFileSync(older, join(place, 'older.parquet'));
  const views = { file: join(warehouse, 'analytics.duckdb'), readOnly: true, memoryLimit: 256e6, temporary: folder };
  const counted = 'select count(*)::integer as runs, count(requests_retried)::integer as known from runs';
  const rows = await withEngine(views, async (engine) => (await engine.raw.runAndReadAll(counted)).getRowObjects());
  expect(rows).toEqual([{ runs: 2, known: 1 }]);
});

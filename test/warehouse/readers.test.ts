import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { rebuildDuckdb } from '../../src/followers/rebuild.js';
import { withEngine } from '../../src/storage/engine.js';
import { openReader, rowsOf } from '../analysis/given.js';
import { testAtLength } from '../given/at-length.js';
import { filesOfTable } from '../given/every-table.js';
import { temporaryFolder } from '../given/folder.js';
import { givenNights } from '../given/nights.js';
import { readParquet } from '../given/parquet.js';
import { byDuckdb, byHyparquet, canonical, documentedColumns, jsonTypesIn } from '../given/readers.js';
import { writeJsonType } from '../given/tamper.js';
import { findingsOf } from '../given/verified.js';

testAtLength(
  'files with the JSON type, as older versions wrote them, and files with text are one type side by side',
  async () => {
    const nights = await givenNights(onTestFinished, 'followed');
    const { warehouse } = nights;
    await nights.night({ list: { a: { colour: 'red' }, b: { index_summary: 7 } } });
    await writeJsonType(warehouse);
    await nights.night({ list: { a: { colour: 'blue' }, b: { index_summary: 8 } } });
    const files = await filesOfTable(warehouse, 'coverage');
    expect(files.map(jsonTypesIn)).toEqual([['extra'], []]);

    const [extra = { name: '', type: '' }] = (await documentedColumns()).get('coverage')?.slice(-1) ?? [];
    expect(canonical(await byHyparquet(files), [extra])).toEqual(canonical(await byDuckdb(files), [extra]));
    const asked = `select typeof(extra) as extra, extra->>'colour' as colour, typeof(issues) as issues,
    issues->>'$[0].path' as path, (select string_agg(distinct typeof(files)) from snapshots) as files
    from coverage join rejected_records using (snapshot_id) order by snapshot_id`;
    const json = { extra: 'JSON', issues: 'JSON', files: 'JSON', path: 'index_summary' };
    const told = [
      { ...json, colour: 'red' },
      { ...json, colour: 'blue' },
    ];
    const reader = await openReader(warehouse);
    expect(await rowsOf(reader, asked)).toEqual(told);
    reader.close();
    await rebuildDuckdb({ warehouse, memoryLimit: 256e6 });
    expect(await findingsOf(warehouse)).toEqual([]);
    for (const name of ['indexhouse.duckdb', 'analytics.duckdb']) {
      const views = { file: join(warehouse, name), readOnly: true, memoryLimit: 256e6, temporary: temporaryFolder() };
      expect(await withEngine(views, (engine) => engine.rows(z.unknown(), asked))).toEqual(told);
    }
  },
);

test('files from before a column was added are read beside newer ones, null where they lack it', async () => {
  const nights = await givenNights(onTestFinished, 'followed');
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

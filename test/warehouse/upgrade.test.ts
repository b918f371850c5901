import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { readStatus } from '../../src/analysis/status.js';
import { writeAnalytics } from '../../src/followers/analytics.js';
import { followDuckdb } from '../../src/followers/duckdb.js';
import { withEngine } from '../../src/storage/engine.js';
import { schemaFile } from '../../src/warehouse/layout.js';
import { prepareWarehouse } from '../../src/warehouse/prepare.js';
import { temporaryFolder } from '../given/folder.js';
import { givenNights } from '../given/nights.js';
import { countsIn } from '../given/quarantine.js';

const MEMORY = 256e6;

/** A warehouse as a version left it that knew neither replays nor the last column of `coverage`. */
async function ofAnOlderVersion(): Promise<string> {
  const { warehouse, night } = await bound('followed');
  await night({ list: { a: { index_summary: 'Indexed' } } });
  const coverage = schemaFile(warehouse, 'coverage');
  await inEngine(undefined, async (run) => {
    await run(`create table old as select * exclude (extra) from read_parquet('${coverage}')`);
    await run(`copy old to '${coverage}' (format parquet)`);
  });
  rmSync(schemaFile(warehouse, 'replays'));
  rmSync(join(warehouse, 'schema', 'columns.json'));
  await inEngine(join(warehouse, 'indexhouse.duckdb'), async (run) => {
    await run('drop view quarantine');
    await run('drop table replays');
    await run("delete from schema_migrations where name = 'tables/010_replays' or name like 'views %'");
  });
  return warehouse;
}

async function bound(followed: 'followed' | null) {
  const nights = await givenNights(onTestFinished, followed);
  return { warehouse: nights.warehouse, night: nights.night.bind(nights) };
}

async function inEngine(file: string | undefined, use: (run: (sql: string) => Promise<unknown>) => Promise<void>) {
  const options = { memoryLimit: MEMORY, temporary: temporaryFolder(), ...(file ? { file } : {}) };
  await withEngine(options, (engine) => use((sql) => engine.run(sql)));
}

function statusOf(warehouse: string) {
  const rest = { resumeWithin: 1, maxRejectRatio: 1, maxAge: Number.POSITIVE_INFINITY, websites: [], now: Date.now() };
  return readStatus({ warehouse, memoryLimit: MEMORY, ...rest });
}

test('a warehouse of an older version is read as it is, and gets what it lacks', async () => {
  const warehouse = await ofAnOlderVersion();
  expect((await statusOf(warehouse)).followers).toMatchObject([{ behind: 0, error: null }, { behind: 0 }]);

  await prepareWarehouse(warehouse, 'UTC', MEMORY);
  await inEngine(undefined, async (run) => {
    await run(`select extra from read_parquet('${schemaFile(warehouse, 'coverage')}')`);
    await run(`select replay_id from read_parquet('${schemaFile(warehouse, 'replays')}')`);
  });
  expect(await followDuckdb({ warehouse, memoryLimit: MEMORY, lockTimeout: 0 })).toMatchObject({ behind: 0 });
  await writeAnalytics(warehouse, MEMORY);
  for (const file of ['indexhouse.duckdb', 'analytics.duckdb']) {
    expect(await countsIn(join(warehouse, file), ['coverage', 'replays', 'quarantine'])).toEqual({
      coverage: 1,
      replays: 0,
      quarantine: 0,
    });
  }
});

test('status shows what the newest snapshot had for the first time, and what waits in quarantine', async () => {
  const { warehouse, night } = await bound(null);
  await night({ list: { a: { index_summary: 'Indexed', colour: 1 }, b: {} } });
  await night({ list: { a: { index_summary: 'Indexed', colour: 2, size: 3 }, b: { index_summary: 4 } } });
  const { new_drift, quarantine } = await statusOf(warehouse);
  const drift = new_drift.filter(({ kind }) => kind === 'unknown_field');
  expect(drift).toMatchObject([{ website_id: 'w', source: 'coverage', field: 'size', value: null, occurrences: 1 }]);
  expect(quarantine).toEqual([{ website_id: 'w', records: 1, replayed: 0, waiting: 1 }]);
  expect(z.array(z.object({ sample: z.string() })).parse(drift)[0]?.sample).toContain('/a');
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { withReader } from '../../src/answers/query/reader.js';
import { type Engine, withEngine } from '../../src/base/storage/engine.js';
import { writeAnalytics } from '../../src/warehouse/copies/analytics.js';
import { followDuckdb } from '../../src/warehouse/copies/duckdb.js';
import { warehouseFolder } from '../../src/warehouse/log/folder/layout.js';
import { prepareWarehouse } from '../../src/warehouse/log/folder/prepare.js';
import { temporaryFolder } from '../given/folder.js';

const MEMORY = 256e6;
/** Around midnight in New York and in UTC, and around a change to summer time. */
const MOMENTS = ['2026-11-18T02:00:00Z', '2026-11-18T14:59:59Z', '2026-11-18T15:00:00Z', '2026-03-08T04:30:00Z'];
const DAYS = ['2026-11-17', '2026-11-18', '2026-11-18', '2026-03-07'];

test('dates are those of the warehouse, whatever the session is set to', async () => {
  const warehouse = join(temporaryFolder(), 'warehouse');
  await prepareWarehouse(warehouse, 'America/New_York');
  await followDuckdb({ warehouse, memoryLimit: MEMORY, lockTimeout: 0 });
  await writeAnalytics(warehouse, MEMORY);
  const ours = await withReader({ warehouse, memoryLimit: MEMORY }, async (reader) => {
    await reader.provideAll();
    return daysIn(reader.engine);
  });
  expect(ours).toEqual(DAYS);

  const { database, analytics } = warehouseFolder(warehouse);
  for (const file of [database, analytics]) {
    const options = { file, readOnly: true, memoryLimit: MEMORY, temporary: temporaryFolder() };
    const found = await withEngine(options, async (engine) => {
      await engine.run("set TimeZone = 'Pacific/Auckland'");
      return daysIn(engine);
    });
    expect(found).toEqual(DAYS);
  }
});

async function daysIn(engine: Engine): Promise<string[]> {
  const row = z.object({ day: z.string(), spelled: z.string() });
  const query = 'select day_of(unnest($moments::varchar[])::timestamptz) as day, spelled_date(day) as spelled';
  const rows = await engine.rows(row, query, { moments: MOMENTS });
  for (const { day, spelled } of rows) expect(new Date(`${spelled} UTC`).toISOString().slice(0, 10)).toBe(day);
  return rows.map(({ day }) => day);
}

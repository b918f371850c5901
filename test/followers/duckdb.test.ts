import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { exitCodeOf } from '../../src/run/receipt.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import { temporaryFolder } from '../given/folder.js';
import { holdOpen } from '../given/holder.js';
import { Home } from '../given/home.js';
import { readTable } from '../given/parquet.js';
import { countsIn } from '../given/quarantine.js';

const TABLES = ['snapshots', 'runs', 'coverage', 'url_reports', 'page_changes'] as const;

test('indexhouse.duckdb lags while a reader has it open, never stops a sync, and then catches up', async () => {
  const simulator = await startSimulator({ seed: 5, websites: [{ id: 'w', pages: 20 }], nights: 1 });
  onTestFinished(() => simulator.close());
  const home = new Home(temporaryFolder(), simulator, ['w'], { warehouse: { lock_timeout: '0s' } });
  const file = join(home.warehouse, 'indexhouse.duckdb');
  expect(exitCodeOf(await home.sync(), 0)).toBe(0);

  const reader = await holdOpen(file, 'READ_ONLY');
  simulator.advance(1);
  const lagging = await home.sync();
  expect(exitCodeOf(lagging, 0)).toBe(3);
  expect(lagging.websites.map(({ status }) => status)).toEqual(['committed']);
  expect(lagging.followers).toMatchObject([
    { name: 'duckdb', behind: 1, reason: expect.stringContaining(String(reader.pid)) },
    { name: 'analytics', behind: 0 },
  ]);
  await reader.release();
  simulator.advance(1);
  const caughtUp = await home.sync();
  expect(exitCodeOf(caughtUp, 0)).toBe(0);
  expect(caughtUp.followers).toMatchObject([{ behind: 0 }, { behind: 0 }]);
  const counts: Record<string, number> = {};
  for (const table of TABLES) counts[table] = (await readTable(home.warehouse, table)).length;
  expect(await countsIn(file, [...TABLES])).toEqual(counts);
  expect(counts['snapshots']).toBe(3);
});

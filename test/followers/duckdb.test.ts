import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { exitCodeOf } from '../../src/run/receipt.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { withEngine } from '../../src/storage/engine.js';
import { temporaryFolder } from '../given/folder.js';
import { holdOpen } from '../given/holder.js';
import { Home } from '../given/home.js';
import { readTable } from '../given/parquet.js';

describe('indexhouse.duckdb', () => {
  test('lags while a reader holds it, never stops a sync, and catches up with the next one', async () => {
    await withSimulator(async (simulator) => {
      const home = new Home(temporaryFolder(), simulator, ['w'], { warehouse: { lock_timeout: '0s' } });
      expect(exitCodeOf(await home.sync(), 0)).toBe(0);

      const reader = await holdOpen(databaseOf(home), 'READ_ONLY');
      simulator.advance(1);
      const lagging = await home.sync();
      expect(exitCodeOf(lagging, 0)).toBe(3);
      expect(lagging.websites.map(({ status }) => status)).toEqual(['committed']);
      expect(lagging.followers).toMatchObject([
        { name: 'duckdb', behind: 1 },
        { name: 'analytics', behind: 0 },
      ]);
      expect(lagging.followers[0]?.reason).toContain(String(reader.pid));
      expect(await readTable(home.warehouse, 'snapshots')).toHaveLength(2);

      await reader.release();
      simulator.advance(1);
      const caughtUp = await home.sync();
      expect(exitCodeOf(caughtUp, 0)).toBe(0);
      expect(caughtUp.followers).toEqual([
        { name: 'duckdb', behind: 0 },
        { name: 'analytics', behind: 0 },
      ]);
      await expectEqualToParquet(home);
    });
  });
});

function databaseOf(home: Home): string {
  return join(home.warehouse, 'indexhouse.duckdb');
}

async function withSimulator(use: (simulator: Simulator) => Promise<void>): Promise<void> {
  const simulator = await startSimulator({ seed: 5, websites: [{ id: 'w', pages: 20 }], nights: 1 });
  try {
    await use(simulator);
  } finally {
    await simulator.close();
  }
}

/** Every table holds what the Parquet files hold, counted by a reader that wrote neither. */
async function expectEqualToParquet(home: Home): Promise<void> {
  const { warehouse, folder } = home;
  const options = { file: databaseOf(home), readOnly: true, memoryLimit: 256e6, temporary: folder };
  await withEngine(options, async (engine) => {
    for (const table of ['snapshots', 'runs', 'coverage', 'url_reports', 'page_changes'] as const) {
      const parquet = await readTable(warehouse, table);
      const [row] = await engine.rows(z.object({ rows: z.coerce.number() }), `select count(*) as rows from ${table}`);
      expect([table, row?.rows]).toEqual([table, parquet.length]);
    }
    const [state] = await engine.rows(
      z.object({ differences: z.coerce.number() }),
      `select count(*) as differences from page_state full join
         (select * from coverage where snapshot_id = (select max(snapshot_id) from snapshots)) as newest using (url)
       where page_state.disappeared_at is null and page_state.absences = 0
         and page_state.index_summary is distinct from newest.index_summary`,
    );
    expect(state?.differences).toBe(0);
  });
}

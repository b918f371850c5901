import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { withEngine } from '../../src/storage/engine.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { holdOpen } from '../given/holder.js';
import { readTable } from '../given/parquet.js';

const receiptSchema = z.object({
  websites: z.array(z.object({ status: z.string() })),
  followers: z.array(z.object({ name: z.string(), behind: z.int(), reason: z.string().optional() })),
});

describe('indexhouse.duckdb', () => {
  test('lags while a reader holds it, never stops a sync, and catches up with the next one', async () => {
    await withSimulator(async (simulator) => {
      const folder = temporaryFolder();
      const config = writeConfig(folder, { baseUrl: simulator.url, sections: { warehouse: { lock_timeout: '0s' } } });
      const database = join(folder, 'warehouse', 'indexhouse.duckdb');
      const sync = async () => run(['sync', '--json', '--config', config]);
      expect((await sync()).code).toBe(0);

      const reader = await holdOpen(database, 'READ_ONLY');
      simulator.advance(1);
      const lagging = await sync();
      const receipt = receiptSchema.parse(JSON.parse(lagging.stdout));
      expect(lagging.code).toBe(3);
      expect(receipt.websites.map(({ status }) => status)).toEqual(['committed']);
      expect(receipt.followers).toMatchObject([
        { name: 'duckdb', behind: 1 },
        { name: 'analytics', behind: 0 },
      ]);
      expect(receipt.followers[0]?.reason).toContain(String(reader.pid));
      expect(await readTable(join(folder, 'warehouse'), 'snapshots')).toHaveLength(2);

      await reader.release();
      simulator.advance(1);
      const caughtUp = await sync();
      expect(caughtUp).toMatchObject({ code: 0 });
      expect(receiptSchema.parse(JSON.parse(caughtUp.stdout)).followers).toEqual([
        { name: 'duckdb', behind: 0 },
        { name: 'analytics', behind: 0 },
      ]);
      await expectEqualToParquet(folder);
    });
  });

  test('is made anew, equal to the Parquet files, after somebody deleted or broke it', async () => {
    await withSimulator(async (simulator) => {
      const folder = temporaryFolder();
      const config = writeConfig(folder, { baseUrl: simulator.url });
      await run(['sync', '--config', config]);
      const { rmSync, writeFileSync } = await import('node:fs');
      const database = join(folder, 'warehouse', 'indexhouse.duckdb');
      writeFileSync(database, 'this is no database');
      const broken = await run(['sync', '--json', '--config', config]);
      expect(broken.code).toBe(3);
      expect(receiptSchema.parse(JSON.parse(broken.stdout)).followers[0]?.reason).toContain('delete it');

      rmSync(database);
      expect((await run(['sync', '--config', config])).code).toBe(0);
      await expectEqualToParquet(folder);
    });
  });
});

async function withSimulator(use: (simulator: Simulator) => Promise<void>): Promise<void> {
  const simulator = await startSimulator({ seed: 5, websites: [{ id: 'w', pages: 120 }], nights: 1 });
  try {
    await use(simulator);
  } finally {
    await simulator.close();
  }
}

/** Every table holds what the Parquet files hold, counted by a reader that wrote neither. */
async function expectEqualToParquet(folder: string): Promise<void> {
  const warehouse = join(folder, 'warehouse');
  const options = { file: join(warehouse, 'indexhouse.duckdb'), readOnly: true, memoryLimit: 256e6, temporary: folder };
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

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { rebuildDuckdb } from '../../src/followers/rebuild.js';
import { exitCodeOf } from '../../src/run/receipt.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { withEngine } from '../../src/storage/engine.js';
import { packageFolder } from '../../src/storage/sql.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { readTable } from '../given/parquet.js';
import { syncNow } from '../given/synced.js';
import { findingsOf } from '../given/verified.js';

const FIXTURES = join(packageFolder(), 'test', 'fixtures');
/** The websites of the fixtures' world, and how far it had come: see `warehouse-0.1.0.tgz`. */
const WEBSITES = ['a/b c', 'w'];
const NIGHTS_IN_FIXTURE = 6;

describe('a warehouse', () => {
  test('of an earlier version is read, moved, migrated and goes on, and what it held stays as it was', async () => {
    const folder = temporaryFolder();
    execFileSync('tar', ['-xzf', join(FIXTURES, 'warehouse-0.1.0.tgz'), '-C', folder]);
    const warehouse = join(folder, 'warehouse');
    const before = await everyRow(warehouse);
    expect(before.length).toBeGreaterThan(300);

    const asked = await run(['query', 'indexing_trend', '--json', '--warehouse', warehouse]);
    expect(asked).toMatchObject({ code: 0 });
    expect(JSON.parse(asked.stdout)).toHaveLength(6);

    await withWorld(async (simulator) => {
      const config = writeConfig(folder, { baseUrl: simulator.url, websites: WEBSITES });
      expect(exitCodeOf(await syncNow(config), 0)).toBe(0);
      expect(await findingsOf(warehouse)).toEqual([]);
      await rebuildDuckdb({ warehouse, memoryLimit: 256e6 });
      expect(await findingsOf(warehouse)).toEqual([]);
    });
    const after = new Set(await everyRow(warehouse));
    expect(before.filter((row) => !after.has(row))).toEqual([]);
    expect(await countIn(join(warehouse, 'analytics.duckdb'), 'snapshots')).toBe(8);
  });
});

async function withWorld(use: (simulator: Simulator) => Promise<void>): Promise<void> {
  const websites = [
    { id: 'a/b c', pages: 30, nasty: true },
    { id: 'w', pages: 30 },
  ];
  const simulator = await startSimulator({ seed: 7, nights: NIGHTS_IN_FIXTURE + 2, websites });
  try {
    await use(simulator);
  } finally {
    await simulator.close();
  }
}

async function everyRow(warehouse: string): Promise<string[]> {
  const tables = [
    'snapshots',
    'runs',
    'coverage',
    'url_reports',
    'report_failures',
    'rejected_records',
    'page_changes',
  ] as const;
  const rows = await Promise.all(
    tables.map(async (table) => (await readTable(warehouse, table)).map((row) => ({ table, ...row }))),
  );
  return rows
    .flat()
    .map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? Number(value) : value)));
}

async function countIn(file: string, table: string): Promise<number | undefined> {
  const options = { file, readOnly: true, memoryLimit: 256e6, temporary: temporaryFolder() };
  return withEngine(options, async (engine) => {
    const [row] = await engine.rows(z.object({ rows: z.coerce.number() }), `select count(*) as rows from ${table}`);
    return row?.rows;
  });
}

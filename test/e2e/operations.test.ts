import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { rebuildDuckdb } from '../../src/followers/rebuild.js';
import { exitCodeOf } from '../../src/run/receipt.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { withEngine } from '../../src/storage/engine.js';
import { packageFolder } from '../../src/storage/sql.js';
import { filesOf } from '../../src/warehouse/markers.js';
import { run, start } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { readMarkers } from '../given/markers.js';
import { type Row, readTable } from '../given/parquet.js';
import { syncNow } from '../given/synced.js';
import { byHyparquet, truthOf } from '../given/truth.js';
import { findingsOf } from '../given/verified.js';

const FIXTURES = join(packageFolder(), 'test', 'fixtures');
const OPERATIONS = readFileSync(join(packageFolder(), 'docs', 'operations.md'), 'utf8');
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

  test('is copied while syncs run, by the commands of the documentation, and the copy is whole', {
    timeout: 60_000,
  }, async () => {
    const folder = temporaryFolder();
    const simulator = await startSimulator({ seed: 2, websites: [{ id: 'w', pages: 150 }] });
    try {
      const config = writeConfig(folder, { baseUrl: simulator.url, websites: ['w'] });
      expect(exitCodeOf(await syncNow(config), 0)).toBe(0);
      const running = start(['sync', '--config', config]);
      const copies = copyWhile(folder, running.ended);
      expect(await running.ended).toMatchObject({ code: 0 });
      expect(await copies).toBeGreaterThan(3);

      const elsewhere = temporaryFolder();
      const warehouse = join(elsewhere, 'warehouse');
      renameSync(join(folder, 'backup'), warehouse);
      const restored = writeConfig(elsewhere, { baseUrl: simulator.url, websites: ['w'] });
      await rebuildDuckdb({ warehouse, memoryLimit: 256e6 });
      expect(await findingsOf(warehouse)).toEqual([]);
      expect(exitCodeOf(await syncNow(restored), 0)).toBe(0);
      expect(await byHyparquetOfNewest(warehouse)).toEqual(truthOf(simulator.world, 'w').coverage);
    } finally {
      await simulator.close();
    }
  });
});

/** Copies again and again until the sync ends; each time whatever marker it has has its data; the last copy stays. */
async function copyWhile(folder: string, ended: Promise<unknown>): Promise<number> {
  const script = /```sh\n(mkdir -p backup[\s\S]*?)```/.exec(OPERATIONS)?.[1];
  if (!script) throw new Error('docs/operations.md has no commands for a copy');
  let over = false;
  const end = ended.then(() => {
    over = true;
  });
  for (let copies = 1; ; copies++) {
    execFileSync('rm', ['-rf', join(folder, 'backup')]);
    execFileSync('bash', ['-c', script], { cwd: folder });
    const copy = join(folder, 'backup');
    await withEngine({ memoryLimit: 256e6, temporary: join(folder, 'tmp') }, async (engine) => {
      const markers = await readMarkers(engine, copy);
      expect(filesOf(copy, markers, 'coverage').filter((file) => !existsSync(file))).toEqual([]);
    });
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 50))]);
    if (over) return copies;
  }
}

async function byHyparquetOfNewest(warehouse: string): Promise<Map<string, Row>> {
  const newest = (await readTable(warehouse, 'snapshots'))
    .map(({ snapshot_id }) => String(snapshot_id))
    .sort()
    .at(-1);
  const all = await byHyparquet(warehouse, 'w', newest);
  return all.coverage;
}

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

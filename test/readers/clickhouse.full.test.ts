import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Reader } from '../../src/analysis/reader.js';
import { packageFolder } from '../../src/storage/sql.js';
import { TABLES } from '../../src/warehouse/tables.js';
import { analysisRows, openReader, rowsOf } from '../analysis/given.js';
import { PROGRAM, run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { givenEveryTable } from '../given/every-table.js';
import { folderOnDisk } from '../given/folder.js';
import { mayInstallTools } from '../given/packages.js';
import { seededRandom } from '../given/random.js';
import { randomWarehouse } from '../given/random-world.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { installPython, pythonPath } from './packages.js';

const PASSWORD = 'gehe"im\\+ü';
const KILLS = 20;
const SINCE = '2025-03-10';
const UNTIL = '2025-03-28';
const BETWEEN = `snapshot_date between '${SINCE}' and '${UNTIL}'`;

/** By analysis: its parameters, and the view that answers the same. */
const ANALYSES: Readonly<Record<string, [parameters: Record<string, string>, from: string]>> = {
  indexing_trend: [{ since: SINCE }, `indexing_trend where snapshot_date >= '${SINCE}'`],
  deindexed_pages: [{ since: SINCE, until: UNTIL, reindexed: 'true' }, `deindexed_pages where ${BETWEEN}`],
  canonical_flips: [{ since: SINCE, until: UNTIL }, `canonical_flips where ${BETWEEN}`],
  api_usage: [{ since: SINCE, until: UNTIL }, `api_usage where ${BETWEEN}`],
  changes_per_night: [{ since: SINCE }, `changes_per_night where snapshot_date >= '${SINCE}'`],
  state_transitions: [{ since: SINCE, until: UNTIL }, `state_transitions(since = '${SINCE}', until = '${UNTIL}')`],
  coverage_by_directory: [
    { since: SINCE, until: UNTIL, limit: 'none' },
    `coverage_by_directory(since = '${SINCE}', until = '${UNTIL}')`,
  ],
};
const VIEWS = ['pages', 'coverage_daily', 'daily_listings', 'api_drift', 'page_history', 'quarantine'];
const row = z.record(z.string(), z.unknown());

const folder = folderOnDisk('clickhouse');
const IS_THERE = mayInstallTools() && installPython('chdb');
let shim: ChildProcess;
let url: string;
let world: BuiltWarehouse;
let reader: Reader;

beforeAll(async () => {
  world = await randomWarehouse(1, 30, 40);
  reader = await openReader(world.path);
  if (!IS_THERE) return;
  const script = join(packageFolder(), 'test', 'readers', 'clickhouse-shim.py');
  const env = { ...process.env, PYTHONPATH: pythonPath('chdb') };
  shim = spawn('python3', [script, join(folder, 'data'), PASSWORD], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  if (!shim.stdout) throw new Error('no output of the server');
  [url = ''] = z.array(z.string()).parse(await once(createInterface(shim.stdout), 'line'));
});

afterAll(() => {
  shim?.kill('SIGKILL');
  reader.close();
  world.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe.runIf(IS_THERE)('ClickHouse', () => {
  test('ends up whole after random SIGKILLs, and answers as DuckDB to the row', async () => {
    const config = configFor(world.path, 'killed');
    const random = seededRandom(Number(process.env['INDEXHOUSE_TEST_SEED'] ?? 7));
    let killed = 0;
    while (killed < KILLS) {
      const child = spawn(process.execPath, [PROGRAM, 'sync', '--recover', '--config', config], { stdio: 'ignore' });
      const exited = once(child, 'exit');
      const timer = setTimeout(() => child.kill('SIGKILL'), 500 + random() * 1500);
      const [, signal] = await exited;
      clearTimeout(timer);
      if (signal === 'SIGKILL') killed += 1;
      else await clickhouse('default', 'drop database killed');
    }
    await follow(config);
    for (const [name, [parameters, from]] of Object.entries(ANALYSES)) {
      const expected = await analysisRows(reader, name, parameters);
      expect(expected.length, `${name} has no rows`).toBeGreaterThan(0);
      expect([name, await sameColumns('killed', expected, from)]).toEqual([name, comparable(expected)]);
    }
    for (const view of VIEWS) {
      const expected = await rowsOf(reader, `select * from ${view}`);
      expect(expected.length, `${view} has no rows`).toBeGreaterThan(0);
      expect([view, await sameColumns('killed', expected, view)]).toEqual([view, comparable(expected)]);
    }
    const guide = readFileSync(join(packageFolder(), 'docs', 'beyond-one-machine.md'), 'utf8');
    const [, block = ''] = /## ClickHouse[\s\S]*?```sql\n([\s\S]*?)```/.exec(guide) ?? [];
    const statements = block.split(';').filter((statement) => statement.trim() !== '');
    expect(statements).toHaveLength(Object.keys(ANALYSES).length);
    for (const statement of statements) await clickhouse('killed', statement.trim());
  });

  test('has every value of every table, with retention and replays', async () => {
    const warehouse = await givenEveryTable('zstd', onTestFinished);
    await follow(configFor(warehouse, 'every'));
    const all = await openReader(warehouse);
    onTestFinished(() => all.close());
    for (const table of TABLES) {
      const expected = await rowsOf(all, `select * from ${table}`);
      expect(expected.length, `${table} has no rows`).toBeGreaterThan(0);
      expect([table, await sameColumns('every', expected, table)]).toEqual([table, comparable(expected)]);
    }
  });
});

function configFor(warehouse: string, database: string): string {
  const sections = { warehouse: { path: warehouse }, clickhouse: { url, database, password: PASSWORD } };
  return writeConfig(dirname(warehouse), { baseUrl: 'http://127.0.0.1:1', sections });
}

/** Catches up, and is compared with the log. The statement of a process that was killed may have to end first. */
async function follow(config: string): Promise<void> {
  await run(['sync', '--recover', '--config', config]);
  const { code, stdout } = await run(['sync', '--recover', '--json', '--config', config]);
  expect([code, JSON.parse(stdout).followers]).toEqual([
    0,
    expect.arrayContaining([{ name: 'clickhouse', behind: 0 }]),
  ]);
  expect((await run(['verify', '--json', '--config', config])).code).toBe(0);
}

async function clickhouse(database: string, query: string): Promise<Record<string, unknown>[]> {
  const client = createClient({ url, password: PASSWORD, database, keep_alive: { enabled: false } });
  if (!query.startsWith('select')) {
    await client.command({ query });
    return [];
  }
  const settings = { output_format_json_quote_64bit_integers: 0 } as const;
  const result = await client.query({ query, format: 'JSON', clickhouse_settings: settings });
  return z.object({ data: z.array(row) }).parse(await result.json()).data;
}

async function sameColumns(database: string, [first]: readonly object[], from: string): Promise<string[]> {
  const columns = Object.keys(first ?? {}).map((name) => `"${name}"`);
  return comparable(await clickhouse(database, `select ${columns.join(', ')} from ${from}`));
}

/** Rows as texts, sorted: times in one form. A null list is an empty one in ClickHouse. */
function comparable(rows: readonly object[]): string[] {
  const texts = rows.map((one) => {
    const values = Object.entries(one).map(([name, value]) => {
      if (name.endsWith('sitemaps') && value === null) return [name, []];
      const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d/.test(value);
      return [
        name,
        isTime ? new Date(value.replace(/( |(?<!Z)$)/g, (at) => (at === ' ' ? 'T' : 'Z'))).toISOString() : value,
      ];
    });
    return JSON.stringify(values);
  });
  return texts.sort();
}

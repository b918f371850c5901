import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { UnreachableError } from '../../../src/base/exit.js';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { MemoryError, withEngine } from '../../../src/base/storage/engine.js';
import { follow, followersOf } from '../../../src/warehouse/copies/follow.js';
import type { Follower } from '../../../src/warehouse/copies/follower.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { DATA_TABLES } from '../../../src/warehouse/log/folder/tables.js';
import { type Log, openLog } from '../../../src/warehouse/log/log.js';
import { type GivenBucket, startBucket } from '../../given/bucket.js';
import { countsIn } from '../../given/counts.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { readParquet, readTable } from '../../given/parquet.js';
import { buildNights, maintainAt } from '../../given/thinned.js';
import { configFor, type Sections, sharedWarehouse } from '../../given/warehouse.js';

const TABLES = [...DATA_TABLES, 'snapshots', 'runs'] as const;
type Counts = Record<string, number>;

const built = sharedWarehouse(() => buildNights([1, 2, 3]));
/** The rows of its Parquet files. */
let all: Counts;
let server: GivenBucket;
beforeAll(async () => {
  all = await fileRows(built.path);
  server = await startBucket({ pageSize: 5, prefix: '/nights' });
});
beforeEach(() => server.objects.clear());

interface Case {
  /** Of the follower, in the receipt. */
  name: string;
  sections(): Sections;
  /** How many rows of each table another reader finds there. */
  rows(warehouse: string): Promise<Counts>;
  /** Deletes the copy. */
  lose(warehouse: string): void;
}

const file = (name: string) => ({
  sections: () => ({}),
  rows: (warehouse: string) => countsIn(join(warehouse, name), [...TABLES]),
  lose: (warehouse: string) => rmSync(join(warehouse, name)),
});
const DUCKDB: Case = { name: 'duckdb', ...file('indexhouse.duckdb') };
const BUCKET: Case = {
  name: 'bucket',
  sections: () => ({ bucket: server.url }),
  rows: async () => {
    const folder = temporaryFolder();
    for (const [key, { body }] of server.objects) {
      const path = join(folder, key.replace('nights/', ''));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, body);
    }
    return fileRows(folder);
  },
  lose: () => server.objects.clear(),
};
const CASES: readonly Case[] = [DUCKDB, { name: 'analytics', ...file('analytics.duckdb') }, BUCKET];

const upToDate = ({ name }: Case) => [{ name, behind: 0 }];

function configOf(warehouse: string, { sections }: Case) {
  return configFor({ baseUrl: 'http://127.0.0.1:1', warehouse, sections: sections() });
}

function followerFor(warehouse: string, one: Case): Follower {
  return followersOf(configOf(warehouse, one)).find(({ name }) => name === one.name) ?? expect.fail();
}

function catchUp(warehouse: string, one: Case) {
  return follow([followerFor(warehouse, one)], configOf(warehouse, one));
}

const lag = (warehouse: string, one: Case) =>
  withLog(warehouse, (log, options) => followerFor(warehouse, one).lag(log, options));
const differences = async (warehouse: string, one: Case) => {
  const compare: Use<ReturnType<Follower['compare']>> = (log, options) =>
    followerFor(warehouse, one).compare(log, options, { repair: false });
  return (await withLog(warehouse, compare)).differences;
};

type Use<T> = (log: Log, options: { memoryLimit: number; temporary: string }) => T;
function withLog<T>(warehouse: string, use: Use<Promise<T>>): Promise<T> {
  const options = { memoryLimit: 256e6, temporary: temporaryFolder() };
  return withEngine(options, async (engine) => use(await openLog(engine, warehouse), options));
}

/** Of the Parquet files of a folder, but for those of commits that are dropped: `<table> <commit>`. */
async function fileRows(folder: string, dropped: ReadonlySet<string> = new Set()): Promise<Counts> {
  const counts: Counts = {};
  for (const table of TABLES) {
    const files = await listTableFiles(folder, table);
    const kept = files.filter((path) => !dropped.has(`${table} ${basename(path, '.parquet')}`));
    const rows = await Promise.all(kept.map(async (path) => (await readParquet(path)).length));
    counts[table] = rows.reduce((sum, more) => sum + more, 0);
  }
  return counts;
}

test.each(CASES)(
  '$name is behind until it follows, holds every row, copies nothing twice, and is made again',
  async (one) => {
    const warehouse = copyOf(built.path);
    const commits = (await readTable(warehouse, 'snapshots')).length;
    expect(await lag(warehouse, one)).toMatchObject({ behind: commits });
    expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    expect(await lag(warehouse, one)).toMatchObject({ behind: 0, exact: true, held: null, error: null });
    expect(await differences(warehouse, one)).toEqual([]);
    expect(await one.rows(warehouse)).toEqual(all);
    server.requests.length = 0;
    expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    expect(server.requests.filter((request) => /^PUT .*\/parquet\//.test(request))).toEqual([]);

    one.lose(warehouse);
    expect((await lag(warehouse, one)).behind).toBeGreaterThan(0);
    expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    expect(await one.rows(warehouse)).toEqual(all);
  },
);

test('a broken indexhouse.duckdb lags and says what to do, while the others go on', async () => {
  const warehouse = copyOf(built.path);
  writeFileSync(join(warehouse, 'indexhouse.duckdb'), 'this is no database');
  const [own, other] = await follow(followersOf(configOf(warehouse, DUCKDB)), configOf(warehouse, DUCKDB));
  expect(own).toMatchObject({ name: 'duckdb', reason: expect.stringContaining('delete it') });
  expect(own?.behind).toBeGreaterThan(0);
  expect(other).toEqual({ name: 'analytics', behind: 0 });
  expect(await lag(warehouse, DUCKDB)).toMatchObject({ error: expect.any(String) });
  expect(await differences(warehouse, DUCKDB)).toHaveLength(1);
});

test('indexhouse.duckdb skips a commit that needs more memory, and names the setting', async () => {
  const warehouse = copyOf(built.path);
  const ended = watchCrashPoints((step) => {
    if (step !== 'followed the data') return;
    ended();
    throw new MemoryError('set `warehouse.memory_limit` to 2GB', {}, {});
  });
  const [skipped] = await catchUp(warehouse, DUCKDB);
  expect(skipped?.reason).toMatch(
    /^indexhouse.duckdb skipped 1 snapshot or run, which the next sync tries again. .*: set `warehouse.memory_limit` to 2GB$/,
  );
  expect(await catchUp(warehouse, DUCKDB)).toEqual(upToDate(DUCKDB));
});

test('indexhouse.duckdb keeps the pages of other websites when it takes a commit', async () => {
  const warehouse = copyOf(built.path);
  const unwatch = watchCrashPoints((step) => {
    if (step === 'followed all markers') throw new UnreachableError('interrupted');
  });
  await catchUp(warehouse, DUCKDB);
  unwatch();
  // Four of shop and two of blog.
  expect(await countsIn(join(warehouse, 'indexhouse.duckdb'), ['page_state'])).toEqual({ page_state: 6 });
});

// Views of its own text hold no commits.
test.each([DUCKDB, BUCKET])(
  '$name skips a commit whose file is damaged, names it, and takes it once it is whole',
  async (one) => {
    const warehouse = copyOf(built.path);
    const [damaged = ''] = (await listTableFiles(warehouse, 'coverage')).filter((path) => path.includes('=shop'));
    const bytes = readFileSync(damaged);
    truncateSync(damaged, bytes.length - 20);
    const [first] = await catchUp(warehouse, one);
    expect(first).toMatchObject({ behind: 1, reason: expect.stringContaining(basename(damaged)) });
    expect(await one.rows(warehouse)).toMatchObject({ snapshots: (all['snapshots'] ?? 0) - 1 });
    writeFileSync(damaged, bytes);
    expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    expect(await one.rows(warehouse)).toEqual(all);
    expect(await differences(warehouse, one)).toEqual([]);
  },
);

describe.each(CASES)('$name', (one) => {
  test('interrupted after any step, it ends up the same', async () => {
    const steps: string[] = [];
    const unwatch = watchCrashPoints((step) => steps.push(step));
    await catchUp(copyOf(built.path), one);
    unwatch();
    expect(steps.length).toBeGreaterThan(1);
    const every = Math.ceil(steps.length / 5);
    for (let at = every - 1; at < steps.length; at += every) {
      server.objects.clear();
      const warehouse = copyOf(built.path);
      let passed = 0;
      const stop = watchCrashPoints(() => {
        if (passed++ === at) throw new UnreachableError('interrupted');
      });
      expect(await catchUp(warehouse, one)).not.toEqual(upToDate(one));
      stop();
      expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
      expect([steps[at], await one.rows(warehouse)]).toEqual([steps[at], all]);
      expect(await differences(warehouse, one)).toEqual([]);
    }
  });

  test('follows retention', async () => {
    const warehouse = copyOf(built.path);
    await catchUp(warehouse, one);
    const { followers } = await maintainAt(warehouse, { sections: one.sections() });
    // The native file follows by itself, where it is made smaller.
    if (one !== DUCKDB) expect(followers.filter(({ name }) => name === one.name)).toEqual(upToDate(one));
    const tombstones = await readTable(warehouse, 'tombstones');
    const dropped = new Set(tombstones.map(({ table_name, snapshot_id }) => `${table_name} ${snapshot_id}`));
    // What is dropped leaves the bucket an hour later.
    const [there, kept] = [await fileRows(warehouse), await fileRows(warehouse, dropped)];
    expect(there['coverage']).toBeGreaterThan(kept['coverage'] ?? 0);
    expect(await one.rows(warehouse)).toEqual(one === BUCKET ? there : kept);
    expect(await differences(warehouse, one)).toEqual([]);
  });
});

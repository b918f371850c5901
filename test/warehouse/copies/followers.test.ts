import { mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { UnreachableError } from '../../../src/base/exit.js';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { follow, followersOf } from '../../../src/warehouse/copies/follow.js';
import type { Compared, FollowerLag } from '../../../src/warehouse/copies/follower.js';
import { listTableFiles, namesIn, stateFolder } from '../../../src/warehouse/log/folder/layout.js';
import { DATA_TABLES } from '../../../src/warehouse/log/folder/tables.js';
import { type Log, openLog } from '../../../src/warehouse/log/log.js';
import { atLength, once, testAtLength } from '../../given/at-length.js';
import { type GivenBucket, startBucket } from '../../given/bucket.js';
import { countsIn } from '../../given/counts.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { icebergFiles, icebergSizes } from '../../given/iceberg.js';
import { readParquet, readTable } from '../../given/parquet.js';
import { rewrite } from '../../given/tamper.js';
import { buildNights, maintainAt } from '../../given/thinned.js';
import { configFor, sharedWarehouse } from '../../given/warehouse.js';

const TABLES = [...DATA_TABLES, 'snapshots', 'runs'] as const;
type Counts = Record<string, number>;
const IS_NEVER_BEHIND = { behind: 0, exact: true, held: null, error: null };

let server: GivenBucket;
/** The rows of its Parquet files. */
let all: Counts;

const built = sharedWarehouse(() => buildNights([1, 2]));
beforeAll(async () => {
  all = await fileRows(built.path);
  server = await startBucket({ pageSize: 5, prefix: '/nights' });
});
beforeEach(() => {
  server.objects.clear();
  server.fault = null;
});

interface Case {
  /** Its followers in the receipt: the last one is tested, and waits for those before it. */
  names: string[];
  sections(): Record<string, Record<string, unknown>>;
  /** How many rows of each table another reader finds there. */
  rows(warehouse: string): Promise<Counts>;
  /** Deletes the copy. */
  lose(warehouse: string): void;
  /** Breaks it so that it cannot be used until it is deleted; left out: it is replaced as a whole. */
  spoil?(warehouse: string): void;
  /** Whether it holds commits of its own. */
  isCopy: boolean;
}

const iceberg = { enabled: true };
const bucket = () => server.config;
const file = (name: string) => ({
  sections: () => ({}),
  rows: (warehouse: string) => countsIn(join(warehouse, name), [...TABLES]),
  lose: (warehouse: string) => rmSync(join(warehouse, name)),
});
const inBucket = (folder: string) => [...server.objects.keys()].filter((key) => key.startsWith(`nights/${folder}`));

const CASES: Record<string, Case> = {
  'indexhouse.duckdb': {
    ...file('indexhouse.duckdb'),
    names: ['duckdb'],
    spoil: (warehouse) => writeFileSync(join(warehouse, 'indexhouse.duckdb'), 'this is no database'),
    isCopy: true,
  },
  'analytics.duckdb': { ...file('analytics.duckdb'), names: ['analytics'], isCopy: false },
  'Iceberg tables': {
    names: ['iceberg'],
    sections: () => ({ iceberg }),
    rows: icebergRows,
    lose: (warehouse) => rmSync(join(warehouse, 'iceberg'), { recursive: true }),
    spoil: (warehouse) => {
      const metadata = join(warehouse, 'iceberg', 'snapshots', 'metadata');
      mkdirSync(metadata, { recursive: true });
      writeFileSync(join(metadata, 'v1.metadata.json'), '{"format-version": 2');
    },
    isCopy: true,
  },
  'the bucket': {
    names: ['bucket'],
    sections: () => ({ bucket: bucket() }),
    rows: async () => fileRows(downloaded()),
    lose: () => server.objects.clear(),
    isCopy: true,
  },
  'Iceberg tables in the bucket': {
    names: ['bucket', 'iceberg'],
    sections: () => ({ bucket: bucket(), iceberg }),
    rows: async () => icebergRows(downloaded()),
    lose: () => {
      for (const key of inBucket('iceberg/')) server.objects.delete(key);
    },
    isCopy: true,
  },
};

/** The tables in the bucket go the ways of both. */
const COVERED = ['Iceberg tables', 'the bucket'];
const ENTRIES = Object.entries(CASES);
describe.each(
  atLength(
    ENTRIES.filter(([name]) => !COVERED.includes(name)),
    ENTRIES,
  ),
)('%s', (name, one) => {
  const testCase = COVERED.includes(name) ? testAtLength : once;
  testCase('is behind until it follows, holds every row, copies nothing twice, and is made again', async () => {
    const warehouse = copyOf(built.path);
    const commits = (await readTable(warehouse, 'snapshots')).length;
    expect(await lag(warehouse, one)).toMatchObject({ behind: commits });
    expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    expect(await lag(warehouse, one)).toMatchObject(IS_NEVER_BEHIND);
    expect(await compared(warehouse, one)).toEqual({ differences: [], repaired: [] });
    expect(await one.rows(warehouse)).toEqual(all);
    server.requests.length = 0;
    expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    expect(server.requests.filter((request) => /^PUT .*\/(parquet|iceberg)\//.test(request))).toEqual([]);

    one.lose(warehouse);
    expect((await lag(warehouse, one)).behind).toBeGreaterThan(0);
    expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    expect(await one.rows(warehouse)).toEqual(all);
  });

  const testOlder = one.names.includes('iceberg') ? testCase : testAtLength;
  testOlder('is not behind for a reader whose log was listed before the last night', async () => {
    const warehouse = copyOf(built.path);
    const newest = ['snapshots', 'runs'].map((table) => ({
      there: join(warehouse, 'parquet', table, 'website=shop', 'date=2024-12-02'),
      away: join(warehouse, `newest-${table}`),
    }));
    for (const { there, away } of newest) renameSync(there, away);
    await withLog(warehouse, async (older, options) => {
      for (const { there, away } of newest) renameSync(away, there);
      expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
      const follower = followersFor(warehouse, one).at(-1) ?? expect.fail();
      expect(await follower.lag(older, options)).toMatchObject(IS_NEVER_BEHIND);
      const { differences } = await follower.compare(older, options, { repair: false });
      expect(differences.filter(({ level }) => level !== 'note')).toEqual([]);
    });
  });

  testAtLength('interrupted after any step, it ends up the same', async () => {
    const steps: string[] = [];
    const unwatch = watchCrashPoints((step) => steps.push(step));
    await catchUp(copyOf(built.path), one);
    unwatch();
    expect(steps.length).toBeGreaterThan(1);
    const every = Math.ceil(steps.length / 8);
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
      expect((await compared(warehouse, one)).differences).toEqual([]);
    }
  });

  if (one.isCopy)
    testAtLength('skips a commit whose file is damaged, names it, and takes it once it is whole', async () => {
      const warehouse = copyOf(built.path);
      const [damaged = ''] = (await listTableFiles(warehouse, 'coverage')).filter((path) => path.includes('=shop'));
      const bytes = readFileSync(damaged);
      truncateSync(damaged, bytes.length - 20);
      const [first] = await catchUp(warehouse, one);
      expect(first).toMatchObject({ behind: 1, reason: expect.stringContaining(basename(damaged)) });
      const { differences } = await compared(warehouse, one);
      expect(new Set(differences.map(({ level }) => level))).toEqual(new Set(['lag']));
      if (one.names.length === 1) {
        const others = (await readTable(warehouse, 'snapshots')).length - 1;
        expect(await one.rows(warehouse)).toMatchObject({ snapshots: others });
      }
      writeFileSync(damaged, bytes);
      expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
      expect(await one.rows(warehouse)).toEqual(all);
    });

  const testRetention = one.names.length > 1 ? once : testAtLength;
  testRetention('follows retention', async () => {
    const warehouse = copyOf(built.path);
    await catchUp(warehouse, one);
    const { followers } = await maintainAt(warehouse, { sections: one.sections() });
    const later = followers.filter(({ name }) => one.names.includes(name));
    // The native file follows by itself, where it is made smaller.
    if (!one.names.includes('duckdb')) expect(later).toEqual(upToDate(one));
    // What is dropped leaves the bucket an hour later.
    const there = await fileRows(warehouse);
    const kept = await fileRows(warehouse, await droppedIn(warehouse));
    expect(there['coverage']).toBeGreaterThan(kept['coverage'] ?? 0);
    expect(await one.rows(warehouse)).toEqual(one.names.at(-1) === 'bucket' ? there : kept);
    expect((await compared(warehouse, one)).differences).toEqual([]);
  });

  if (one.spoil)
    testCase('broken, it lags and says what to do, while the others go on', async () => {
      const warehouse = copyOf(built.path);
      one.spoil?.(warehouse);
      const [own, other] = await catchUp(warehouse, { ...one, names: [...one.names, 'analytics'] });
      const states = [own, other].sort((a) => (a?.name === 'analytics' ? 1 : -1));
      expect(states[0]).toMatchObject({
        reason: expect.stringMatching(/delete it|delete the warehouse's folder iceberg/),
      });
      expect(states[0]?.behind).toBeGreaterThan(0);
      expect(states[1]).toEqual({ name: 'analytics', behind: 0 });
      expect(await lag(warehouse, one)).toMatchObject({ error: expect.any(String) });
      expect((await compared(warehouse, one)).differences).toHaveLength(1);
      one.lose(warehouse);
      expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    });
});

once('Iceberg tables wait for the bucket', async () => {
  server.fault = () => '403 AccessDenied';
  const both = CASES['Iceberg tables in the bucket'] ?? expect.fail();
  const [first, second] = await catchUp(copyOf(built.path), both);
  expect(first).toMatchObject({ behind: 1, reason: expect.stringContaining('AccessDenied') });
  expect(second).toEqual({ name: 'iceberg', behind: 1 });
});

testAtLength('Iceberg tables in the bucket have the sizes of the states there, not of those rebuilt here', async () => {
  const warehouse = copyOf(built.path);
  const both = CASES['Iceberg tables in the bucket'] ?? expect.fail();
  await catchUp(warehouse, { ...both, names: ['bucket'] });
  for (const website of ['blog', 'shop']) {
    const folder = stateFolder(warehouse, website);
    await rewrite(join(folder, (await namesIn(folder)).at(-1) ?? ''), 'from self');
  }
  expect(await catchUp(warehouse, both)).toEqual(upToDate(both));
  expect(await both.rows(warehouse)).toEqual(all);
});

function upToDate({ names }: Case) {
  return names.map((name) => ({ name, behind: 0 }));
}

function configOf(warehouse: string, { sections }: Case) {
  return configFor({ baseUrl: 'http://127.0.0.1:1', warehouse, sections: sections() });
}

function followersFor(warehouse: string, one: Case) {
  return followersOf(configOf(warehouse, one)).filter(({ name }) => one.names.includes(name));
}

function catchUp(warehouse: string, one: Case) {
  return follow(followersFor(warehouse, one), configOf(warehouse, one));
}

function lag(warehouse: string, one: Case): Promise<FollowerLag> {
  return withLog(warehouse, (log, options) => followersFor(warehouse, one).at(-1)?.lag(log, options) ?? expect.fail());
}

function compared(warehouse: string, one: Case): Promise<Compared> {
  return withLog(
    warehouse,
    (log, options) => followersFor(warehouse, one).at(-1)?.compare(log, options, { repair: false }) ?? expect.fail(),
  );
}

function withLog<T>(
  warehouse: string,
  use: (log: Log, options: { memoryLimit: number; temporary: string }) => Promise<T>,
): Promise<T> {
  const options = { memoryLimit: 256e6, temporary: temporaryFolder() };
  return withEngine(options, async (engine) => use(await openLog(engine, warehouse), options));
}

/** What the bucket holds, as a folder. */
function downloaded(): string {
  const folder = temporaryFolder();
  for (const [key, { body }] of server.objects) {
    const path = join(folder, key.replace('nights/', ''));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, body);
  }
  return folder;
}

/** Of the Iceberg tables of a folder, wherever they were published. Each file is there, and each state has its size. */
async function icebergRows(folder: string): Promise<Counts> {
  const counts: Counts = {};
  const local = (address: string) => address.replace('s3://lake/nights', folder);
  for (const table of TABLES) {
    const files = Object.entries(await icebergFiles(folder, table));
    for (const [path, rows] of files) expect([path, (await readParquet(local(path))).length]).toEqual([path, rows]);
    counts[table] = files.reduce((sum, [, rows]) => sum + rows, 0);
  }
  const states = Object.entries(await icebergSizes(folder, 'page_state'));
  expect(states.map(([path]) => statSync(local(path)).size)).toEqual(states.map(([, bytes]) => bytes));
  return counts;
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

async function droppedIn(warehouse: string): Promise<ReadonlySet<string>> {
  const tombstones = await readTable(warehouse, 'tombstones');
  return new Set(tombstones.map(({ table_name, snapshot_id }) => `${table_name} ${snapshot_id}`));
}

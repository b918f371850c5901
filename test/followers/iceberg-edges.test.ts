import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { catchUp } from '../../src/followers/follower.js';
import { IcebergTables, PUBLISHED } from '../../src/followers/iceberg/follower.js';
import { localPlace, type Place } from '../../src/followers/iceberg/place.js';
import { watchCrashPoints } from '../../src/storage/crash-point.js';
import { type EngineOptions, withEngine } from '../../src/storage/engine.js';
import { literal } from '../../src/storage/sql.js';
import { listTableFiles } from '../../src/warehouse/layout.js';
import { OpenWarehouse } from '../../src/warehouse/open.js';
import { columnsOf } from '../../src/warehouse/tables.js';
import { testAtLength } from '../given/at-length.js';
import { copyOf, temporaryFolder } from '../given/folder.js';
import {
  icebergFiles,
  icebergMetadata,
  icebergNulls,
  icebergSizes,
  icebergSnapshots,
  publishIceberg,
} from '../given/iceberg.js';
import { leftBehind } from '../given/left-behind.js';
import { readParquet } from '../given/parquet.js';
import { rewrite } from '../given/tamper.js';
import { HOUR_MS } from '../given/thinned.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';

const ODD = 'a/b é%*';
const DAY_MS = 24 * HOUR_MS;
/** Shortly after the last of the nights. */
const NOW = Date.parse('2025-03-03T12:00:00Z');
const page = (name: string) => ({ url: `https://a.example/${name}` });
const PAGES = ['p', 'q', 'r'].map(page);
let built: BuiltWarehouse;

beforeAll(async () => {
  built = await buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { [ODD]: PAGES, shop: PAGES } },
    { at: '2025-03-02T02:00:00Z', lists: { [ODD]: PAGES.slice(1), shop: PAGES } },
    { at: '2025-03-03T02:00:00Z', lists: { shop: PAGES.slice(1) } },
  ]);
});
afterAll(() => built.remove());

describe('the snapshots of a table', () => {
  test('are runs of all their websites, at the times at which these ended', async () => {
    const warehouse = until(3);
    await publishIceberg(warehouse, { now: () => NOW });
    expect(timesOf(warehouse)).toEqual(['2025-03-01', '2025-03-02', '2025-03-03']);
    expect(await sizesOf(warehouse)).toEqual([2, 4, 5]);
  });

  testAtLength('begin with what was current when the history began, published at once or nightly', async () => {
    const atOnce = until(3);
    await publishIceberg(atOnce, { history: DAY_MS, now: () => NOW });
    const nightly = until(1);
    for (const night of [1, 2, 3]) {
      addNights(nightly, night);
      await publishIceberg(nightly, { history: DAY_MS, now: () => NOW - (3 - night) * DAY_MS });
    }
    for (const warehouse of [atOnce, nightly]) {
      expect(timesOf(warehouse)).toEqual(['2025-03-02', '2025-03-03']);
      expect(await sizesOf(warehouse)).toEqual([4, 5]);
    }
  });

  test('are one without a history', async () => {
    const warehouse = until(3);
    await publishIceberg(warehouse, { history: 0, now: () => NOW });
    expect(await sizesOf(warehouse)).toEqual([5]);
  });
});

test('snapshots is published last', async () => {
  const order: string[] = [];
  onTestFinished(watchCrashPoints((step) => order.push(step)));
  await publishIceberg(until(1));
  const published = order.filter((step) => step.startsWith('published iceberg'));
  expect(published.length).toBeGreaterThan(10);
  expect(published.at(-1)).toBe('published iceberg snapshots');
});

testAtLength(
  'metadata that no version needs stays for an hour, and then goes; what a version needs stays',
  async () => {
    const warehouse = until(1);
    await publishIceberg(warehouse, { history: 0, now: () => NOW });
    writeFileSync(join(folderOf(warehouse), 'snap-9-0.avro'), 'of an attempt that died');
    const first = readdirSync(folderOf(warehouse)).sort();
    addNights(warehouse, 2);
    await publishIceberg(warehouse, { history: 0, now: () => NOW });
    const second = readdirSync(folderOf(warehouse)).sort();
    expect(second).toEqual(expect.arrayContaining(first));

    addNights(warehouse, 3);
    await publishIceberg(warehouse, { history: 0, now: () => NOW + HOUR_MS });
    const third = readdirSync(folderOf(warehouse)).sort();
    // Superseded a moment ago: version 2 with its list and its manifest.
    const superseded = second.filter((name) => !first.includes(name));
    expect(superseded.length).toBe(3);
    expect(third).toEqual(expect.arrayContaining(superseded));
    expect(third.filter((name) => first.includes(name))).toEqual(['version-hint.text']);
    expect(await sizesOf(warehouse)).toEqual([5]);
  },
);

testAtLength('killed behind any step, the next sync publishes the same', async () => {
  const steps = PUBLISHED.flatMap((table) => [`wrote iceberg ${table}`, `published iceberg ${table}`]);
  const warehouse = until(1);
  await publishIceberg(warehouse, { now: () => NOW });
  addNights(warehouse, 3);
  const clean = copyOf(warehouse);
  const died = (step: string) => join(clean, '..', step.replaceAll(' ', '-'));
  await leftBehind(
    warehouse,
    // The second time, tables without rows are as they were.
    steps.filter((step) => !/^wrote iceberg (page_changes|.*_failures|rej.*|drift.*|tombstones|replays)/.test(step)),
    died,
    () => publishIceberg(warehouse, { now: () => NOW }),
  );
  const whole = await allSnapshots(warehouse);
  for (const step of steps.filter((one) => existsSync(died(one)))) {
    rmSync(warehouse, { recursive: true });
    renameSync(died(step), warehouse);
    expect(await publishIceberg(warehouse, { now: () => NOW })).toEqual({ behind: 0 });
    expect([step, await allSnapshots(warehouse)]).toEqual([step, whole]);
  }
});

testAtLength('a table that is missing is published again beside the others', async () => {
  const warehouse = until(2);
  await publishIceberg(warehouse);
  const before = await icebergSnapshots(warehouse, 'snapshots');
  const whole = await icebergFiles(warehouse, 'coverage');
  rmSync(join(warehouse, 'iceberg', 'coverage'), { recursive: true });
  await publishIceberg(warehouse);
  expect(await icebergFiles(warehouse, 'coverage')).toEqual(whole);
  expect(await icebergSnapshots(warehouse, 'snapshots')).toEqual(before);
});

testAtLength('the newest metadata file or the hint may be missing; a damaged one is named', async () => {
  const warehouse = until(1);
  await publishIceberg(warehouse);
  addNights(warehouse, 2);
  await publishIceberg(warehouse);
  const whole = await icebergFiles(warehouse, 'snapshots');
  const folder = folderOf(warehouse, 'snapshots');
  rmSync(join(folder, 'v2.metadata.json'));
  rmSync(join(folder, 'version-hint.text'));
  expect(await publishIceberg(warehouse)).toEqual({ behind: 0 });
  expect(await icebergFiles(warehouse, 'snapshots')).toEqual(whole);

  writeFileSync(join(folder, 'v2.metadata.json'), '{"format-version": 2');
  const named = /snapshots\/metadata\/v2\.metadata\.json cannot be read: .*; delete the warehouse's folder iceberg/;
  await expect(publishIceberg(warehouse)).rejects.toThrow(named);
});

testAtLength('of two that publish the same version one says that it lost, and nothing is lost', async () => {
  const warehouse = until(2);
  const place = localPlace(warehouse);
  const create: Place['create'] = async (path, bytes) => {
    // The other one comes first.
    if (!existsSync(join(warehouse, path))) await publishIceberg(warehouse);
    return place.create(path, bytes);
  };
  const lost = publishIceberg(warehouse, { place: { ...place, create } });
  await expect(lost).rejects.toThrow(/v1\.metadata\.json was written by another process at the same time/);
  expect(await publishIceberg(warehouse)).toEqual({ behind: 0 });
  expect(await sizesOf(warehouse)).toEqual([2, 4]);
});

testAtLength('a disk that fills up while they are written makes them lag, and the next sync goes on', async () => {
  const warehouse = until(3);
  const place = localPlace(warehouse);
  let writes = 0;
  const full = (path: string) =>
    Object.assign(new Error(`ENOSPC: no space left on device, write '${path}'`), { code: 'ENOSPC' });
  const write: Place['write'] = async (path, bytes) => {
    if (++writes % 7 === 0) {
      await place.write(path, bytes.subarray(0, 10));
      throw full(path);
    }
    await place.write(path, bytes);
  };
  await expect(publishIceberg(warehouse, { place: { ...place, write } })).rejects.toThrow('ENOSPC');
  expect(existsSync(join(folderOf(warehouse, 'snapshots'), 'version-hint.text'))).toBe(false);
  expect(await publishIceberg(warehouse)).toEqual({ behind: 0 });
  expect(await sizesOf(warehouse)).toEqual([2, 4, 5]);
});

test('a column that was added is a schema of its own, and earlier snapshots keep theirs', async () => {
  const warehouse = until(1);
  await publishIceberg(warehouse);
  const file = join(folderOf(warehouse), 'v1.metadata.json');
  // As a version wrote it that had one column less.
  const older = JSON.parse(readFileSync(file, 'utf8'));
  const added = older.schemas[0].fields.pop();
  writeFileSync(file, JSON.stringify(older));
  addNights(warehouse, 2);
  await publishIceberg(warehouse);
  const { schemas, snapshots, ...current } = icebergMetadata(warehouse, 'coverage');
  expect(current['current-schema-id']).toBe(1);
  expect(schemas.map(({ fields }) => fields.some(({ name }) => name === added.name))).toEqual([false, true]);
  expect(snapshots.map((snapshot) => snapshot['schema-id'])).toEqual([0, 1]);
});

test('how many values are null is told of every column, lists and columns that a file lacks included', async () => {
  const warehouse = until(1);
  // As a version wrote it that had one column less.
  const [reports = ''] = await listTableFiles(warehouse, 'url_reports');
  await withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
    const query = `select * exclude (extra) from read_parquet(${literal(reports)}, hive_partitioning = false)`;
    await engine.copy(query, `${reports}.new`, 'format parquet');
    renameSync(`${reports}.new`, reports);
  });
  await publishIceberg(warehouse);
  const told = await icebergNulls(warehouse, 'url_reports');
  const columns = columnsOf('url_reports');
  expect(Object.keys(told)).toContain(reports);
  for (const [file, nulls] of Object.entries(told)) {
    const rows = await readParquet(file);
    const counted = columns.map(({ name }, at) => [at + 1, rows.filter((row) => (row[name] ?? null) === null).length]);
    expect(nulls).toEqual(Object.fromEntries(counted));
  }
});

test('a state that was rebuilt with another size is published again with the right one', async () => {
  const warehouse = until(2);
  await publishIceberg(warehouse);
  const published = await icebergSizes(warehouse, 'page_state');
  const [state = ''] = Object.keys(published);
  await rewrite(state, 'from self');
  expect(published[state]).not.toBe(statSync(state).size);
  await withLog(warehouse, async (log, engine) => {
    const tables = await IcebergTables.open(log, { history: 0 });
    expect((await tables.differences(log)).map(({ message }) => message)).toEqual([
      `the Iceberg table page_state gives ${state} ${published[state]} bytes, but it has ${statSync(state).size}`,
    ]);
    expect(await catchUp(tables, log, engine)).toEqual({ behind: 0 });
    expect(await (await IcebergTables.open(log, { history: 0 })).differences(log)).toEqual([]);
  });
  expect((await icebergSizes(warehouse, 'page_state'))[state]).toBe(statSync(state).size);
});

test('runs that were recorded since are a lag', async () => {
  const warehouse = until(1);
  await publishIceberg(warehouse);
  addNights(warehouse, 2);
  await withLog(warehouse, async (log) => {
    const tables = await IcebergTables.open(log, { history: 0 });
    expect(await tables.differences(log)).toMatchObject([
      { level: 'lag', message: 'the Iceberg table runs lacks 2 rows' },
    ]);
  });
});

test('an id that needs encoding stands in addresses as it does in paths', async () => {
  const warehouse = until(1);
  await publishIceberg(warehouse);
  const files = Object.keys(await icebergFiles(warehouse, 'coverage'));
  expect(files.filter((file) => file.includes('/website=a%2Fb%20%C3%A9%25%2A/'))).toHaveLength(1);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

/** A warehouse as it was after so many nights, with nothing published. */
function until(nights: number): string {
  const warehouse = copyOf(built.path);
  addNights(warehouse, nights);
  return warehouse;
}

/** Commits the nights up to this one. */
function addNights(warehouse: string, last: number): void {
  for (const table of ['snapshots', 'runs']) {
    const root = join(warehouse, 'parquet', table);
    cpSync(join(built.path, 'parquet', table), root, { recursive: true });
    for (const website of readdirSync(root)) {
      for (const date of readdirSync(join(root, website))) {
        if (date > `date=2025-03-0${last}`) rmSync(join(root, website, date), { recursive: true });
      }
    }
  }
}

function withLog(warehouse: string, work: (log: OpenWarehouse, engine: EngineOptions) => Promise<void>): Promise<void> {
  const options = { memoryLimit: 256e6, temporary: join(warehouse, '..', 'duckdb') };
  return withEngine(options, async (engine) => work(await OpenWarehouse.read(engine, warehouse), options));
}

async function allSnapshots(warehouse: string) {
  return Promise.all(PUBLISHED.map(async (table) => [table, [...(await icebergSnapshots(warehouse, table)).values()]]));
}

function folderOf(warehouse: string, table = 'coverage'): string {
  return join(warehouse, 'iceberg', table, 'metadata');
}

/** The dates of the snapshots of `coverage`. */
function timesOf(warehouse: string): string[] {
  return icebergMetadata(warehouse, 'coverage').snapshots.map((one) =>
    new Date(one['timestamp-ms']).toISOString().slice(0, 10),
  );
}

/** How many files each of them has. */
async function sizesOf(warehouse: string): Promise<number[]> {
  return [...(await icebergSnapshots(warehouse, 'coverage')).values()].map((files) => Object.keys(files).length);
}

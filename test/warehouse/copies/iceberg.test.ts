import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { literal } from '../../../src/base/storage/sql.js';
import { catchUp } from '../../../src/warehouse/copies/follower.js';
import { IcebergTables, PUBLISHED } from '../../../src/warehouse/copies/iceberg/follower.js';
import { folderPlace } from '../../../src/warehouse/copies/iceberg/place.js';
import { listTableFiles, namesIn, stateFolder } from '../../../src/warehouse/log/folder/layout.js';
import { columnsOf } from '../../../src/warehouse/log/folder/tables.js';
import { openLog } from '../../../src/warehouse/log/log.js';
import { once, testAtLength } from '../../given/at-length.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import {
  icebergFiles,
  icebergMetadata,
  icebergNulls,
  icebergSizes,
  icebergSnapshots,
  publishIceberg,
} from '../../given/iceberg.js';
import { dyingAt, leftBehind } from '../../given/left-behind.js';
import { readParquet } from '../../given/parquet.js';
import { rewrite } from '../../given/tamper.js';
import { buildNights, HOUR_MS, maintainAt } from '../../given/thinned.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

const ODD = 'a/b é%*';
const DAY_MS = 24 * HOUR_MS;
/** Shortly after the last of the nights. */
const NOW = Date.parse('2025-03-03T12:00:00Z');
const PAGES = ['p', 'q', 'r'].map((name) => ({ url: `https://a.example/${name}` }));

const built = sharedWarehouse(() =>
  buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { [ODD]: PAGES, shop: PAGES } },
    { at: '2025-03-02T02:00:00Z', lists: { [ODD]: PAGES.slice(1), shop: PAGES } },
    { at: '2025-03-03T02:00:00Z', lists: { shop: PAGES.slice(1) } },
  ]),
);

describe('readers can travel', () => {
  once('to the end of each run of all its websites, and snapshots is published last', async () => {
    const warehouse = until(3);
    const order: string[] = [];
    onTestFinished(watchCrashPoints((step) => order.push(step)));
    await publishIceberg(warehouse, { now: () => NOW });
    expect(order.filter((step) => step.startsWith('published')).at(-1)).toBe('published iceberg snapshots');
    expect(timesOf(warehouse)).toEqual(['2025-03-01', '2025-03-02', '2025-03-03']);
    expect(await sizesOf(warehouse)).toEqual([2, 4, 5]);
    const files = Object.keys(await icebergFiles(warehouse, 'coverage'));
    expect(files.filter((file) => file.includes('/website=a%2Fb%20%C3%A9%25%2A/'))).toHaveLength(2);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    expect(Object.keys(await icebergFiles(warehouse, 'page_state')).sort()).toEqual(await newestStates(warehouse));
  });

  testAtLength('to what was current when the history began, published at once or nightly', async () => {
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

  testAtLength('to no version that names what retention removed', async () => {
    const { path } = await buildNights([1, 2]);
    await publishIceberg(path);
    const before = Object.keys(await icebergFiles(path, 'coverage'));
    await maintainAt(path, { sections: { iceberg: { enabled: true } } });
    const versions = await icebergSnapshots(path, 'coverage');
    expect(versions.size).toBe(1);
    expect(Object.keys([...versions.values()][0] ?? {}).length).toBeLessThan(before.length);
  });
});

testAtLength('metadata that no version needs is removed after an hour; what a version needs stays', async () => {
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
});

testAtLength('killed after any step, the next sync publishes the same versions', async () => {
  const tables = ['coverage', 'page_state', 'snapshots'];
  const steps = tables.flatMap((table) => [`wrote iceberg ${table}`, `published iceberg ${table}`]);
  const warehouse = until(1);
  await publishIceberg(warehouse, { now: () => NOW });
  addNights(warehouse, 3);
  const clean = copyOf(warehouse);
  const died = (step: string) => join(clean, '..', step.replaceAll(' ', '-'));
  await leftBehind(warehouse, steps, died, () => publishIceberg(warehouse, { now: () => NOW }));
  const whole = await allSnapshots(warehouse);
  for (const step of steps) {
    rmSync(warehouse, { recursive: true });
    renameSync(died(step), warehouse);
    expect(await publishIceberg(warehouse, { now: () => NOW })).toEqual({ behind: 0 });
    expect([step, await allSnapshots(warehouse)]).toEqual([step, whole]);
  }
});

testAtLength('verify finds no difference while they are published, or lack what retention just removed', async () => {
  const differences = (warehouse: string) =>
    withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
      const log = await openLog(engine, warehouse);
      const open = IcebergTables.open(log, { history: 0, place: folderPlace(warehouse) });
      return (await (await open).differences(log)).filter(({ level }) => level === 'difference');
    });
  const warehouse = until(1);
  await publishIceberg(warehouse);
  addNights(warehouse, 2);
  await dyingAt('published iceberg coverage', () => publishIceberg(warehouse));
  expect(await differences(warehouse)).toEqual([]);
  const { path } = await buildNights([1, 2]);
  await publishIceberg(path);
  await dyingAt('wrote the tombstone', () => maintainAt(path));
  expect(await differences(path)).toEqual([]);
});

testAtLength('a table or a hint that is missing, and a folder that was moved, are published again', async () => {
  const warehouse = until(2);
  await publishIceberg(warehouse);
  const before = await icebergSnapshots(warehouse, 'snapshots');
  const whole = await icebergFiles(warehouse, 'coverage');
  rmSync(join(warehouse, 'iceberg', 'coverage'), { recursive: true });
  rmSync(join(folderOf(warehouse, 'snapshots'), 'version-hint.text'));
  await publishIceberg(warehouse);
  expect(await icebergFiles(warehouse, 'coverage')).toEqual(whole);
  expect(await icebergSnapshots(warehouse, 'snapshots')).toEqual(before);
  const moved = copyOf(warehouse);
  expect(await publishIceberg(moved)).toEqual({ behind: 0 });
  const expected = Object.keys(whole).map((file) => file.replace(warehouse, moved));
  expect(Object.keys(await icebergFiles(moved, 'coverage')).sort()).toEqual(expected.sort());
});

once('a column that was added is a schema of its own, and earlier snapshots keep theirs', async () => {
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

testAtLength('nulls are counted in every column, lists and columns that a file lacks included', async () => {
  const warehouse = until(1);
  // As a version wrote it that had one column less.
  const [reports = ''] = await listTableFiles(warehouse, 'url_reports');
  await withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
    const query = `select * exclude (extra) from read_parquet(${literal(reports)}, hive_partitioning = false)`;
    await engine.copy(query, `${reports}.new`, 'format parquet');
    renameSync(`${reports}.new`, reports);
  });
  await publishIceberg(warehouse);
  const counts = await icebergNulls(warehouse, 'url_reports');
  const columns = columnsOf('url_reports');
  expect(Object.keys(counts)).toContain(reports);
  for (const [file, nulls] of Object.entries(counts)) {
    const rows = await readParquet(file);
    const counted = columns.map(({ name }, at) => [at + 1, rows.filter((row) => (row[name] ?? null) === null).length]);
    expect(nulls).toEqual(Object.fromEntries(counted));
  }
});

testAtLength('a state that was rebuilt with another size is published again with the right one', async () => {
  const warehouse = until(2);
  await publishIceberg(warehouse);
  const published = await icebergSizes(warehouse, 'page_state');
  const [state = ''] = Object.keys(published);
  await rewrite(state, 'from self');
  expect(published[state]).not.toBe(statSync(state).size);
  const options = { memoryLimit: 256e6, temporary: temporaryFolder() };
  await withEngine(options, async (engine) => {
    const log = await openLog(engine, warehouse);
    const open = () => IcebergTables.open(log, { history: 0, place: folderPlace(warehouse) });
    expect((await (await open()).differences(log)).map(({ message }) => message)).toEqual([
      `the Iceberg table page_state gives ${state} ${published[state]} bytes, but it has ${statSync(state).size}`,
    ]);
    expect(await catchUp(await open(), log, options)).toEqual({ behind: 0 });
    expect(await (await open()).differences(log)).toEqual([]);
  });
  expect((await icebergSizes(warehouse, 'page_state'))[state]).toBe(statSync(state).size);
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

async function allSnapshots(warehouse: string) {
  return Promise.all(PUBLISHED.map(async (table) => [table, [...(await icebergSnapshots(warehouse, table)).values()]]));
}

async function newestStates(warehouse: string): Promise<string[]> {
  const folders = [ODD, 'shop'].map((website) => stateFolder(warehouse, website));
  return (await Promise.all(folders.map(async (folder) => join(folder, (await namesIn(folder)).at(-1) ?? '')))).sort();
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

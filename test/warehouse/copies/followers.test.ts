import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { MemoryError } from '../../../src/base/storage/engine.js';
import { follow, followersOf } from '../../../src/warehouse/copies/follow.js';
import { copyOf } from '../../given/folder.js';
import { readTable } from '../../given/parquet.js';
import {
  CASES,
  catchUp,
  compared,
  configOf,
  DUCKDB,
  givenNights,
  IS_NEVER_BEHIND,
  lag,
  upToDate,
} from './followers.js';

const given = givenNights();

describe.each(CASES)('$name', (one) => {
  test('is behind until it follows, holds every row, copies nothing twice, and is made again', async () => {
    const warehouse = copyOf(given.path);
    const commits = (await readTable(warehouse, 'snapshots')).length;
    expect(await lag(warehouse, one)).toMatchObject({ behind: commits });
    expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    expect(await lag(warehouse, one)).toMatchObject(IS_NEVER_BEHIND);
    expect(await compared(warehouse, one)).toEqual({ differences: [], repaired: [] });
    expect(await one.rows(warehouse)).toEqual(given.all);
    given.requests.length = 0;
    expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    expect(given.requests.filter((request) => /^PUT .*\/parquet\//.test(request))).toEqual([]);

    one.lose(warehouse);
    expect((await lag(warehouse, one)).behind).toBeGreaterThan(0);
    expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
    expect(await one.rows(warehouse)).toEqual(given.all);
  });
});

test('a broken indexhouse.duckdb lags and says what to do, while the others go on', async () => {
  const warehouse = copyOf(given.path);
  writeFileSync(join(warehouse, 'indexhouse.duckdb'), 'this is no database');
  const [own, other] = await follow(followersOf(configOf(warehouse, DUCKDB)), configOf(warehouse, DUCKDB));
  expect(own).toMatchObject({ name: 'duckdb', reason: expect.stringContaining('delete it') });
  expect(own?.behind).toBeGreaterThan(0);
  expect(other).toEqual({ name: 'analytics', behind: 0 });
  expect(await lag(warehouse, DUCKDB)).toMatchObject({ error: expect.any(String) });
  expect((await compared(warehouse, DUCKDB)).differences).toHaveLength(1);
  DUCKDB.lose(warehouse);
  expect(await catchUp(warehouse, DUCKDB)).toEqual(upToDate(DUCKDB));
});

test('indexhouse.duckdb skips a commit that needs more memory, and names the setting', async () => {
  const warehouse = copyOf(given.path);
  let isShort = true;
  const ended = watchCrashPoints((step) => {
    if (step !== 'followed the data' || !isShort) return;
    isShort = false;
    throw new MemoryError('set `warehouse.memory_limit` to 2GB', {}, {});
  });
  const [skipped] = await catchUp(warehouse, DUCKDB);
  ended();
  expect(skipped?.reason).toMatch(
    /^indexhouse.duckdb skipped 1 snapshot or run, which the next sync tries again. .*: set `warehouse.memory_limit` to 2GB$/,
  );
  expect(await catchUp(warehouse, DUCKDB)).toEqual(upToDate(DUCKDB));
});

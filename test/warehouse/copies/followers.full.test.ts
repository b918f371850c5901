import { readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UnreachableError } from '../../../src/base/exit.js';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { copyOf } from '../../given/folder.js';
import { readTable } from '../../given/parquet.js';
import { maintainAt } from '../../given/thinned.js';
import {
  CASES,
  catchUp,
  compared,
  DUCKDB,
  fileRows,
  followerFor,
  givenNights,
  IS_NEVER_BEHIND,
  upToDate,
  withLog,
} from './followers.js';

const given = givenNights();

describe.each(CASES)('$name', (one) => {
  test('is not behind for a reader whose log was listed before the last night', async () => {
    const warehouse = copyOf(given.path);
    const newest = ['snapshots', 'runs'].map((table) => ({
      there: join(warehouse, 'parquet', table, 'website=shop', 'date=2025-01-03'),
      away: join(warehouse, `newest-${table}`),
    }));
    for (const { there, away } of newest) renameSync(there, away);
    await withLog(warehouse, async (older, options) => {
      for (const { there, away } of newest) renameSync(away, there);
      expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
      const follower = followerFor(warehouse, one);
      expect(await follower.lag(older, options)).toMatchObject(IS_NEVER_BEHIND);
      const { differences } = await follower.compare(older, options, { repair: false });
      expect(differences.filter(({ level }) => level !== 'note')).toEqual([]);
    });
  });

  test('interrupted after any step, it ends up the same', async () => {
    const steps: string[] = [];
    const unwatch = watchCrashPoints((step) => steps.push(step));
    await catchUp(copyOf(given.path), one);
    unwatch();
    expect(steps.length).toBeGreaterThan(1);
    const every = Math.ceil(steps.length / 5);
    for (let at = every - 1; at < steps.length; at += every) {
      given.emptyBucket();
      const warehouse = copyOf(given.path);
      let passed = 0;
      const stop = watchCrashPoints(() => {
        if (passed++ === at) throw new UnreachableError('interrupted');
      });
      expect(await catchUp(warehouse, one)).not.toEqual(upToDate(one));
      stop();
      expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
      expect([steps[at], await one.rows(warehouse)]).toEqual([steps[at], given.all]);
      expect((await compared(warehouse, one)).differences).toEqual([]);
    }
  });

  // Views of its own text hold no commits.
  if (one.name !== 'analytics')
    test('skips a commit whose file is damaged, names it, and takes it once it is whole', async () => {
      const warehouse = copyOf(given.path);
      const [damaged = ''] = (await listTableFiles(warehouse, 'coverage')).filter((path) => path.includes('=shop'));
      const bytes = readFileSync(damaged);
      truncateSync(damaged, bytes.length - 20);
      const [first] = await catchUp(warehouse, one);
      expect(first).toMatchObject({ behind: 1, reason: expect.stringContaining(basename(damaged)) });
      const { differences } = await compared(warehouse, one);
      expect(new Set(differences.map(({ level }) => level))).toEqual(new Set(['lag']));
      const others = (await readTable(warehouse, 'snapshots')).length - 1;
      expect(await one.rows(warehouse)).toMatchObject({ snapshots: others });
      writeFileSync(damaged, bytes);
      expect(await catchUp(warehouse, one)).toEqual(upToDate(one));
      expect(await one.rows(warehouse)).toEqual(given.all);
    });

  test('follows retention', async () => {
    const warehouse = copyOf(given.path);
    await catchUp(warehouse, one);
    const { followers } = await maintainAt(warehouse, { sections: one.sections() });
    // The native file follows by itself, where it is made smaller.
    if (one !== DUCKDB) expect(followers.filter(({ name }) => name === one.name)).toEqual(upToDate(one));
    // What is dropped leaves the bucket an hour later.
    const there = await fileRows(warehouse);
    const kept = await fileRows(warehouse, await droppedIn(warehouse));
    expect(there['coverage']).toBeGreaterThan(kept['coverage'] ?? 0);
    expect(await one.rows(warehouse)).toEqual(one.name === 'bucket' ? there : kept);
    expect((await compared(warehouse, one)).differences).toEqual([]);
  });
});

async function droppedIn(warehouse: string): Promise<ReadonlySet<string>> {
  const tombstones = await readTable(warehouse, 'tombstones');
  return new Set(tombstones.map(({ table_name, snapshot_id }) => `${table_name} ${snapshot_id}`));
}

import { cpSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Home } from '../given/home.js';
import { readTable } from '../given/parquet.js';
import { givenRecovery, type Recovery } from './given-recovery.js';

/** So late that an interrupted run is not resumed. */
const TOO_LATE = { follow: false, laterMs: 7 * 3_600_000 };

let world: Recovery;
beforeAll(async () => {
  world = await givenRecovery([]);
});

/** Takes bytes off the end of a file of the only unfinished run. */
function cut(home: Home, name: string, bytes: number): void {
  const file = join(home.journal('w'), name);
  truncateSync(file, Math.max(0, readFileSync(file).length - bytes));
}

/** How many reports an interrupted run planned. */
function wantedOf(home: Home): number {
  return JSON.parse(readFileSync(join(home.journal('w'), 'planned.json'), 'utf8')).wanted;
}

/** A state that a run died in, what happened to its files since, how many answered reports are requested again, and listings. */
const RESUMED: [how: string, state: string, since: (home: Home) => void, again: number, listings: number][] = [
  ['in the middle of the listing', 'listing', () => {}, 0, 0],
  ['with a torn report', 'reports', (home) => cut(home, 'reports.ndjson', 7), 1, 0],
  ['without the reports', 'reports', (home) => cut(home, 'reports.ndjson', 1e9), 1e9, 0],
];

test.each(RESUMED)('a run that died %s ends up as if it had not died', async (_, state, since, again, listings) => {
  const home = world.died(state);
  const had = home.journaled('w');
  since(home);
  const receipt = await home.syncOne({ follow: false });
  expect(receipt).toMatchObject({ status: 'committed', reports_status: 'complete', resumed: true });
  const expected = Math.min(again, had.length);
  expect(receipt.reports).toMatchObject({ reused: had.length - expected, left: 0 });
  expect(home.asked().filter((url) => had.includes(url))).toHaveLength(expected);
  expect(world.listings()).toBe(listings);
  await world.expectAsUnbroken(home);
});

test('a listing that was interrupted for more than ten minutes starts over, in the same run', async () => {
  const home = world.died('listing');
  const [runId] = home.unfinished();
  const { run_id, websites } = await home.sync({ follow: false, laterMs: 20 * 60_000 });
  expect(run_id).toBe(runId);
  expect(websites).toMatchObject([{ status: 'committed', listing_status: 'complete', resumed: true }]);
  expect(world.listings()).toBe(1);
  const [before = '', row = ''] = world.unbroken['snapshots'] ?? [];
  const snapshots = [before, row.replace('"walks":1', '"walks":2')];
  await world.expectAsUnbroken(home, { ...world.unbroken, snapshots });
});

test('reports that are too old to be resumed are committed as interrupted, and a new run starts', async () => {
  const home = world.died('reports');
  const [had, wanted, runId] = [home.journaled('w').length, wantedOf(home), home.unfinished()[0]];
  const { websites } = await home.sync(TOO_LATE);
  expect(websites).toMatchObject([{ status: 'committed', reports_status: 'complete', resumed: false }]);
  const snapshots = await readTable(home.warehouse, 'snapshots');
  const old = snapshots.find((row) => row['run_id'] === runId);
  expect(old).toMatchObject({ reports_status: 'interrupted', reports_planned: had, utilisation: null });
  expect(old?.['reports_wanted']).toBe(wanted);
  expect(snapshots).toHaveLength(3);
});

test('of two unfinished runs the newest is resumed, and the other one ends without a snapshot', async () => {
  const [older, home] = [world.died('listing'), world.died('reports')];
  const [[old = ''], [newest = '']] = [older.unfinished(), home.unfinished()];
  cpSync(join(older.warehouse, 'runs', old), join(home.warehouse, 'runs', old), { recursive: true });
  expect(await home.sync({ follow: false })).toMatchObject({ run_id: newest, websites: [{ resumed: true }] });
  const outcomes = (await readTable(home.warehouse, 'runs')).map(({ run_id, outcome }) => [run_id, outcome]);
  expect(outcomes).toContainEqual([old, 'failed']);
  expect(outcomes).toContainEqual([newest, 'committed']);
  expect(world.listings()).toBe(0);
});

test('the run of a website that is no longer configured is committed as it is, without a request', async () => {
  const home = world.died('reports');
  const [had, wanted] = [home.journaled('w').length, wantedOf(home)];
  home.configure(['other']);
  const { websites } = await home.sync({ follow: false, recoverOnly: true });
  expect(websites).toMatchObject([{ website_id: 'w', status: 'committed', reports_status: 'interrupted' }]);
  expect(websites[0]?.error).toContain('no longer part of this run');
  expect(websites[0]?.reports).toMatchObject({ planned: had, left: wanted - had });
  expect(world.simulator.requests.attempted).toBe(0);
});

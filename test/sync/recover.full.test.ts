import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, expect, test } from 'vitest';
import { runExitCode } from '../../src/sync/receipt.js';
import { runProcess } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import type { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import { readTable } from '../given/parquet.js';
import { cut, givenRecovery, type Recovery, TOO_LATE, wantedOf, wrong } from './given-recovery.js';

/** Every step behind which a run may die, from the end of the walk to the last follower. */
const STEPS = [
  ...['listed', 'wrote the plan', 'planned', 'staged coverage', 'staged url_reports', 'staged page_state'],
  ...['wrote the manifest', 'moved url_reports', 'moved page_versions', 'moved page_state', 'recorded the run'],
  ...['dropped the journal', 'followed the marker', 'followed all markers'],
];
/** Where a process is killed indeed; elsewhere its files are copied at the step, which leaves the same. */
const KILLED = ['fetched', 'moved coverage', 'wrote the marker', 'followed the data'];

let world: Recovery;
beforeAll(async () => {
  world = await givenRecovery([...STEPS, ...KILLED]);
});

/** A state that a run died in, what happened to its files since, and how many answered reports are requested again. */
const RESUMED: [state: string, of: string, since: (home: Home) => void, again?: number][] = [
  ['in the middle of the reports', 'reports', () => {}],
  ['with an empty listing', 'listing', (home) => cut(home, 'listing.ndjson', 1e9)],
  ['without the reports', 'reports', (home) => cut(home, 'reports.ndjson', 1e9), Number.POSITIVE_INFINITY],
  ['while it wrote the plan', 'wrote the plan', (home) => cut(home, 'plan.ndjson', 500)],
  [
    'beside what is no journal',
    'reports',
    ({ warehouse }) => mkdirSync(join(warehouse, 'runs', uuidv7(), '%zz'), { recursive: true }),
  ],
];

test.each(RESUMED)('a run that died %s ends up as if it had not died', async (name, of, since, again = 0) => {
  const home = world.died(of);
  const had = home.journaled('w');
  since(home);
  const receipt = await home.syncOne({ follow: false });
  expect(receipt).toMatchObject({ status: 'committed', reports_status: 'complete', resumed: true });
  const expected = Math.min(again, had.length);
  expect(receipt.reports).toMatchObject({ reused: had.length - expected, left: 0 });
  expect(home.asked().filter((url) => had.includes(url))).toHaveLength(expected);
  if (name.includes('no journal')) {
    const [foreign = ''] = home.unfinished();
    rmSync(join(home.warehouse, 'runs', foreign), { recursive: true });
  }
  await world.expectAsUnbroken(home);
});

test.each([...STEPS, ...KILLED])(
  'a run that died behind a step is recovered as if it had not died: %s',
  async (step) => {
    const home = world.died(KILLED.includes(step) ? 'first' : step);
    if (KILLED.includes(step)) {
      const killed = await runProcess(['sync', '--config', home.config], { env: { INDEXHOUSE_TEST_CRASH_AT: step } });
      expect(killed.signal).toBe('SIGKILL');
    }
    expect(runExitCode(await home.sync({ recoverOnly: true }))).toBe(0);
    await world.expectAsUnbroken(home);
  },
);

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

test('a listing that is too old to be resumed is recorded as failed, and a new run starts', async () => {
  const home = world.died('listing');
  const [runId] = home.unfinished();
  const { websites } = await home.sync(TOO_LATE);
  expect(websites).toMatchObject([{ status: 'committed', resumed: false }]);
  const dropped = (await readTable(home.warehouse, 'runs')).find((row) => row['run_id'] === runId);
  expect(dropped).toMatchObject({ outcome: 'failed', error: expect.stringContaining('too long ago') });
  expect(await readTable(home.warehouse, 'snapshots')).toHaveLength(2);
  expect(await wrong(home)).toEqual([]);
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

test('a run that was interrupted long ago while it committed is committed whole', async () => {
  const home = world.died('moved url_reports');
  const [runId] = home.unfinished();
  await home.sync(TOO_LATE);
  const old = (await readTable(home.warehouse, 'snapshots')).find((row) => row['run_id'] === runId);
  expect(old).toMatchObject({ reports_status: 'complete', listing_status: 'complete' });
});

test('a run is finished although the service does not list the websites', async () => {
  const home = world.died('planned');
  const config = JSON.parse(readFileSync(home.config, 'utf8'));
  writeFileSync(home.config, JSON.stringify({ ...config, websites: 'all' }));
  world.simulator.setFaults({ redirect: 1 }, ['key']);
  const { websites, error } = await home.sync({ follow: false });
  world.simulator.setFaults({});
  expect([websites.map(({ status }) => status), error]).toEqual([['committed'], undefined]);
});

test('a run that died after the commit of one of two websites is resumed for the other', async () => {
  const both = world.died('first');
  both.configure(['w', 'other']);
  const folder = join(temporaryFolder(), 'left');
  await leftBehind(
    both.folder,
    ['dropped the journal'],
    () => folder,
    () => both.sync({ follow: false }),
  );
  const home = both.at(folder);
  home.configure(['w', 'other']);
  const committed = (await readTable(home.warehouse, 'snapshots')).at(-1);
  world.simulator.requests.reset();
  const { run_id, websites } = await home.sync({ follow: false });
  expect(run_id).toBe(committed?.['run_id']);
  expect(websites).toHaveLength(1);
  expect(websites[0]?.website_id).not.toBe(committed?.['website_id']);
  const again = `/v1/urls/${committed?.['website_id']}?`;
  expect([...world.simulator.requests.byRequest.keys()].filter((request) => request.startsWith(again))).toEqual([]);
});

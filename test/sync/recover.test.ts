import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { setAsideIfDamaged } from '../../src/sync/journal/set-aside.js';
import { runExitCode } from '../../src/sync/receipt.js';
import { journalFolder } from '../../src/warehouse/journal/folder.js';
import { readHeader } from '../../src/warehouse/journal/header.js';
import type { Home } from '../given/home.js';
import { readTable } from '../given/parquet.js';
import { A_FEW, expectRecovered, givenRecovery, type Recovery } from './given-recovery.js';

/** So late that an interrupted run is not resumed. */
const TOO_LATE = { follow: false, laterMs: 7 * 3_600_000 };
const NEWLINE = 0x0a;

let world: Recovery;
beforeAll(async () => {
  world = await givenRecovery([...A_FEW, 'wrote the plan']);
});

/** Takes bytes off the end of a file of the only unfinished run. */
function cut(home: Home, name: string, bytes: number): void {
  const file = join(home.journal('w'), name);
  truncateSync(file, Math.max(0, readFileSync(file).length - bytes));
}

/** What `verify` finds. Where no follower runs, that they lag is no fault. */
async function wrong(home: Home) {
  return (await home.wrong()).filter(({ level }) => level !== 'lag');
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
  ['while it wrote the plan', 'wrote the plan', (home) => cut(home, 'plan.ndjson', 500), 0, 0],
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

test.each(A_FEW)('a run that died behind a step is recovered as if it had not died: %s', (step) =>
  expectRecovered(world, step),
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

type Damage = (journal: string) => void;

function edit(name: string, change: (bytes: Buffer) => Buffer | string): Damage {
  return (journal) => writeFileSync(join(journal, name), change(readFileSync(join(journal, name))));
}

/** Flips bits in the middle of the third line. */
const flip: Damage = edit('reports.ndjson', (all) => {
  const third = all.indexOf(NEWLINE, all.indexOf(NEWLINE) + 1) + 1;
  all.write('~', third + 40);
  return all;
});

const DAMAGES: [what: string, says: RegExp, damage: Damage][] = [
  ['a flipped bit in a value of a report', /line 3 of reports/, flip],
  [
    'a folder for the reports',
    /reports.ndjson is a folder/,
    (journal) => {
      rmSync(join(journal, 'reports.ndjson'));
      mkdirSync(join(journal, 'reports.ndjson'));
    },
  ],
  ['a listing without its end', /lacks its end/, edit('listing.ndjson', (bytes) => bytes.subarray(0, -30))],
  [
    'data after the end of the listing',
    /data after its end/,
    edit('listing.ndjson', (bytes) => `${bytes}{"kind":"ent`),
  ],
  [
    'a flipped bit in the header',
    /run.json is damaged/,
    edit('run.json', (bytes) => bytes.toString().replace('"resumed":0', '"resumed":1')),
  ],
  ['a header of a later format', /journal format 99/, edit('run.json', () => '{"journal_format":99}')],
  ['a garbage count of the plan', /planned.json is damaged/, edit('planned.json', () => '{"pla')],
  [
    'a page that is gone from the plan',
    /plan.ndjson is damaged/,
    edit('plan.ndjson', (bytes) => bytes.toString().split('\n').toSpliced(29, 1).join('\n')),
  ],
];

test.each(DAMAGES)('a journal is set aside because of %s', async (_, says, damage) => {
  const home = world.died('reports');
  const [runId = ''] = home.unfinished();
  const journal = journalFolder(home.warehouse, runId, 'w');
  const header = (await readHeader(journal)) ?? expect.fail('the journal has no header');
  damage(journal.path);
  const damaged = bytesIn(journal.path);
  const found = await setAsideIfDamaged(journal, { warehouse: home.warehouse, newHeader: () => header });
  expect(found?.damage).toMatch(says);
  expect(bytesIn(join(home.warehouse, found?.folder ?? ''))).toEqual(damaged);
  expect(Object.keys(bytesIn(journal.path))).toEqual(['run.json']);
});

function bytesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(names.map(({ name }) => [name, readFileSync(join(folder, name), 'latin1')]));
}

test('the run of a damaged journal starts over, says so, and commits what an undamaged run would have', async () => {
  const home = world.died('reports');
  const [runId = ''] = home.unfinished();
  const earlier = join(home.warehouse, 'runs', 'damaged', runId, 'w');
  mkdirSync(earlier, { recursive: true });
  flip(home.journal('w'));
  const receipt = await home.sync({ follow: false });
  const [website] = receipt.websites;
  expect([receipt.run_id, runExitCode(receipt)]).toEqual([runId, 3]);
  expect(website).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'complete' });
  expect(website?.error).toMatch(/line 3 of reports/);
  // It never takes the place of an earlier one.
  expect(website?.set_aside).toBe(join('runs', 'damaged', runId, 'w.2'));
  expect([readdirSync(earlier), existsSync(join(`${earlier}.2`, 'reports.ndjson'))]).toEqual([[], true]);
  const run = (await readTable(home.warehouse, 'runs')).find((row) => row['run_id'] === runId);
  expect(run?.['error']).toContain(website?.set_aside);
  await world.expectAsUnbroken(home);
});

test('a commit whose staged files are damaged is staged again from the journal', async () => {
  const home = world.died('moved coverage');
  for (const name of ['page_state.staged', 'url_reports.staged']) {
    const file = join(home.journal('w'), 'staged', name);
    if (existsSync(file)) writeFileSync(file, 'x');
  }
  expect(await home.syncOne({ follow: false })).toMatchObject({ status: 'committed' });
  await world.expectAsUnbroken(home);
  expect(home.asked()).toEqual([]);
});

test('a commit that has its marker is not repeated, whatever is damaged of its journal', async () => {
  const home = world.died('wrote the marker');
  for (const name of ['run.json', 'staged/manifest.json']) edit(name, () => 'x')(home.journal('w'));
  await home.sync({ recoverOnly: true, follow: false });
  expect(await readTable(home.warehouse, 'snapshots')).toHaveLength(2);
  expect((await readTable(home.warehouse, 'runs')).map(({ outcome }) => outcome)).toEqual(['committed', 'committed']);
  expect(await wrong(home)).toEqual([]);
});

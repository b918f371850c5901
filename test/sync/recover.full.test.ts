import { mkdirSync, mkdtempSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Simulator } from '../../src/app/demo/simulator/simulator.js';
import { runExitCode } from '../../src/sync/receipt.js';
import { runProcess } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { contentOf, countFiles } from '../given/content.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import { readTable } from '../given/parquet.js';

const MINUTE_MS = 60_000;
const TOO_LATE_MS = 7 * 60 * MINUTE_MS;
/** Every step behind which a run may die, from the end of the walk to the last follower. */
const STEPS = [
  ...['listed', 'wrote the plan', 'planned', 'fetched', 'staged coverage', 'staged url_reports', 'staged page_state'],
  ...['staged all', 'wrote the manifest', 'moved coverage', 'moved url_reports', 'moved page_versions'],
  ...['moved page_state', 'wrote the marker', 'recorded the run', 'dropped the journal', 'followed the data'],
  ...['followed the marker', 'followed all markers'],
];
/** Where a process is killed indeed; elsewhere its files are copied at the step, which leaves the same. */
const KILLED = ['fetched', 'moved coverage', 'wrote the marker', 'followed the data'];

let simulator: Simulator;
let root: string;
let first: Home;
/** The same night, interrupted in the middle of the listing, and of the reports. */
let inListing: Home;
let inReports: Home;
let unbroken: Record<string, string[]>;
let unbrokenFiles: number;
let home: Home;

beforeAll(async () => {
  root = temporaryFolder();
  simulator = await startSimulator({ maxLimit: 20, seed: 3, nights: 5, websites: [{ id: 'w', pages: 80 }] });
  first = new Home(folderOf(), simulator, ['w']);
  await first.sync({ follow: false });
  // Several nights, so that pages appear, go, and change.
  simulator.advance(4);
  const whole = first.copyTo(folderOf());
  await leftBehind(whole.folder, STEPS, leftAt, () => whole.sync());
  unbroken = await contentOf(whole.warehouse);
  if (!unbroken['page_versions']?.length) throw new Error('the nights changed nothing: there is nothing to compare');
  unbrokenFiles = await countFiles(whole.warehouse);
  inListing = await stopped({ pages: 30 });
  inReports = await stopped({ reports: 20 });
});

beforeEach(() => simulator.requests.reset());

/** A state that a run died in, what happened to its files since, and how many answered reports are requested again. */
const RESUMED: [state: string, begin: () => Home, since: () => void, again?: number][] = [
  ['in the middle of the listing', () => inListing, () => {}],
  ['in the middle of the reports', () => inReports, () => {}],
  ['with an empty listing', () => inListing, () => truncateSync(fileOf('listing.ndjson'), 0)],
  ['with a torn report', () => inReports, () => cut('reports.ndjson', 7), 1],
  ['without the reports', () => inReports, () => truncateSync(fileOf('reports.ndjson'), 0), Number.POSITIVE_INFINITY],
  ['while it wrote the plan', () => died('wrote the plan'), () => cut('plan.ndjson', 500)],
];

test.each(RESUMED)('a run that died %s ends up as if it had not died', async (_, begin, since, again = 0) => {
  home = begin().copyTo(folderOf());
  const had = home.journaled('w');
  since();
  const receipt = await syncOne();
  expect(receipt).toMatchObject({ status: 'committed', reports_status: 'complete', resumed: true });
  const expected = Math.min(again, had.length);
  expect(receipt.reports).toMatchObject({ reused: had.length - expected, left: 0 });
  expect(home.asked().filter((url) => had.includes(url))).toHaveLength(expected);
  if (begin() === inReports) expect(firstWindows()).toBe(0);
  await expectAsUnbroken();
});

test.each(STEPS)('a run that died behind a step is recovered as if it had not died: %s', async (step) => {
  home = KILLED.includes(step) ? first.copyTo(folderOf()) : died(step).copyTo(folderOf());
  if (KILLED.includes(step)) {
    const killed = await runProcess(['sync', '--config', home.config], { env: { INDEXHOUSE_TEST_CRASH_AT: step } });
    expect(killed.signal).toBe('SIGKILL');
  }
  expect(runExitCode(await home.sync({ recoverOnly: true }))).toBe(0);
  await expectAsUnbroken();
  expect(await countFiles(home.warehouse)).toBe(unbrokenFiles);
  expect(await home.wrong()).toEqual([]);
});

test('a run that died before it wrote anything is dropped', async () => {
  home = first.copyTo(folderOf());
  mkdirSync(join(home.warehouse, 'runs', uuidv7(), 'w'), { recursive: true });
  expect(await syncOne()).toMatchObject({ status: 'committed', resumed: false });
  await expectAsUnbroken();
});

test('a listing that was interrupted for more than ten minutes starts over, in the same run', async () => {
  home = inListing.copyTo(folderOf());
  const [runId] = home.unfinished();
  const { run_id, websites } = await home.sync({ follow: false, laterMs: 20 * MINUTE_MS });
  expect(run_id).toBe(runId);
  expect(websites).toMatchObject([{ status: 'committed', listing_status: 'complete', resumed: true }]);
  expect(firstWindows()).toBe(1);
  const [before = '', row = ''] = unbroken['snapshots'] ?? [];
  await expectAsUnbroken({ ...unbroken, snapshots: [before, row.replace('"walks":1', '"walks":2')] });
});

test('a listing that is too old to be resumed is recorded as failed, and a new run starts', async () => {
  home = inListing.copyTo(folderOf());
  const [runId] = home.unfinished();
  const { websites } = await home.sync({ follow: false, laterMs: TOO_LATE_MS });
  expect(websites).toMatchObject([{ status: 'committed', resumed: false }]);
  const dropped = (await readTable(home.warehouse, 'runs')).find((row) => row['run_id'] === runId);
  expect(dropped).toMatchObject({ outcome: 'failed', error: expect.stringContaining('too long ago') });
  expect(await readTable(home.warehouse, 'snapshots')).toHaveLength(2);
  expect(await wrong()).toEqual([]);
});

test('reports that are too old to be resumed are committed as interrupted, and a new run starts', async () => {
  home = inReports.copyTo(folderOf());
  const [had, wanted, runId] = [home.journaled('w').length, wantedOf(home), home.unfinished()[0]];
  const { websites } = await home.sync({ follow: false, laterMs: TOO_LATE_MS });
  expect(websites).toMatchObject([{ status: 'committed', reports_status: 'complete', resumed: false }]);
  const snapshots = await readTable(home.warehouse, 'snapshots');
  const old = snapshots.find((row) => row['run_id'] === runId);
  expect(old).toMatchObject({ reports_status: 'interrupted', reports_planned: had, utilisation: null });
  expect(old?.['reports_wanted']).toBe(wanted);
  expect(snapshots).toHaveLength(3);
  expect(await wrong()).toEqual([]);
});

test('the run of a website that is no longer configured is committed as it is, without a request', async () => {
  home = inReports.copyTo(folderOf());
  const [had, wanted] = [home.journaled('w').length, wantedOf(home)];
  home.configure(['other']);
  const { websites } = await home.sync({ follow: false, recoverOnly: true });
  expect(websites).toMatchObject([{ website_id: 'w', status: 'committed', reports_status: 'interrupted' }]);
  expect(websites[0]?.error).toContain('no longer part of this run');
  expect(websites[0]?.reports).toMatchObject({ planned: had, left: wanted - had });
  expect(simulator.requests.attempted).toBe(0);
  expect(await wrong()).toEqual([]);
});

test('a run that was interrupted long ago while it committed is committed whole', async () => {
  home = died('moved coverage').copyTo(folderOf());
  const [runId] = home.unfinished();
  await home.sync({ follow: false, laterMs: TOO_LATE_MS });
  const old = (await readTable(home.warehouse, 'snapshots')).find((row) => row['run_id'] === runId);
  expect(old).toMatchObject({ reports_status: 'complete', listing_status: 'complete' });
  expect(await wrong()).toEqual([]);
});

test('a run is finished although the service does not list the websites', async () => {
  home = died('fetched').copyTo(folderOf());
  const config = JSON.parse(readFileSync(home.config, 'utf8'));
  writeFileSync(home.config, JSON.stringify({ ...config, websites: 'all' }));
  simulator.setFaults({ redirect: 1 }, ['key']);
  const { websites, error } = await home.sync({ follow: false });
  simulator.setFaults({});
  expect([websites.map(({ status }) => status), error]).toEqual([['committed'], undefined]);
  await expectAsUnbroken();
});

function folderOf(): string {
  return mkdtempSync(join(root, 'home-'));
}

async function stopped(stopAfter: { pages?: number; reports?: number }): Promise<Home> {
  const interrupted = first.copyTo(folderOf());
  await expect(interrupted.sync({ follow: false, stopAfter })).rejects.toThrow('resumes the run');
  return interrupted;
}

function leftAt(step: string): string {
  return join(root, step.replaceAll(' ', '-'));
}

/** What a process that is killed behind this step leaves. */
function died(step: string): Home {
  return new Home(leftAt(step), simulator, ['w']);
}

function syncOne() {
  return home.syncOne({ follow: false });
}

function fileOf(name: string): string {
  return join(home.journal('w'), name);
}

function cut(name: string, bytes: number): void {
  truncateSync(fileOf(name), readFileSync(fileOf(name)).length - bytes);
}

function wantedOf(of: Home): number {
  return JSON.parse(readFileSync(join(of.journal('w'), 'planned.json'), 'utf8')).wanted;
}

/** How often the listing was begun. */
function firstWindows(): number {
  return [...simulator.requests.byRequest].find(([request]) => /urls\/.*skip=0/.test(request))?.[1].answered ?? 0;
}

/** No follower runs here: that they lag is no fault. */
async function wrong() {
  return (await home.wrong()).filter(({ level }) => level !== 'lag');
}

async function expectAsUnbroken(expected = unbroken): Promise<void> {
  expect(readdirSync(join(home.warehouse, 'runs'))).toEqual([]);
  const content = await contentOf(home.warehouse);
  for (const [table, rows] of Object.entries(expected)) expect([table, content[table]]).toEqual([table, rows]);
}

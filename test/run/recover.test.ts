import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.js';
import { atLength, casesAtLength, testAtLength } from '../given/at-length.js';
import { startSimulator } from '../given/client-clock.js';
import { contentOf } from '../given/content.js';
import { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import { readTable } from '../given/parquet.js';

const MINUTE_MS = 60_000;
const TOO_LATE_MS = 7 * 60 * MINUTE_MS;
const PAGES = 80;
const IS_FOLLOWED = atLength(false, true);
/** Steps behind which a run of these tests died. */
const STEPS = atLength(
  ['wrote the marker'],
  ['wrote the plan', 'fetched', 'wrote the manifest', 'moved coverage', 'wrote the marker', 'recorded the run'],
);

let simulator: Simulator;
let root: string;
let first: Home;
let unbroken: Record<string, string[]>;
let home: Home;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'indexhouse-recover-'));
  simulator = await startSimulator({ seed: 3, nights: 5, websites: [{ id: 'w', pages: PAGES }] });
  first = new Home(folderOf(), simulator, ['w']);
  await first.sync({ follow: IS_FOLLOWED });
  // Several nights, so that pages appear, go, and change.
  simulator.advance(4);
  const whole = first.copyTo(folderOf());
  await leftBehind(whole.folder, STEPS, leftAt, () => whole.sync({ follow: IS_FOLLOWED }));
  unbroken = await contentOf(whole.warehouse);
  if (!unbroken['page_changes']?.length) throw new Error('the nights changed nothing: there is nothing to compare');
});

afterAll(async () => {
  await simulator.close();
  rmSync(root, { recursive: true, force: true });
});

beforeEach(() => {
  home = first.copyTo(folderOf());
  simulator.requests.reset();
});

describe('a run that died', () => {
  testAtLength('before it wrote what it is: its folder goes, and a new run starts', async () => {
    mkdirSync(join(home.warehouse, 'runs', uuidv7(), 'w'), { recursive: true });
    expect(await home.syncOne({ follow: IS_FOLLOWED })).toMatchObject({ status: 'committed', resumed: false });
    await expectAsUnbroken();
  });

  describe('in the middle of the listing', () => {
    let interrupted: Home;
    beforeAll(async () => {
      interrupted = await stopped({ pages: 30 });
    });
    beforeEach(() => {
      home = interrupted.copyTo(folderOf());
    });

    test('goes on with the listing within ten minutes', async () => {
      expect(await home.syncOne({ follow: IS_FOLLOWED, laterMs: 5 * MINUTE_MS })).toMatchObject({
        status: 'committed',
        resumed: true,
      });
      expect(firstWindows()).toBe(0);
      await expectAsUnbroken();
    });

    test('lists anew after ten minutes, in the same run', async () => {
      const [runId] = home.unfinished();
      const { run_id, websites } = await home.sync({ follow: IS_FOLLOWED, laterMs: 20 * MINUTE_MS });
      expect(run_id).toBe(runId);
      expect(websites).toMatchObject([{ status: 'committed', listing_status: 'complete', resumed: true }]);
      expect(firstWindows()).toBe(1);
      const twice = (unbroken['snapshots'] ?? []).map((row, at) =>
        at === 1 ? row.replace('"walks":1', '"walks":2') : row,
      );
      await expectAsUnbroken({ ...unbroken, snapshots: twice });
    });

    testAtLength('is dropped with a line in runs when it is too old, and a new run starts', async () => {
      const [runId] = home.unfinished();
      const { run_id, websites } = await home.sync({ follow: IS_FOLLOWED, laterMs: TOO_LATE_MS });
      expect(run_id).not.toBe(runId);
      expect(websites).toMatchObject([{ status: 'committed', resumed: false }]);
      const dropped = (await readTable(home.warehouse, 'runs')).find((row) => row['run_id'] === runId);
      expect(dropped).toMatchObject({ outcome: 'failed', error: expect.stringContaining('too long ago') });
      expect(await readTable(home.warehouse, 'snapshots')).toHaveLength(2);
      expect(await wrong()).toEqual([]);
    });

    testAtLength('goes on behind the last whole line where the last one is torn', async () => {
      const listing = join(home.journal('w'), 'listing.ndjson');
      truncateSync(listing, readFileSync(listing).length - 7);
      expect(await home.syncOne({ follow: IS_FOLLOWED })).toMatchObject({ status: 'committed', resumed: true });
      await expectAsUnbroken();
    });

    testAtLength('begins the listing where its journal is empty', async () => {
      truncateSync(join(home.journal('w'), 'listing.ndjson'), 0);
      expect(await home.syncOne({ follow: IS_FOLLOWED })).toMatchObject({ status: 'committed', resumed: true });
      await expectAsUnbroken();
    });
  });

  describe('in the middle of the reports', () => {
    let interrupted: Home;
    let had: string[];
    let planned: number;
    beforeAll(async () => {
      interrupted = await stopped({ reports: 20 });
      had = interrupted.journaled('w');
      planned = JSON.parse(readFileSync(join(interrupted.journal('w'), 'planned.json'), 'utf8')).wanted;
    });
    beforeEach(() => {
      home = interrupted.copyTo(folderOf());
    });

    test('goes on, and asks for no answered report again', async () => {
      expect(had.length).toBeGreaterThanOrEqual(20);
      const receipt = await home.syncOne({ follow: IS_FOLLOWED });
      expect(receipt).toMatchObject({ status: 'committed', reports_status: 'complete', resumed: true });
      expect(receipt.reports.reused).toBe(had.length);
      expect(receipt.reports).toMatchObject({ left: 0, by_reason: await countedByReason() });
      expect(home.asked().filter((url) => had.includes(url))).toEqual([]);
      expect(firstWindows()).toBe(0);
      await expectAsUnbroken();
    });

    test('is committed as interrupted when it is too old; then a new run starts', async () => {
      const [runId] = home.unfinished();
      const { run_id, websites } = await home.sync({ follow: IS_FOLLOWED, laterMs: TOO_LATE_MS });
      expect(run_id).not.toBe(runId);
      expect(websites).toMatchObject([{ status: 'committed', reports_status: 'complete', resumed: false }]);
      const old = (await readTable(home.warehouse, 'snapshots')).find((row) => row['run_id'] === runId);
      expect(old).toMatchObject({ reports_status: 'interrupted', reports_planned: had.length, utilisation: null });
      expect(old?.['reports_wanted']).toBe(planned);
      expect(total(old?.['reports_by_reason'])).toBe(had.length);
      expect(await readTable(home.warehouse, 'snapshots')).toHaveLength(3);
      expect(await wrong()).toEqual([]);
    });

    test('is finished, and nothing else, by --recover', async () => {
      const [runId] = home.unfinished();
      const { run_id, websites } = await home.sync({ follow: IS_FOLLOWED, recoverOnly: true });
      expect([run_id, websites.length]).toEqual([runId, 1]);
      await expectAsUnbroken();
      expect(await home.sync({ follow: IS_FOLLOWED, recoverOnly: true })).toMatchObject({ run_id: null, websites: [] });
    });

    testAtLength(
      'is committed as it is, without a request, where its website was taken out of the configuration',
      async () => {
        home.configure(['other']);
        const { websites } = await home.sync({ follow: IS_FOLLOWED, recoverOnly: true });
        expect(websites).toMatchObject([{ website_id: 'w', status: 'committed', reports_status: 'interrupted' }]);
        expect(websites[0]?.error).toContain('no longer part of this run');
        expect(websites[0]?.reports).toMatchObject({ planned: had.length, left: planned - had.length });
        expect(total(websites[0]?.reports.by_reason)).toBe(had.length);
        expect(simulator.requests.attempted).toBe(0);
        expect(await wrong()).toEqual([]);
      },
    );

    test('asks again only for the report whose line is torn', async () => {
      const reports = join(home.journal('w'), 'reports.ndjson');
      truncateSync(reports, readFileSync(reports).length - 7);
      expect((await home.syncOne({ follow: IS_FOLLOWED })).reports.reused).toBe(had.length - 1);
      expect(home.asked().filter((url) => had.includes(url))).toEqual([had.at(-1)]);
      await expectAsUnbroken();
    });

    testAtLength('asks again for a report whose last line is damaged, without an error', async () => {
      const reports = join(home.journal('w'), 'reports.ndjson');
      const bytes = readFileSync(reports);
      bytes[bytes.length - 3] = 0;
      writeFileSync(reports, bytes);
      expect((await home.syncOne({ follow: IS_FOLLOWED })).reports.reused).toBe(had.length - 1);
      await expectAsUnbroken();
    });

    testAtLength('fetches all where the journal of reports is empty', async () => {
      truncateSync(join(home.journal('w'), 'reports.ndjson'), 0);
      expect(await home.syncOne({ follow: IS_FOLLOWED })).toMatchObject({
        status: 'committed',
        resumed: true,
        reports: { reused: 0 },
      });
      await expectAsUnbroken();
    });
  });

  testAtLength('while it wrote the plan: the plan is made anew', async () => {
    died('wrote the plan');
    const plan = join(home.journal('w'), 'plan.ndjson');
    truncateSync(plan, Math.floor(readFileSync(plan).length / 2));
    writeFileSync(`${plan}.tmp`, '{"url":');
    expect(await home.syncOne({ follow: IS_FOLLOWED })).toMatchObject({ status: 'committed', resumed: true });
    await expectAsUnbroken();
  });

  testAtLength('behind its manifest, which is damaged now: the files are made anew from the journal', async () => {
    died('wrote the manifest');
    writeFileSync(join(home.journal('w'), 'staged', 'manifest.json'), '{"website_id": "w", ');
    simulator.requests.reset();
    expect(await home.syncOne({ follow: IS_FOLLOWED })).toMatchObject({ status: 'committed' });
    expect(simulator.requests.attempted).toBe(0);
    await expectAsUnbroken();
  });

  testAtLength('while it renamed, long ago: the commit is finished as it was, then a new run starts', async () => {
    died('moved coverage');
    const [runId] = home.unfinished();
    const { run_id } = await home.sync({ follow: IS_FOLLOWED, laterMs: TOO_LATE_MS });
    expect(run_id).not.toBe(runId);
    const old = (await readTable(home.warehouse, 'snapshots')).find((row) => row['run_id'] === runId);
    expect(old).toMatchObject({ reports_status: 'complete', listing_status: 'complete' });
    expect(await wrong()).toEqual([]);
  });

  testAtLength('is finished although the service does not say which websites there are', async () => {
    died('fetched');
    const config = JSON.parse(readFileSync(home.config, 'utf8'));
    writeFileSync(home.config, JSON.stringify({ ...config, websites: 'all' }));
    simulator.setFaults({ redirect: 1 }, ['key']);
    const { websites, error } = await home.sync({ follow: IS_FOLLOWED });
    expect([websites.map(({ status }) => status), error]).toEqual([['committed'], undefined]);
    simulator.setFaults({});
    await expectAsUnbroken();
  });

  test.for<readonly [string, number]>(
    casesAtLength(
      [
        ['wrote the marker', 1],
        ['recorded the run', 0],
      ],
      'wrote the marker',
    ),
  )('%s: --recover brings the rest up to date and starts nothing', async ([step, finished]) => {
    died(step);
    simulator.requests.reset();
    // The reader hears that something is missing, not that something is wrong.
    expect((await home.verify()).findings.filter(({ level }) => level === 'difference')).toEqual([]);
    const { websites } = await home.sync({ follow: IS_FOLLOWED, recoverOnly: true });
    expect(simulator.requests.attempted).toBe(0);
    await expectAsUnbroken();
    const byReason = await countedByReason();
    const afterwards = { status: 'committed', reports: { left: 0, by_reason: byReason } };
    expect(websites).toMatchObject(Array.from({ length: finished }, () => afterwards));
  });
});

function folderOf(): string {
  return mkdtempSync(join(root, 'home-'));
}

async function stopped(stopAfter: { pages?: number; reports?: number }): Promise<Home> {
  const interrupted = first.copyTo(folderOf());
  await expect(interrupted.sync({ follow: IS_FOLLOWED, stopAfter })).rejects.toThrow('resumes the run');
  expect(interrupted.unfinished()).toHaveLength(1);
  return interrupted;
}

function leftAt(step: string): string {
  return join(root, step.replaceAll(' ', '-'));
}

/** Puts in the place of the home what a process that is killed behind this step leaves of it. */
function died(step: string): void {
  home = new Home(leftAt(step), simulator, ['w']).copyTo(folderOf());
}

/** What the newest snapshot counts for each reason. */
async function countedByReason(): Promise<unknown> {
  const snapshots = await readTable(home.warehouse, 'snapshots');
  return snapshots.sort((a, b) => (String(a['snapshot_id']) < String(b['snapshot_id']) ? 1 : -1))[0]?.[
    'reports_by_reason'
  ];
}

function total(byReason: unknown): number {
  return Object.values(Object(byReason)).reduce<number>((all, planned) => all + Number(planned), 0);
}

/** How often the listing was begun. */
function firstWindows(): number {
  const [window] = [...simulator.requests.windows()].filter(([name]) => !/skip=[1-9]/.test(name));
  return window?.[1].answered ?? 0;
}

async function wrong() {
  return (await home.wrong()).filter(({ level }) => IS_FOLLOWED || level !== 'lag');
}

/** What follows the Parquet files is proven at length, and where a run dies at every step. */
async function expectAsUnbroken(expected = unbroken): Promise<void> {
  if (IS_FOLLOWED) expect(await wrong()).toEqual([]);
  expect(readdirSync(join(home.warehouse, 'runs'))).toEqual([]);
  const content = await contentOf(home.warehouse);
  for (const [table, rows] of Object.entries(expected)) expect([table, content[table]]).toEqual([table, rows]);
}

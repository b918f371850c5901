import fs, { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readStatus } from '../../src/answers/status/status.js';
import type { Simulator } from '../../src/app/demo/simulator/simulator.js';
import { setAsideIfDamaged } from '../../src/sync/journal/set-aside.js';
import { runExitCode } from '../../src/sync/receipt.js';
import { journalFolder } from '../../src/warehouse/journal/folder.js';
import { readHeader } from '../../src/warehouse/journal/header.js';
import { atLength, casesAtLength, once, testAtLength } from '../given/at-length.js';
import { startSimulator } from '../given/client-clock.js';
import { contentOf } from '../given/content.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import { readTable } from '../given/parquet.js';

/** Until the end of the test, a file that the disk cannot read: the start of a process's memory is not mapped. */
function unreadable(file: string): void {
  const { createReadStream } = fs;
  fs.createReadStream = (path, options) => createReadStream(path === file ? '/proc/self/mem' : path, options);
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.createReadStream = createReadStream;
    syncBuiltinESMExports();
  });
}

const HOUR_MS = 3_600_000;
/** Steps behind which the run died. */
const STEPS = ['wrote the manifest', 'moved coverage', 'wrote the marker'];
const NEWLINE = 0x0a;

let simulator: Simulator;
let root: string;
let interrupted: Home;
let unbroken: Record<string, string[]>;
let home: Home;

/** One website that was stopped in the middle of its reports, and what a run makes of it that nobody damages. */
beforeAll(async () => {
  root = temporaryFolder();
  const websites = ['w', 'other'].map((id) => ({ id, pages: 50 }));
  simulator = await startSimulator({ maxLimit: 20, seed: 4, nights: 2, websites });
  interrupted = new Home(mkdtempSync(join(root, 'home-')), simulator, ['w']);
  await expect(interrupted.sync({ stopAfter: { reports: 20 } })).rejects.toThrow('resumes the run');
  const whole = interrupted.copyTo(mkdtempSync(join(root, 'home-')));
  await leftBehind(whole.folder, STEPS, leftAt, () => whole.sync({ follow: false }));
  unbroken = await contentOf(whole.warehouse);
});

beforeEach(() => {
  home = interrupted.copyTo(mkdtempSync(join(root, 'home-')));
  simulator.requests.reset();
});

function leftAt(step: string): string {
  return join(root, step.replaceAll(' ', '-'));
}

/** Puts in the place of the home what a process that is killed behind this step leaves of it. */
function died(step: string): void {
  home = new Home(leftAt(step), simulator, ['w']).copyTo(mkdtempSync(join(root, 'home-')));
}

type Damage = (journal: string) => void;

function edit(name: string, change: (bytes: Buffer) => Buffer | string): Damage {
  return (journal) => writeFileSync(join(journal, name), change(readFileSync(join(journal, name))));
}

/** Changes the line of this number, counted from 1. */
function editLine(name: string, number: number, change: (line: string) => string): Damage {
  return edit(name, (bytes) => {
    const lines = bytes.toString().split('\n');
    lines[number - 1] = change(lines[number - 1] ?? '');
    return lines.join('\n');
  });
}

/** Puts these bytes over some in the middle of a line. */
function overwrite(name: string, number: number, bytes: Buffer): Damage {
  return edit(name, (all) => {
    let from = 0;
    for (let line = 1; line < number; line++) from = all.indexOf(NEWLINE, from) + 1;
    bytes.copy(all, from + 40);
    return all;
  });
}

function remove(name: string): Damage {
  return (journal) => rmSync(join(journal, name));
}

/** Number of the listing's line that ends a window, counted from 1. */
function windowLine(window: number): number {
  const lines = readFileSync(join(interrupted.journal('w'), 'listing.ndjson'), 'utf8').split('\n');
  return lines.flatMap((line, at) => (line.includes('"kind":"window"') ? [at + 1] : []))[window - 1] ?? 0;
}

const DAMAGES: [what: string, says: RegExp, damage: Damage][] = [
  ['a flipped bit in a value of a report', /line 3 of reports/, overwrite('reports.ndjson', 3, Buffer.from('~'))],
  [
    'a folder for the reports',
    /reports.ndjson is a folder/,
    (journal) => {
      remove('reports.ndjson')(journal);
      mkdirSync(join(journal, 'reports.ndjson'));
    },
  ],
  [
    'a window that is gone',
    /listing.*line/,
    (journal) =>
      edit('listing.ndjson', (bytes) =>
        bytes
          .toString()
          .split('\n')
          .filter((_, at) => at < windowLine(1) || at >= windowLine(2))
          .join('\n'),
      )(journal),
  ],
  [
    'a listing without its end',
    /listing.*lacks its end/,
    (journal) => edit('listing.ndjson', (bytes) => bytes.subarray(0, bytes.length - 30))(journal),
  ],
  [
    'data after the end of the listing',
    /listing.*data after its end/,
    edit('listing.ndjson', (bytes) => `${bytes}{"kind":"ent`),
  ],
  [
    'a flipped bit in the header',
    /run.json is damaged/,
    edit('run.json', (bytes) => bytes.toString().replace('"resumed":0', '"resumed":1')),
  ],
  ['a header that is gone', /run.json is missing/, remove('run.json')],
  ['a header of a later format', /journal format 99/, edit('run.json', () => '{"journal_format":99}')],
  ['a garbage count of the plan', /planned.json is damaged/, edit('planned.json', () => '{"pla')],
  ['a plan that is gone', /plan.ndjson is missing/, remove('plan.ndjson')],
  ['a page that is gone from the plan', /plan.ndjson is damaged/, editLine('plan.ndjson', 30, () => '')],
];

once.each(DAMAGES)('a journal is set aside because of %s', async (_, says, damage) => {
  const [runId = ''] = home.unfinished();
  const journal = journalFolder(home.warehouse, runId, 'w');
  const header = await readHeader(journal);
  if (!header) throw new Error('the journal has no header');
  damage(journal.path);
  const damaged = bytesIn(journal.path);
  const found = await setAsideIfDamaged(journal, { warehouse: home.warehouse, newHeader: () => header });
  expect(found?.damage).toMatch(says);
  expect(bytesIn(join(home.warehouse, found?.folder ?? ''))).toEqual(damaged);
  expect(Object.keys(bytesIn(journal.path))).toEqual(['run.json']);
});

/** One of each file. */
const A_FEW = [
  'a flipped bit in a value of a report',
  'a window that is gone',
  'a header that is gone',
  'a page that is gone from the plan',
];

test.each(
  casesAtLength(
    DAMAGES.filter(([name]) => A_FEW.includes(name)),
    'a window that is gone',
    'a header that is gone',
  ),
)('the run of a journal with %s starts over, and commits what an undamaged run would have', async (_, says, damage) => {
  const [runId] = home.unfinished();
  damage(home.journal('w'));
  const receipt = await home.sync({ follow: false });
  const [website] = receipt.websites;
  expect(receipt.run_id).toBe(runId);
  expect(website).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'complete' });
  expect(website?.error).toMatch(says);
  expect(runExitCode(receipt)).toBe(3);
  expect((await readTable(home.warehouse, 'runs'))[0]?.['error']).toContain(website?.set_aside);
  expect(await contentOf(home.warehouse)).toEqual(unbroken);
});

function bytesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(names.map(({ name }) => [name, readFileSync(join(folder, name), 'latin1')]));
}

describe('a damaged journal', () => {
  const spoil = overwrite('reports.ndjson', 3, Buffer.from('~'));

  testAtLength('that is too old to go on fails its run; the new run names it', async () => {
    spoil(home.journal('w'));
    const receipt = await home.sync({ follow: false, laterMs: 7 * HOUR_MS });
    expect(receipt.websites).toMatchObject([{ status: 'committed', resumed: false, set_aside: expect.any(String) }]);
    expect(runExitCode(receipt)).toBe(3);
    const runs = await readTable(home.warehouse, 'runs');
    expect(runs.map(({ outcome }) => outcome)).toEqual(['failed', 'committed']);
  });

  testAtLength('never takes the place of an earlier one, and is named until it is deleted', async () => {
    const [runId = ''] = home.unfinished();
    const earlier = join(home.warehouse, 'runs', 'damaged', runId, 'w');
    mkdirSync(earlier, { recursive: true });
    spoil(home.journal('w'));
    const receipt = await home.sync();
    const folder = join(home.warehouse, 'runs', 'damaged', runId, 'w.2');
    expect(receipt.websites[0]?.set_aside).toBe(join('runs', 'damaged', runId, 'w.2'));
    expect([readdirSync(earlier), existsSync(join(folder, 'reports.ndjson'))]).toEqual([[], true]);
    expect(await home.wrong()).toEqual([]);
    expect((await statusOf(home)).warnings.join()).toMatch(/w\.2 is a damaged journal, .*delete the folder or send it/);
    expect(await home.syncOne()).toMatchObject({ status: 'committed', resumed: false });
    rmSync(join(home.warehouse, 'runs', 'damaged'), { recursive: true });
    expect((await statusOf(home)).warnings).toEqual([]);
  });

  once('is named by status before the next sync', async () => {
    spoil(home.journal('w'));
    expect((await statusOf(home)).warnings.join()).toMatch(
      /reports.*damaged.*the next `indexhouse sync` sets the journal aside/,
    );
  });
});

once('a journal that cannot be read is not set aside: the error is reported, and it stays', async () => {
  const reports = join(home.journal('w'), 'reports.ndjson');
  unreadable(reports);
  expect(await home.syncOne({ follow: false })).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('EIO'),
  });
  expect(existsSync(join(home.warehouse, 'runs', 'damaged'))).toBe(false);
  expect(home.unfinished()).toHaveLength(1);
});

testAtLength('a run that died after the commit of one of two websites is resumed for the other', async () => {
  home = new Home(mkdtempSync(join(root, 'home-')), simulator, ['w', 'other']);
  const step = 'dropped the journal';
  await leftBehind(home.folder, [step], leftAt, () => home.sync({ follow: false }));
  home = new Home(leftAt(step), simulator, ['w', 'other']);
  const [committed] = await readTable(home.warehouse, 'snapshots');
  simulator.requests.reset();
  const { run_id, websites } = await home.sync();
  expect(run_id).toBe(committed?.['run_id']);
  expect(websites).toHaveLength(1);
  expect(websites[0]?.website_id).not.toBe(committed?.['website_id']);
  const again = `/v1/urls/${committed?.['website_id']}?`;
  expect([...simulator.requests.byRequest.keys()].filter((request) => request.startsWith(again))).toEqual([]);
  const snapshots = await readTable(home.warehouse, 'snapshots');
  expect(snapshots.map(({ website_id }) => website_id).sort()).toEqual(['other', 'w']);
  expect(await home.wrong()).toEqual([]);
});

testAtLength('what is no journal stays where it is, and stops nothing', async () => {
  const foreign = [join('notes', 'w'), join(uuidv7(), '%zz'), join('zzz', 'folder')];
  for (const name of foreign) {
    mkdirSync(join(home.warehouse, 'runs', name), { recursive: true });
    writeFileSync(join(home.warehouse, 'runs', name, 'file'), 'of somebody');
  }
  expect(await home.syncOne({ follow: false })).toMatchObject({ status: 'committed', resumed: true });
  expect(await contentOf(home.warehouse)).toEqual(unbroken);
  for (const name of foreign) expect(existsSync(join(home.warehouse, 'runs', name, 'file'))).toBe(true);
});

describe('a commit that was interrupted', () => {
  const staged = (name: string) => join(home.journal('w'), 'staged', name);

  const damages: [string, string, () => void][] = [
    ['a staged file is gone', 'moved coverage', () => rmSync(staged('url_reports.staged'))],
    ['the staged state is damaged', 'moved coverage', () => edit('', () => 'x')(staged('page_state.staged'))],
    ['the marker is damaged', 'wrote the manifest', () => edit('', () => 'x')(staged('snapshots.staged'))],
    [
      'a bit of the manifest flipped',
      'moved coverage',
      () => edit('', (bytes) => bytes.toString().replace('"rows":', '"rows":1'))(staged('manifest.json')),
    ],
  ];
  const aFew = ['a staged file is gone'];
  test.each(casesAtLength(damages, ...aFew))('is staged again from the journal if %s', async (_, step, damage) => {
    died(step);
    damage();
    expect(await home.syncOne({ follow: false })).toMatchObject({ status: 'committed' });
    expect(await contentOf(home.warehouse)).toEqual(unbroken);
    expect(home.asked()).toEqual([]);
  });

  test.each(atLength(['run.json'], ['run.json', 'staged/manifest.json']))(
    'is not repeated despite a damaged %s',
    async (name) => {
      died('wrote the marker');
      for (const each of new Set([name, 'staged/manifest.json'])) edit(each, () => 'x')(home.journal('w'));
      await home.sync({ recoverOnly: true });
      expect(await readTable(home.warehouse, 'snapshots')).toHaveLength(1);
      expect(await readTable(home.warehouse, 'runs')).toMatchObject([{ outcome: 'committed' }]);
      expect(await home.wrong()).toEqual([]);
    },
  );
});

async function statusOf({ warehouse }: Home) {
  const websites = [{ id: 'w', name: null }];
  const limits = { memoryLimit: 512e6, resumeWithin: 6 * HOUR_MS, maxRejectRatio: 1, maxAge: Number.POSITIVE_INFINITY };
  return readStatus({ warehouse, ...limits, websites, now: Date.now() });
}

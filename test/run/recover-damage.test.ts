import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readStatus } from '../../src/analysis/status.js';
import { checkJournals } from '../../src/doctor/warehouse.js';
import { exitCodeOf } from '../../src/run/receipt.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { atLength, casesAtLength, describeAtLength, testAtLength } from '../given/at-length.js';
import { startSimulator } from '../given/client-clock.js';
import { contentOf } from '../given/content.js';
import { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import { readTable } from '../given/parquet.js';
import { given } from '../given/synced.js';

const HOUR_MS = 3_600_000;
/** Steps behind which the run died. */
const STEPS = ['wrote the manifest', 'moved coverage', 'wrote the marker'];
const NEWLINE = 0x0a;

let simulator: Simulator;
let root: string;
let interrupted: Home;
let unbroken: Record<string, string[]>;
let home: Home;
/** URLs whose report the interrupted journal holds, in its order. */
let had: string[];

/** One website that was stopped in the middle of its reports, and what a run makes of it that nobody damages. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'indexhouse-damage-'));
  simulator = await startSimulator({ seed: 4, nights: 2, websites: ['w', 'other'].map((id) => ({ id, pages: 50 })) });
  interrupted = new Home(mkdtempSync(join(root, 'home-')), simulator, ['w']);
  await expect(interrupted.sync({ stopAfter: { reports: 20 } })).rejects.toThrow('resumes the run');
  had = interrupted.journaled('w');
  const whole = interrupted.copyTo(mkdtempSync(join(root, 'home-')));
  await leftBehind(whole.folder, STEPS, leftAt, () => whole.sync({ follow: false }));
  unbroken = await contentOf(whole.warehouse);
});

afterAll(async () => {
  await simulator.close();
  rmSync(root, { recursive: true, force: true });
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

/** What is asked for again: windows of the listing from this one on, and reports by their place in the journal. */
interface Costs {
  windows?: 'all' | 'some';
  reports?: number[] | 'all';
}

const DAMAGES: [what: string, says: RegExp, costs: Costs, damage: Damage][] = [
  [
    'a flipped bit in a value of a report',
    /reports.*line 3/,
    { reports: [2] },
    overwrite('reports.ndjson', 3, Buffer.from('~')),
  ],
  [
    'a NUL block in the reports',
    /reports.*line 5/,
    { reports: [4] },
    overwrite('reports.ndjson', 5, Buffer.alloc(300)),
  ],
  [
    'bytes in the reports that are no text',
    /reports.*line 2/,
    { reports: [1] },
    overwrite('reports.ndjson', 2, Buffer.from([0xff])),
  ],
  [
    'a report that is cut in the middle',
    /reports.*line 2/,
    { reports: [1] },
    editLine('reports.ndjson', 2, (line) => line.slice(0, 60)),
  ],
  [
    'a report of another type',
    /reports.*line 4/,
    { reports: [3] },
    editLine('reports.ndjson', 4, (line) =>
      line.replace(/"days_since_last_crawl":\w+/, '"days_since_last_crawl":"many"'),
    ),
  ],
  [
    'a report that is JSON, and nothing else',
    /reports.*line 1 /,
    { reports: [0] },
    editLine('reports.ndjson', 1, () => '{"kind":"fetched","url":7}'),
  ],
  [
    'a foreign file for the reports',
    /reports.*damaged/,
    { reports: 'all' },
    edit('reports.ndjson', () => 'hello\nworld\n'),
  ],
  [
    'a folder for the reports',
    /reports.ndjson is a folder/,
    { reports: 'all' },
    (journal) => {
      remove('reports.ndjson')(journal);
      mkdirSync(join(journal, 'reports.ndjson'));
    },
  ],
  [
    'a flipped bit in a value of the listing',
    /listing.*line/,
    { windows: 'some' },
    (journal) => overwrite('listing.ndjson', windowLine(1) + 3, Buffer.from('~'))(journal),
  ],
  [
    'a NUL block in the listing',
    /listing.*line 3/,
    { windows: 'all' },
    overwrite('listing.ndjson', 3, Buffer.alloc(4096)),
  ],
  [
    'an entry of another type',
    /listing.*line/,
    { windows: 'some' },
    (journal) =>
      editLine('listing.ndjson', windowLine(2) - 1, (line) => line.replace('"position":', '"position":"x","was":'))(
        journal,
      ),
  ],
  [
    'a window that is gone',
    /listing.*line/,
    { windows: 'some' },
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
    {},
    (journal) => edit('listing.ndjson', (bytes) => bytes.subarray(0, bytes.length - 30))(journal),
  ],
  [
    'data after the end of the listing',
    /listing.*data after its end/,
    {},
    edit('listing.ndjson', (bytes) => `${bytes}{"kind":"ent`),
  ],
  ['a listing that is gone', /listing.*lacks its end/, { windows: 'all' }, remove('listing.ndjson')],
  ['a garbage header', /run.json is damaged/, {}, edit('run.json', () => 'x')],
  ['an empty header', /run.json is damaged/, {}, edit('run.json', () => '')],
  [
    'a flipped bit in the header',
    /run.json is damaged/,
    {},
    edit('run.json', (bytes) => bytes.toString().replace('"resumed":0', '"resumed":1')),
  ],
  ['a header that is gone', /run.json is missing/, {}, remove('run.json')],
  [
    'a header of a later format',
    /journal format 99/,
    { windows: 'all', reports: 'all' },
    edit('run.json', () => '{"journal_format":99}'),
  ],
  ['a garbage count of the plan', /planned.json is damaged/, {}, edit('planned.json', () => '{"pla')],
  ['a plan that is gone', /plan.ndjson is missing/, {}, remove('plan.ndjson')],
  ['a page that is gone from the plan', /plan.ndjson is damaged/, {}, editLine('plan.ndjson', 30, () => '')],
];

/** One of each file, and of each thing that is lost with it. */
const A_FEW = [
  'a flipped bit in a value of a report',
  'a window that is gone',
  'a header that is gone',
  'a page that is gone from the plan',
];

describe('a journal that is damaged by', () => {
  test.each(casesAtLength(DAMAGES, ...A_FEW))(
    '%s is set aside, and the run goes on with what is whole',
    async (_, says, costs, damage) => {
      const journal = home.journal('w');
      const runId = home.unfinished()[0];
      damage(journal);
      const damaged = bytesIn(journal);
      const receipt = await home.sync({ follow: false });
      const [website] = receipt.websites;
      expect(receipt.run_id).toBe(runId);
      expect(website).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'complete' });
      expect(website?.error).toMatch(says);
      expect(exitCodeOf(receipt, 1)).toBe(3);
      expect(bytesIn(join(home.warehouse, website?.set_aside ?? ''))).toEqual(damaged);
      expect((await readTable(home.warehouse, 'runs'))[0]?.['error']).toContain(website?.set_aside);
      expect(await contentOf(home.warehouse)).toEqual(unbroken);
      const { reports = [] } = costs;
      const again = had.filter((__, at) => reports === 'all' || reports.includes(at));
      const asked = home.asked().filter((url) => had.includes(url));
      expect(asked.sort()).toEqual(again.sort());
      const windows = [...simulator.requests.windows().keys()];
      const first = windows.filter((window) => window.includes('skip=0&'));
      expect([windows.length > 0, first.length > 0]).toEqual([costs.windows !== undefined, costs.windows === 'all']);
    },
  );
});

function bytesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(names.map(({ name }) => [name, readFileSync(join(folder, name), 'latin1')]));
}

describe('a damaged journal', () => {
  const spoil = overwrite('reports.ndjson', 3, Buffer.from('~'));

  testAtLength('that is too old to go on is committed as far as it is whole; the new run tells of it', async () => {
    spoil(home.journal('w'));
    const receipt = await home.sync({ follow: false, laterMs: 7 * HOUR_MS });
    expect(receipt.websites).toMatchObject([{ status: 'committed', resumed: false, set_aside: expect.any(String) }]);
    expect(exitCodeOf(receipt, 1)).toBe(3);
    const old = (await readTable(home.warehouse, 'snapshots')).find(({ run_id }) => run_id !== receipt.run_id);
    expect(old).toMatchObject({ reports_status: 'interrupted', reports_planned: had.length - 1 });
  });

  testAtLength('never takes the place of an earlier one, and is told until it is deleted', async () => {
    const [runId = ''] = home.unfinished();
    const earlier = join(home.warehouse, 'runs', 'damaged', runId, 'w');
    mkdirSync(earlier, { recursive: true });
    spoil(home.journal('w'));
    const receipt = await home.sync();
    const folder = join(home.warehouse, 'runs', 'damaged', runId, 'w.2');
    expect(receipt.websites[0]?.set_aside).toBe(join('runs', 'damaged', runId, 'w.2'));
    expect([readdirSync(earlier), existsSync(join(folder, 'reports.ndjson'))]).toEqual([[], true]);
    expect(await home.wrong()).toEqual([]);
    expect((await statusOf(home)).warnings.join()).toMatch(/w\.2 is a damaged journal; .*delete the folder or send it/);
    expect(await checkJournals(await given(home.config))).toMatchObject({
      level: 'warning',
      message: expect.stringContaining(folder),
      remedy: expect.stringContaining('delete these folders'),
    });
    expect(await home.syncOne()).toMatchObject({ status: 'committed', resumed: false });
    rmSync(join(home.warehouse, 'runs', 'damaged'), { recursive: true });
    expect((await statusOf(home)).warnings).toEqual([]);
    expect(await checkJournals(await given(home.config))).toMatchObject({ level: 'ok' });
  });

  test('is told by status before the next sync', async () => {
    spoil(home.journal('w'));
    expect((await statusOf(home)).warnings.join()).toMatch(
      /reports.*damaged.*the next `indexhouse sync` sets the journal aside/,
    );
  });

  testAtLength('that is damaged again while it goes on is set aside again', async () => {
    spoil(home.journal('w'));
    await expect(home.sync({ stopAfter: { reports: 30 } })).rejects.toThrow('resumes the run');
    overwrite('reports.ndjson', 7, Buffer.from('~'))(home.journal('w'));
    const website = await home.syncOne({ follow: false });
    expect(basename(website.set_aside ?? '')).toBe('w.2');
    expect(website.error).toMatch(/line 3 .*; .*line 7 /);
    expect(await contentOf(home.warehouse)).toEqual(unbroken);
  });
});

test('a journal that cannot be read is no damaged one: the error is told, and it stays', async () => {
  const reports = join(home.journal('w'), 'reports.ndjson');
  rmSync(reports);
  // Stands for a disk that gives errors, which no test can make.
  symlinkSync(reports, reports);
  expect(await home.syncOne({ follow: false })).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('ELOOP'),
  });
  expect(existsSync(join(home.warehouse, 'runs', 'damaged'))).toBe(false);
  expect(home.unfinished()).toHaveLength(1);
});

describeAtLength('a run over two websites', () => {
  beforeEach(() => {
    home = new Home(mkdtempSync(join(root, 'home-')), simulator, ['w', 'other']);
  });

  testAtLength('that died behind the commit of one goes on with the other alone', async () => {
    const step = 'dropped the journal';
    await leftBehind(home.folder, [step], leftAt, () => home.sync({ follow: false }));
    home = new Home(leftAt(step), simulator, ['w', 'other']);
    const [committed] = await readTable(home.warehouse, 'snapshots');
    simulator.requests.reset();
    const { run_id, websites } = await home.sync();
    expect(run_id).toBe(committed?.['run_id']);
    expect(websites).toHaveLength(1);
    expect(websites[0]?.website_id).not.toBe(committed?.['website_id']);
    const again = [...simulator.requests.windows().keys()].filter((window) =>
      window.startsWith(`${committed?.['website_id']}?`),
    );
    expect(again).toEqual([]);
    const snapshots = await readTable(home.warehouse, 'snapshots');
    expect(snapshots.map(({ website_id }) => website_id).sort()).toEqual(['other', 'w']);
    expect(await home.wrong()).toEqual([]);
  });

  testAtLength('whose one journal cannot be read goes on with the other', async () => {
    await expect(home.sync({ stopAfter: { reports: 20 } })).rejects.toThrow('resumes the run');
    const listing = join(home.journal('w'), 'listing.ndjson');
    rmSync(listing);
    symlinkSync(listing, listing);
    const { websites } = await home.sync({ follow: false });
    expect(websites).toMatchObject([
      { website_id: 'w', status: 'failed' },
      { website_id: 'other', status: 'committed' },
    ]);
  });
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

test('a journal of an earlier version, whose lines have no checksums, goes on', async () => {
  const journal = home.journal('w');
  for (const name of ['run.json', 'listing.ndjson', 'planned.json', 'reports.ndjson']) {
    const unsealed = (line: string) => line.replace(/,"crc":"[0-9a-f]{8}"\}$/, '}').replace(/,"plan_crc":\d+/, '');
    edit(name, (bytes) => bytes.toString().split('\n').map(unsealed).join('\n'))(journal);
  }
  const { journal_format, ...header } = JSON.parse(readFileSync(join(journal, 'run.json'), 'utf8'));
  expect(journal_format).toBe(2);
  edit('run.json', () => `${JSON.stringify({ journal_format: 1, ...header }, null, 2)}\n`)(journal);
  const receipt = await home.sync({ follow: false });
  expect([receipt.websites[0]?.set_aside, exitCodeOf(receipt, 1)]).toEqual([undefined, 0]);
  expect(await contentOf(home.warehouse)).toEqual(unbroken);
  expect(home.asked().filter((url) => had.includes(url))).toEqual([]);
});

describe('a commit that was interrupted', () => {
  const staged = (name: string) => join(home.journal('w'), 'staged', name);

  const damages: [string, string, () => void][] = [
    ['a staged file is gone', 'moved coverage', () => rmSync(staged('url_reports.staged'))],
    ['a staged file is damaged', 'wrote the manifest', () => edit('', () => 'x')(staged('coverage.staged'))],
    ['the staged state is damaged', 'moved coverage', () => edit('', () => 'x')(staged('page_state.staged'))],
    ['the marker is damaged', 'wrote the manifest', () => edit('', () => 'x')(staged('snapshots.staged'))],
    [
      'a bit of the manifest flipped',
      'moved coverage',
      () => edit('', (bytes) => bytes.toString().replace('"rows":', '"rows":1'))(staged('manifest.json')),
    ],
  ];
  const aFew = ['a staged file is gone'];
  test.each(casesAtLength(damages, ...aFew))('is made anew from the journal where %s', async (_, step, damage) => {
    died(step);
    damage();
    expect(await home.syncOne()).toMatchObject({ status: 'committed' });
    expect(await contentOf(home.warehouse)).toEqual(unbroken);
    expect(await home.wrong()).toEqual([]);
    expect(home.asked()).toEqual([]);
  });

  test.each(atLength(['run.json'], ['run.json', 'staged/manifest.json']))(
    'behind its marker is not made twice where %s is damaged',
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

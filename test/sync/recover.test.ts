import fs, { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { readStatus } from '../../src/answers/status/status.js';
import { setAsideIfDamaged } from '../../src/sync/journal/set-aside.js';
import { runExitCode } from '../../src/sync/receipt.js';
import { journalFolder } from '../../src/warehouse/journal/folder.js';
import { readHeader } from '../../src/warehouse/journal/header.js';
import type { Home } from '../given/home.js';
import { readTable } from '../given/parquet.js';
import { cut, givenRecovery, type Recovery, TOO_LATE, wantedOf, wrong } from './given-recovery.js';

/** Steps of each part of a commit; all others are in `recover.full.test.ts`. */
const STEPS = ['staged all', 'moved coverage', 'wrote the marker', 'followed the data'];
const NEWLINE = 0x0a;

let world: Recovery;
beforeAll(async () => {
  world = await givenRecovery([...STEPS, 'wrote the manifest']);
});

test.each([
  ['in the middle of the listing', 'listing', () => {}, 0],
  ['with a torn report', 'reports', (home: Home) => cut(home, 'reports.ndjson', 7), 1],
] as const)('a run that died %s ends up as if it had not died', async (_, state, since, again) => {
  const home = world.died(state);
  const had = home.journaled('w');
  since(home);
  const receipt = await home.syncOne({ follow: false });
  expect(receipt).toMatchObject({ status: 'committed', reports_status: 'complete', resumed: true });
  expect(receipt.reports).toMatchObject({ reused: had.length - again, left: 0 });
  expect(home.asked().filter((url) => had.includes(url))).toHaveLength(again);
  expect(world.listings()).toBe(0);
  await world.expectAsUnbroken(home);
});

test.each(STEPS)('a run that died behind a step is recovered as if it had not died: %s', async (step) => {
  const home = world.died(step);
  const snapshots = (await readTable(home.warehouse, 'snapshots')).length;
  expect(snapshots).toBe(['wrote the marker', 'followed the data'].includes(step) ? 2 : 1);
  expect(runExitCode(await home.sync({ recoverOnly: true, follow: step === 'followed the data' }))).toBe(0);
  await world.expectAsUnbroken(home);
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

type Damage = (journal: string) => void;

function edit(name: string, change: (bytes: Buffer) => Buffer | string): Damage {
  return (journal) => writeFileSync(join(journal, name), change(readFileSync(join(journal, name))));
}

function editLines(name: string, change: (lines: string[]) => string[]): Damage {
  return edit(name, (bytes) => change(bytes.toString().split('\n')).join('\n'));
}

/** Flips bits in the middle of the third line. */
const flip: Damage = edit('reports.ndjson', (all) => {
  const third = all.indexOf(NEWLINE, all.indexOf(NEWLINE) + 1) + 1;
  all.write('~', third + 40);
  return all;
});

const isWindow = (line: string) => line.includes('"kind":"window"');

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
  [
    'a window that is gone',
    /listing.*line/,
    editLines('listing.ndjson', (lines) => {
      const [first = 0, second = 0] = lines.flatMap((line, at) => (isWindow(line) ? [at + 1] : []));
      return lines.filter((_, at) => at < first || at >= second);
    }),
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
  ['a header that is gone', /run.json is missing/, (journal) => rmSync(join(journal, 'run.json'))],
  ['a header of a later format', /journal format 99/, edit('run.json', () => '{"journal_format":99}')],
  ['a garbage count of the plan', /planned.json is damaged/, edit('planned.json', () => '{"pla')],
  ['a plan that is gone', /plan.ndjson is missing/, (journal) => rmSync(join(journal, 'plan.ndjson'))],
  [
    'a page that is gone from the plan',
    /plan.ndjson is damaged/,
    editLines('plan.ndjson', (lines) => lines.toSpliced(29, 1)),
  ],
];

test.each(DAMAGES)('a journal is set aside because of %s', async (_, says, damage) => {
  const home = world.died('reports');
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
  expect(await warningsOf(home)).toMatch(/reports.*damaged.*the next `indexhouse sync` sets the journal aside/);
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
  expect(await warningsOf(home)).toMatch(/w\.2 is a damaged journal, .*delete the folder or send it/);
});

async function warningsOf({ warehouse }: Home): Promise<string> {
  const limits = {
    memoryLimit: 512e6,
    resumeWithin: 6 * 3_600_000,
    maxRejectRatio: 1,
    maxAge: Number.POSITIVE_INFINITY,
  };
  const { warnings } = await readStatus({ warehouse, ...limits, websites: [{ id: 'w', name: null }], now: Date.now() });
  return warnings.join('\n');
}

test('a journal that cannot be read is not set aside: the error is reported, and it stays', async () => {
  const home = world.died('reports');
  const file = join(home.journal('w'), 'reports.ndjson');
  // The disk cannot read it: the start of a process's memory is not mapped.
  const { createReadStream } = fs;
  fs.createReadStream = (path, options) => createReadStream(path === file ? '/proc/self/mem' : path, options);
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.createReadStream = createReadStream;
    syncBuiltinESMExports();
  });
  const error = expect.stringContaining('EIO');
  expect(await home.syncOne({ follow: false })).toMatchObject({ status: 'failed', error });
  expect(existsSync(join(home.warehouse, 'runs', 'damaged'))).toBe(false);
  expect(home.unfinished()).toHaveLength(1);
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

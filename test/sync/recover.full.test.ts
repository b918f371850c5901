import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { setAsideIfDamaged } from '../../src/sync/journal/set-aside.js';
import { runExitCode } from '../../src/sync/receipt.js';
import { journalFolder } from '../../src/warehouse/journal/folder.js';
import { readHeader } from '../../src/warehouse/journal/header.js';
import { readTable } from '../given/parquet.js';
import { givenRecovery, type Recovery } from './given-recovery.js';

/** Every step behind which a run may die, from the end of the walk to the last follower. */
const STEPS = [
  ...['listed', 'wrote the plan', 'planned', 'staged coverage', 'staged url_reports', 'staged page_state'],
  ...['staged all', 'wrote the manifest'],
  ...['moved coverage', 'moved url_reports', 'moved page_versions', 'moved page_state'],
  ...['wrote the marker', 'recorded the run', 'dropped the journal'],
  ...['followed the data', 'followed the marker', 'followed all markers'],
];
const NEWLINE = 0x0a;

let world: Recovery;
beforeAll(async () => {
  world = await givenRecovery(STEPS);
});

test.each(STEPS)('a run that died behind a step is recovered as if it had not died: %s', async (step) => {
  const home = world.died(step);
  const snapshots = (await readTable(home.warehouse, 'snapshots')).length;
  expect(snapshots).toBe(STEPS.indexOf(step) < STEPS.indexOf('wrote the marker') ? 1 : 2);
  expect(runExitCode(await home.sync({ recoverOnly: true, follow: step.startsWith('followed') }))).toBe(0);
  await world.expectAsUnbroken(home);
});

test('a run that died while it wrote the plan plans again', async () => {
  const home = world.died('wrote the plan');
  const plan = join(home.journal('w'), 'plan.ndjson');
  truncateSync(plan, readFileSync(plan).length - 500);
  expect(await home.syncOne({ follow: false })).toMatchObject({ status: 'committed', resumed: true });
  await world.expectAsUnbroken(home);
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
  // Where no follower runs, that they lag is no fault.
  expect((await home.wrong()).filter(({ level }) => level !== 'lag')).toEqual([]);
});

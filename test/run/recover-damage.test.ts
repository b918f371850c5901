import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/run/receipt.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import { readTable } from '../given/parquet.js';

let simulator: Simulator;
let root: string;
let interrupted: Home;
let home: Home;

/** Steps of one of two websites behind which their run died. */
const STEPS = ['moved coverage', 'dropped the journal'];

/** One website that was stopped in the middle of its reports; another one comes into the configuration then. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'indexhouse-damage-'));
  const websites = ['bad', 'good'].map((id) => ({ id, pages: 40 }));
  simulator = await startSimulator({ seed: 4, nights: 2, websites });
  interrupted = new Home(mkdtempSync(join(root, 'home-')), simulator, ['bad']);
  await expect(interrupted.sync({ stopAfter: { reports: 20 } })).rejects.toThrow('goes on where this one was');
  const whole = interrupted.copyTo(mkdtempSync(join(root, 'home-')));
  whole.configure(['bad', 'good']);
  await leftBehind(whole.folder, STEPS, leftAt, () => whole.sync());
});

afterAll(async () => {
  await simulator.close();
  rmSync(root, { recursive: true, force: true });
});

beforeEach(() => {
  home = interrupted.copyTo(mkdtempSync(join(root, 'home-')));
  home.configure(['bad', 'good']);
  simulator.requests.reset();
});

function leftAt(step: string): string {
  return join(root, step.replaceAll(' ', '-'));
}

/** Puts in the place of the home what a process that is killed behind this step leaves of it. */
function died(step: string): void {
  home = new Home(leftAt(step), simulator, ['bad', 'good']);
}

/** The journal as it is, as that of another website of the same run. */
function copyJournal(from: string, to: string): void {
  cpSync(home.journal(from), home.journal(to), { recursive: true });
  const file = join(home.journal(to), 'run.json');
  const header = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...header, website_id: to, snapshot_id: uuidv7() }));
}

/** Changes one line of a journal, which other lines follow. */
function spoilLine(name: string, spoil: (line: Buffer) => Buffer): (journal: string) => void {
  return (journal) => {
    const file = join(journal, name);
    const bytes = readFileSync(file);
    const [from, to] = [bytes.indexOf('\n') + 1, bytes.indexOf('\n', bytes.indexOf('\n') + 1)];
    writeFileSync(file, Buffer.concat([bytes.subarray(0, from), spoil(bytes.subarray(from, to)), bytes.subarray(to)]));
  };
}

function write(name: string, text: string): (journal: string) => void {
  return (journal) => writeFileSync(join(journal, name), text);
}

const DAMAGES: { what: string; file: string; says: string; damage: (journal: string) => void }[] = [
  {
    what: 'a header of another journal format',
    file: 'run.json',
    says: 'of journal format 99',
    damage: write('run.json', '{"journal_format":99}'),
  },
  { what: 'a garbage header', file: 'run.json', says: 'damaged', damage: write('run.json', 'x') },
  { what: 'an empty header', file: 'run.json', says: 'damaged', damage: write('run.json', '') },
  {
    what: 'a garbage count of the plan',
    file: 'planned.json',
    says: 'damaged',
    damage: write('planned.json', '{"pla'),
  },
  {
    what: 'a plan that is gone',
    file: 'plan.ndjson',
    says: 'missing',
    damage: (journal) => rmSync(join(journal, 'plan.ndjson')),
  },
  {
    what: 'a broken line in the listing',
    file: 'listing.ndjson',
    says: 'line 2',
    damage: spoilLine('listing.ndjson', (line) => line.subarray(0, 20)),
  },
  {
    what: 'a broken line in the reports',
    file: 'reports.ndjson',
    says: 'line 2',
    damage: spoilLine('reports.ndjson', (line) => line.subarray(0, 20)),
  },
  {
    what: 'bytes in the reports that are no text',
    file: 'reports.ndjson',
    says: 'line 2',
    damage: spoilLine('reports.ndjson', (line) => {
      const at = line.indexOf('fetched_at') > 0 ? line.indexOf('fetched_at') : line.indexOf('example');
      const spoilt = Buffer.from(line);
      spoilt[at] = 0xff;
      return spoilt;
    }),
  },
];

describe('a journal that is damaged', () => {
  test('is told with its file, which stays, and the other websites go on', async () => {
    const ids = DAMAGES.map((_, at) => `bad${at}`);
    for (const [at, { damage }] of DAMAGES.entries()) {
      copyJournal('bad', `bad${at}`);
      damage(home.journal(`bad${at}`));
    }
    home.configure([...ids, 'bad', 'good']);
    const receipt = await home.sync();
    const of = (id: string) => receipt.websites.find(({ website_id }) => website_id === id);
    for (const [at, { what, file, says }] of DAMAGES.entries()) {
      const [bad, journal] = [of(`bad${at}`), home.journal(`bad${at}`)];
      expect([what, bad?.status, bad?.snapshot_id]).toEqual([what, 'failed', null]);
      expect([what, bad?.error]).toEqual([what, expect.stringContaining(join(journal, file))]);
      expect([what, bad?.error]).toEqual([what, expect.stringContaining(says)]);
      expect([what, bad?.error]).toEqual([what, expect.stringContaining('begin anew')]);
      expect([what, existsSync(join(journal, 'listing.ndjson'))]).toEqual([what, true]);
    }
    expect([of('bad'), of('good')]).toMatchObject([
      { status: 'committed', resumed: true },
      { status: 'committed', resumed: false },
    ]);
    expect(exitCodeOf(receipt, 1)).toBe(1);
    expect(await home.wrong()).toEqual([]);
  });

  test('goes away with the remedy that the message names', async () => {
    write('run.json', 'x')(home.journal('bad'));
    await home.sync();
    expect(await home.wrong()).toEqual([]);
    rmSync(home.journal('bad'), { recursive: true });
    expect(exitCodeOf(await home.sync(), 1)).toBe(0);
    expect(await home.wrong()).toEqual([]);
  });
});

describe('a commit that cannot be finished', () => {
  test('stops neither the other website nor a later sync', async () => {
    died('moved coverage');
    const staged = ['bad', 'good'].map((id) => join(home.journal(id), 'staged'));
    const broken = staged.find(
      (folder) => existsSync(join(folder, 'manifest.json')) && !existsSync(join(folder, 'coverage.staged')),
    );
    if (broken === undefined) throw new Error('no commit was under way');
    rmSync(join(broken, 'url_reports.staged'));
    const receipt = await home.sync();
    expect(receipt.websites.map(({ status }) => status).sort()).toEqual(['committed', 'failed']);
    expect(existsSync(join(broken, 'manifest.json'))).toBe(true);
  });
});

describe('a run over two websites that died behind the commit of one', () => {
  test('goes on with the other alone', async () => {
    died('dropped the journal');
    const [committed] = await readTable(home.warehouse, 'snapshots');
    simulator.requests.reset();
    const { run_id, websites } = await home.sync();
    expect(run_id).toBe(committed?.['run_id']);
    expect(websites).toHaveLength(1);
    expect(websites[0]?.website_id).not.toBe(committed?.['website_id']);
    expect(
      [...simulator.requests.windows().keys()].filter((window) => window.startsWith(`${committed?.['website_id']}?`)),
    ).toEqual([]);
    const snapshots = await readTable(home.warehouse, 'snapshots');
    expect(snapshots.map(({ website_id }) => website_id).sort()).toEqual(['bad', 'good']);
    expect(await home.wrong()).toEqual([]);
  });
});

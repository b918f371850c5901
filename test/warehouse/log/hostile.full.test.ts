import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../../src/base/observe/log.js';
import { journalFolder } from '../../../src/warehouse/journal/folder.js';
import { writeSealed } from '../../../src/warehouse/journal/seal.js';
import { maintain } from '../../../src/warehouse/removal/maintain.js';
import { backUp } from '../../../src/warehouse/upkeep/backup.js';
import { addNote } from '../../../src/warehouse/upkeep/note.js';
import { startSimulator } from '../../given/client-clock.js';
import { temporaryFolder } from '../../given/folder.js';
import { Home } from '../../given/home.js';
import { given } from '../../given/synced.js';
import { hashOf, newestFile, rewrite } from '../../given/tamper.js';

const LONG_AGO = new Date('2025-01-01');
const DAY_MS = 86_400_000;
const logger = createLogger({ level: 'silent' });

/** A warehouse of two nights, and a third one that was interrupted. */
let clean: Home;
beforeAll(async () => {
  const simulator = await startSimulator({ maxLimit: 20, seed: 6, nights: 2, websites: [{ id: 'w', pages: 20 }] });
  clean = new Home(temporaryFolder(), simulator, ['w']);
  for (const follow of [false, true]) {
    await clean.sync({ follow });
    simulator.advance(2);
  }
  await expect(clean.sync({ stopAfter: { reports: 5 }, follow: false })).rejects.toThrow('stopped');
});

/** Everything in a folder, as far as deleting, writing or moving would change it. */
function contentOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => [join(entry.parentPath, entry.name), entry.isFile()] as const);
  return paths.map(([path, isFile]) => `${path} ${isFile ? hashOf(path) : ''}`).sort();
}

/** Somebody else's folder, whose files and folders are called as those of a warehouse, and are old. */
function victimOf(home: Home): string {
  const victim = join(home.folder, 'victim');
  const names = ['a.parquet', 'b.parquet', 'c.parquet', join('w', 'd'), join('locked', 'e'), join('parquet', 'f')];
  for (const name of names) {
    mkdirSync(dirname(join(victim, name)), { recursive: true });
    writeFileSync(join(victim, name), name);
    for (const path of [join(victim, name), dirname(join(victim, name))]) utimesSync(path, LONG_AGO, LONG_AGO);
  }
  return victim;
}

/** What writes, moves or deletes, now and when files are due. */
const WORKS = [
  async (home: Home) => {
    const note = { websites: ['w'], note_date: '2025-03-01', directory: null, note: 'Relaunch', removes: null };
    return addNote(await given(home.config), note, logger);
  },
  (home: Home) => home.verify(true),
  async (home: Home) => {
    const config = { ...(await given(home.config)), retention: DAY_MS };
    const after = (days: number) => maintain({ config, dryRun: false, logger, now: () => Date.now() + days * DAY_MS });
    return [await after(70), await after(71)];
  },
  (home: Home) => home.sync(),
  (home: Home) => backUp(home.warehouse, join(home.folder, 'backup')),
];

/** A link to the victim's folder, or to something in it, in place of what is there. */
const linked = (name: string, to = '.') => {
  return (home: Home, victim: string, path = join(home.warehouse, name)) => {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(victim, to), path);
  };
};

const journalOf = (home: Home) => journalFolder(home.warehouse, `${home.unfinished()[0]}`, 'w');

/** A staged commit whose manifest names this. */
const staged = (names: object) => async (home: Home) => {
  const folder = journalOf(home);
  mkdirSync(folder.staged);
  for (const table of ['snapshots', 'runs', 'page_state']) writeFileSync(join(folder.staged, `${table}.staged`), table);
  const manifest = { website_id: 'w', date: '2025-03-01', snapshot_id: uuidv7(), files: {}, snapshot: {}, run: {} };
  await writeSealed(folder, folder.manifest, { ...manifest, ...names });
};

/** An index whose rows name this. */
const indexed = (columns: string) => async (home: Home) => {
  const { warehouse } = home;
  const [index, marker, run] = [
    join(warehouse, 'index'),
    await newestFile(warehouse, 'snapshots'),
    await newestFile(warehouse, 'runs'),
  ];
  mkdirSync(index);
  cpSync(marker, join(index, 'snapshots-1.parquet'));
  cpSync(run, join(index, 'runs-1.parquet'));
  await rewrite(join(index, 'snapshots-1.parquet'), `select * replace (${columns}) from self`);
  const fileOf = (name: string) => ({ name, sha256: hashOf(join(index, name)) });
  const files = { snapshots: fileOf('snapshots-1.parquet'), runs: fileOf('runs-1.parquet') };
  const witness = marker.slice(warehouse.length + 1);
  writeFileSync(join(index, 'index.json'), JSON.stringify({ version: 3, before: '2100-01-01', witness, files }));
};

const isLink = /is a symbolic link/;
/** What is planted, and what is said of it. */
const CASES: [name: string, plant: (home: Home, victim: string) => unknown, said?: RegExp][] = [
  ['tmp as a link', linked('tmp'), isLink],
  ['the state of a website as a link', linked('state/website=w'), isLink],
  [
    'a date as a link to what was in it',
    async (home, victim) => {
      const date = dirname(await newestFile(home.warehouse, 'url_reports'));
      cpSync(date, victim, { recursive: true });
      rmSync(date, { recursive: true });
      symlinkSync(victim, date);
    },
    isLink,
  ],
  ['index as a link', linked('index'), isLink],
  ['the native file as a link', linked('indexhouse.duckdb', 'a.parquet'), isLink],
  ['the lock as a link', linked('run.lock.duckdb', 'new.duckdb'), isLink],
  [
    'runs/damaged as a link, and a damaged journal',
    (home, victim) => {
      writeFileSync(journalOf(home).header, 'garbage');
      linked('runs/damaged')(home, victim);
    },
    isLink,
  ],
  [
    'the spill folder of a journal as a link',
    (home, victim) => linked('')(home, victim, journalOf(home).temporary),
    /damaged/,
  ],
  [
    'a file of a journal as a link',
    (home, victim) => linked('', 'new')(home, victim, journalOf(home).search),
    /damaged/,
  ],
  ['a staged commit with an id that leads out', staged({ snapshot_id: '../../../../victim/x' })],
  ['a staged commit with a date that leads out', staged({ date: '../../../../../victim' })],
  [
    'a removal of what is outside',
    (home) =>
      writeFileSync(
        join(home.warehouse, 'removal.json'),
        JSON.stringify({ removal: { website_id: '' }, in_bucket: false }),
      ),
    /damaged/,
  ],
  ['an index with an id that leads out', indexed("'../../../victim/x' as snapshot_id"), /names an id/],
];

test.for(CASES)('%s leads to nothing outside of the warehouse', async ([, plant, said]) => {
  const home = clean.copyTo(temporaryFolder());
  const victim = victimOf(home);
  await plant(home, victim);
  const before = contentOf(victim);
  let text = '';
  for (const work of WORKS) text += JSON.stringify(await work(home).catch((error: Error) => error.message));
  expect(contentOf(victim)).toEqual(before);
  expect(readdirSync(home.folder).sort()).toEqual(expect.arrayContaining(['indexhouse.yaml', 'victim', 'warehouse']));
  if (said) expect(text).toMatch(said);
});

import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { listTableFiles } from '../../../../src/warehouse/log/folder/layout.js';
import { DATA_TABLES, type DataTable, type Table } from '../../../../src/warehouse/log/folder/tables.js';
import { verifyExitCode } from '../../../../src/warehouse/upkeep/verify/finding.js';
import type { Home } from '../../../given/home.js';
import { readParquet } from '../../../given/parquet.js';
import { hashOf, inDuckdb, newestFile, onDuckdb, rewrite, truth } from '../../../given/tamper.js';
import { givenTwoNights } from './given.js';

const given = givenTwoNights();

/** What `verify` says, and what it would exit with. */
async function verdictOn(home: Home): Promise<{ code: number; levels: string[]; text: string }> {
  const verified = await home.verify();
  return {
    code: verifyExitCode(verified),
    levels: [...new Set(verified.findings.map(({ level }) => level))].sort(),
    text: verified.findings.map(({ message, remedy }) => `${message}\n${remedy}`).join('\n'),
  };
}

/** Deletes files of the newest nights, so many of them. */
async function loseNights({ warehouse }: Home, nights: number, tables: readonly Table[]): Promise<void> {
  const listed = await Promise.all((['snapshots', 'runs'] as const).map((table) => listTableFiles(warehouse, table)));
  const ids = listed.flatMap((files) => files.slice(-nights).map((file) => basename(file)));
  for (const table of tables) {
    const files = await listTableFiles(warehouse, table);
    for (const file of files.filter((one) => ids.includes(basename(one)))) rmSync(file);
  }
}

const database = () => join(given.home.warehouse, 'indexhouse.duckdb');
const newest = (table: Table) => newestFile(given.home.warehouse, table);
const state = async () => join(given.home.warehouse, 'state', 'website=w', basename(await newest('snapshots')));
const replaced = (columns: string) => (file: string) => rewrite(file, `select * replace (${columns}) from self`);
const garbled = (file: string) => writeFileSync(file, 'garbage');

async function spoilt(file: string | Promise<string>, how: (file: string) => unknown): Promise<string> {
  const path = await file;
  await how(path);
  return path;
}

/** Copies the newest file of a table to another name beside it. */
async function copied(table: Table): Promise<string> {
  const copy = join(dirname(await newest(table)), '0198c0de-0000-7000-8000-000000000000.parquet');
  copyFileSync(await newest(table), copy);
  return copy;
}

async function inDatabase(statement: string, text: string): Promise<string> {
  await inDuckdb(given.home.warehouse, statement);
  return text;
}

/** Rewrites the newest file of a table, and gives the marker its hash, as a bug of ours would. */
async function miswritten(table: DataTable, how: (file: string) => unknown, text: string): Promise<string> {
  const file = await newest(table);
  await how(file);
  const { length: rows } = await readParquet(file);
  const files = `json_merge_patch(files::json, {${table}: {rows: ${rows}, sha256: '${hashOf(file)}'}}::json) as files`;
  await replaced(files)(await newest('snapshots'));
  return text;
}

const FLIPPED = 'a flipped byte';
const ALTERED = 'a state that is altered';
const FALLEN = 'a page that left the index, not recorded';
/** What is done to the warehouse, which gives a text that `verify` then says; its exit code, and levels of its findings. */
const TAMPERS: [name: string, tamper: () => Promise<string>, code: number, levels?: string[]][] = [
  [
    FLIPPED,
    () =>
      spoilt(newest('coverage'), (file) => {
        const bytes = readFileSync(file);
        bytes[200] = (bytes[200] ?? 0) ^ 1;
        writeFileSync(file, bytes);
      }),
    1,
    ['difference'],
  ],
  ['a deleted file', async () => `${await spoilt(newest('coverage'), rmSync)} is missing`, 1, ['difference']],
  ['a garbage marker', () => spoilt(newest('snapshots'), garbled), 1, ['difference']],
  ['an extra file of data', () => copied('coverage'), 0, ['note']],
  ['a marker that was copied under another name', () => copied('snapshots'), 1],
  [
    'a marker whose count of pages is off',
    async () => {
      await replaced('pages_rejected + 1 as pages_rejected')(await newest('snapshots'));
      return 'pages listed';
    },
    1,
  ],
  [
    'a marker of a clock that was three days behind',
    async () => {
      await replaced("snapshot_at - interval '3 days' as snapshot_at")(await newest('snapshots'));
      return 'the clock was wrong';
    },
    1,
    ['difference'],
  ],
  [
    'doubled rows',
    () =>
      miswritten('coverage', (file) => rewrite(file, 'from self union all (from self limit 1)'), 'is listed 2 times'),
    1,
  ],
  [
    'a summary that does not add up',
    () => miswritten('coverage_summary', replaced('pages + 1 as pages'), 'the summary of '),
    1,
  ],
  [
    FALLEN,
    () =>
      miswritten(
        'page_versions',
        replaced("if(was_status = 'indexed' and status <> 'indexed', 'indexed', status) as status"),
        'page_versions differs from the log',
      ),
    1,
  ],
  // The next sync makes it anew.
  ['a state that is missing', () => spoilt(state(), rmSync), 0, ['note']],
  [ALTERED, () => spoilt(state(), replaced('absences + 1 as absences')), 1],
  [
    'two rows that have exchanged their values',
    () => {
      const urlOf = (row: number) => `(select url from coverage where rowid = ${row})`;
      const change = `update coverage set url = case rowid when 3 then ${urlOf(4)} else ${urlOf(3)} end`;
      return inDatabase(`${change} where rowid in (3, 4)`, 'coverage in indexhouse.duckdb differs');
    },
    1,
  ],
  [
    'indexhouse.duckdb without the row of a run',
    () => inDatabase('delete from runs where rowid = 1', 'runs'),
    3,
    ['lag'],
  ],
  ['no indexhouse.duckdb', () => spoilt(database(), rmSync), 3, ['lag']],
  ['garbage as indexhouse.duckdb', () => spoilt(database(), garbled), 1],
];
const tamper = (name: string) => TAMPERS.find(([one]) => one === name)?.[1]() ?? expect.fail(name);

test('finds nothing in a warehouse as it should be', async () => {
  const verified = await given.home.verify();
  expect(verified).toMatchObject({ snapshots: 2, findings: [], repaired: [] });
  expect(verified.files).toBeGreaterThanOrEqual(5);
  expect(verified.rows).toBeGreaterThan(60);
});

test.for(TAMPERS)('finds %s', async ([, how, code, levels]) => {
  const text = await how();
  const verified = await verdictOn(given.home);
  expect(verified).toMatchObject({ code, text: expect.stringContaining(text) });
  if (levels) expect(verified.levels).toEqual(levels);
});

test('finds rows and a state that differ from the log, each by its name', async () => {
  const tampers = {
    coverage: 'delete from coverage where rowid = 3',
    url_reports: "update url_reports set index_summary = 'changed' where rowid = 3",
    page_versions: 'insert into page_versions select * from page_versions limit 1',
    page_state: 'update page_state set absences = absences + 1 where rowid = 3',
    runs: "update runs set outcome = 'failed' where rowid = 0",
    snapshots: 'update snapshots set pages_listed = 0 where rowid = 0',
  };
  await inDuckdb(given.home.warehouse, ...Object.values(tampers));
  const wrong = [
    await tamper(ALTERED),
    await tamper(FALLEN),
    ...Object.keys(tampers).map((table) => `${table} in indexhouse.duckdb`),
    'indexhouse verify --repair',
  ];
  const { code, levels, text } = await verdictOn(given.home);
  expect([code, levels, wrong.filter((one) => !text.includes(one))]).toEqual([1, ['difference'], []]);
});

test('--repair writes a marker and a run that are lost again from indexhouse.duckdb', async () => {
  const { home } = given;
  const whole = await truth(home.warehouse);
  await loseNights(home, 1, ['snapshots', 'runs']);
  const text = expect.stringContaining('is missing, but indexhouse.duckdb has its row');
  expect(await verdictOn(home)).toMatchObject({ code: 1, levels: ['difference'], text });
  const { repaired, findings } = await home.verify(true);
  expect(repaired).toEqual([expect.stringContaining('/runs/'), expect.stringContaining('/snapshots/')]);
  expect([findings, Object.keys(await truth(home.warehouse))]).toEqual([[], Object.keys(whole)]);
});

/** What the newest nights have lost, of how many, whether `indexhouse.duckdb` is lost too, and what `verify` says. */
const LOSSES: [name: string, tables: Table[], nights: number, isDatabaseLost: boolean, message: string][] = [
  ['its marker, its run, and indexhouse.duckdb', ['snapshots', 'runs'], 1, true, 'no marker names'],
  ['its marker, and indexhouse.duckdb', ['snapshots'], 1, true, 'snapshots has no marker of'],
  [
    'every file, as has the one before',
    ['snapshots', 'runs', ...DATA_TABLES],
    2,
    false,
    'indexhouse.duckdb has its row',
  ],
];
test.for(LOSSES)(
  'a night that has lost %s is a difference, and --repair destroys nothing of it',
  async ([, tables, nights, isDatabaseLost, message]) => {
    const { home } = given;
    await loseNights(home, nights, tables);
    if (isDatabaseLost) rmSync(database());
    const left = await truth(home.warehouse);
    const text = expect.stringContaining(message);
    expect(await verdictOn(home)).toMatchObject({ code: 1, levels: ['difference'], text });
    await home.verify(true);
    expect(await truth(home.warehouse)).toMatchObject(left);
    if (isDatabaseLost) return;
    // Neither does the next night.
    await home.sync({ follow: true });
    expect(await truth(home.warehouse)).toMatchObject(left);
    const rows = 'select count(distinct snapshot_id)::integer as n from coverage';
    expect(await onDuckdb(home.warehouse, (engine) => engine.rows(z.object({ n: z.int() }), rows))).toEqual([{ n: 3 }]);
  },
);

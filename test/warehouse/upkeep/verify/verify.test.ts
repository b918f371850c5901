import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../../../src/base/storage/engine.js';
import { listTableFiles } from '../../../../src/warehouse/log/folder/layout.js';
import { DATA_TABLES, type DataTable, type Table } from '../../../../src/warehouse/log/folder/tables.js';
import { verifyExitCode } from '../../../../src/warehouse/upkeep/verify/finding.js';
import { casesAtLength, once, testAtLength } from '../../../given/at-length.js';
import { run, start } from '../../../given/cli.js';
import { Home } from '../../../given/home.js';
import { hashOf, inDuckdb, newestFile, onDuckdb, rewrite, truth } from '../../../given/tamper.js';
import { givenTwoNights } from './given.js';

const given = givenTwoNights();
let home: Home;
beforeEach(() => {
  home = given.home;
});

/** What `verify` says, and what it would exit with. */
async function verdict(): Promise<{ code: number; levels: string[]; text: string }> {
  const verified = await home.verify();
  return {
    code: verifyExitCode(verified),
    levels: [...new Set(verified.findings.map(({ level }) => level))].sort(),
    text: verified.findings.map(({ message, remedy }) => `${message}\n${remedy}`).join('\n'),
  };
}

const database = () => join(home.warehouse, 'indexhouse.duckdb');

const newest = (table: Table) => newestFile(home.warehouse, table);
const spoilt = async (file: string | Promise<string>, how: (file: string) => unknown) => {
  const path = await file;
  await how(path);
  return path;
};
const garbled = (file: string) => writeFileSync(file, 'garbage');
const state = async () => join(home.warehouse, 'state', 'website=w', basename(await newest('snapshots')));
const copied = async (table: 'coverage' | 'snapshots') => {
  const file = await newest(table);
  const copy = join(dirname(file), '0198c0de-0000-7000-8000-000000000000.parquet');
  copyFileSync(file, copy);
  return copy;
};
const inDatabase = async (statement: string, text: string) => {
  await inDuckdb(home.warehouse, statement);
  return text;
};

/** Rewrites the newest file of a table, and gives the marker its hash, as a bug of ours would. */
async function miswritten(table: DataTable, query: string, text: string): Promise<string> {
  const file = await newest(table);
  await rewrite(file, query);
  const [{ rows } = { rows: 0 }] = await withEngine(
    { memoryLimit: 256e6, temporary: join(given.root, 'duckdb') },
    (engine) =>
      engine.rows(z.object({ rows: z.int() }), 'select count(*)::integer as rows from read_parquet($file)', { file }),
  );
  const files = `json_merge_patch(files::json, {${table}: {rows: ${rows}, sha256: '${hashOf(file)}'}}::json) as files`;
  await rewrite(await newest('snapshots'), `select * replace (${files}) from self`);
  return text;
}

const replaced = (columns: string) => `select * replace (${columns}) from self`;
const fallen = (status: string) =>
  replaced(`if(was_status = 'indexed' and status <> 'indexed', '${status}', status) as status`);

/** What is done to the warehouse, which gives a text that `verify` then says; its exit code, and levels of its findings. */
const CASES: [name: string, tamper: () => Promise<string>, code: number, levels?: string[]][] = [
  [
    'a flipped byte',
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
  ['a garbage row of runs', () => spoilt(newest('runs'), garbled), 1],
  ['an extra file of data', () => copied('coverage'), 0, ['note']],
  ['a marker that was copied under another name', () => copied('snapshots'), 1],
  [
    'a marker whose count of reports is off',
    () =>
      spoilt(newest('snapshots'), (file) => rewrite(file, replaced('reports_fetched + 1 as reports_fetched'))).then(
        () => 'reports planned',
      ),
    1,
  ],
  [
    'a marker whose count of pages is off',
    () =>
      spoilt(newest('snapshots'), (file) => rewrite(file, replaced('pages_rejected + 1 as pages_rejected'))).then(
        () => 'pages listed',
      ),
    1,
  ],
  ['doubled rows', () => miswritten('coverage', 'from self union all (from self limit 1)', 'is listed 2 times'), 1],
  [
    'a summary that does not add up',
    () => miswritten('coverage_summary', replaced('pages + 1 as pages'), 'the summary of '),
    1,
  ],
  [
    'a page that left the index, not recorded',
    () => miswritten('page_versions', fallen('indexed'), 'page_versions differs from the log'),
    1,
  ],
  // The next sync makes it anew.
  ['a state that is missing', () => spoilt(state(), rmSync), 0, ['note']],
  ['a state that is altered', () => spoilt(state(), (file) => rewrite(file, replaced('absences + 1 as absences'))), 1],
  ['a state that is garbage', () => spoilt(state(), garbled), 1, ['difference']],
  ['a dropped table', () => inDatabase('drop table coverage cascade', 'coverage'), 1],
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

once('finds nothing in a warehouse as it should be', async () => {
  const verified = await home.verify();
  expect(verified).toMatchObject({ snapshots: 2, findings: [], repaired: [] });
  expect(verified.files).toBeGreaterThanOrEqual(5);
  expect(verified.rows).toBeGreaterThan(60);
});

const chosen = casesAtLength(
  CASES,
  'a flipped byte',
  'a page that left the index, not recorded',
  'a state that is altered',
);
test.for(chosen)('finds %s', async ([, tamper, code, levels]) => {
  const text = await tamper();
  const verified = await verdict();
  expect(verified).toMatchObject({ code, text: expect.stringContaining(text) });
  if (levels) expect(verified.levels).toEqual(levels);
});

/** What the newest night has lost, who still knows it, and whether --repair can write it again from there. */
const LOSSES: [name: string, lose: () => Promise<unknown>, message: string, isMended: boolean][] = [
  ['its marker and its run', () => lose('snapshots', 'runs'), 'is missing, but indexhouse.duckdb has its row', true],
  [
    'them, and indexhouse.duckdb',
    async () => [await lose('snapshots', 'runs'), rmSync(database())],
    'no marker names',
    false,
  ],
  [
    'its marker, and indexhouse.duckdb',
    async () => [await lose('snapshots'), rmSync(database())],
    'snapshots has no marker of',
    false,
  ],
  [
    'every file, as has the one before',
    () => loseSince(-2, ['snapshots', 'runs', ...DATA_TABLES]),
    'indexhouse.duckdb has its row',
    false,
  ],
];
const lose = (...tables: Table[]) => loseSince(-1, tables);
/** @param from the place of the first night that loses files */
const loseSince = async (from: number, tables: Table[]) => {
  const listed = await Promise.all(
    (['snapshots', 'runs'] as const).map((table) => listTableFiles(home.warehouse, table)),
  );
  const ids = listed.flatMap((files) => files.slice(from).map((file) => basename(file)));
  for (const table of tables) {
    const files = await listTableFiles(home.warehouse, table);
    for (const file of files.filter((one) => ids.includes(basename(one)))) rmSync(file);
  }
};

const shown = ['its marker and its run', 'them, and indexhouse.duckdb', 'every file, as has the one before'];
test.for(casesAtLength(LOSSES, ...shown))(
  'a night that has lost %s is a difference, and --repair destroys nothing of it',
  async ([, loseIt, message, isMended]) => {
    const whole = await truth(home.warehouse);
    await loseIt();
    const [left, held] = [await truth(home.warehouse), existsSync(database()) && hashOf(database())];
    expect(await verdict()).toMatchObject({ code: 1, levels: ['difference'], text: expect.stringContaining(message) });
    const { repaired, findings } = await home.verify(true);
    if (isMended) {
      expect(repaired).toEqual([expect.stringContaining('/runs/'), expect.stringContaining('/snapshots/')]);
      expect(Object.keys(await truth(home.warehouse))).toEqual(Object.keys(whole));
      expect([findings, (await home.verify()).findings]).toEqual([[], []]);
      return;
    }
    expect(await truth(home.warehouse)).toMatchObject(left);
    if (!existsSync(database())) return;
    // Neither does the next night.
    await home.sync({ follow: true });
    expect(await truth(home.warehouse)).toMatchObject(left);
    const rows = 'select count(distinct snapshot_id)::integer as n from coverage';
    const counted = onDuckdb(home.warehouse, (engine) => engine.rows(z.object({ n: z.int() }), rows));
    expect([held, await counted]).toEqual([expect.any(String), [{ n: 3 }]]);
  },
);

once('finds rows of indexhouse.duckdb that were deleted, changed or added, each table by its name', async () => {
  const tampers = {
    coverage: 'delete from coverage where rowid = 3',
    url_reports: "update url_reports set index_summary = 'changed' where rowid = 3",
    page_versions: 'insert into page_versions select * from page_versions limit 1',
    page_state: 'update page_state set absences = absences + 1 where rowid = 3',
    runs: "update runs set outcome = 'failed' where rowid = 0",
    snapshots: 'update snapshots set pages_listed = 0 where rowid = 0',
  };
  await inDuckdb(home.warehouse, ...Object.values(tampers));
  const { findings } = await home.verify();
  const tables = findings.map(({ level, message }) => `${level} ${message.split(' ')[0]}`);
  expect(tables.sort()).toEqual(
    Object.keys(tampers)
      .map((table) => `difference ${table}`)
      .sort(),
  );
  expect(findings.map(({ remedy }) => remedy)).toContainEqual(expect.stringContaining('indexhouse verify --repair'));
});

once('finds that indexhouse.duckdb lacks the newest snapshot: it lags', async () => {
  const id = basename(await newest('snapshots'), '.parquet');
  const tables = [...DATA_TABLES, 'snapshots'];
  await inDuckdb(home.warehouse, ...tables.map((table) => `delete from ${table} where snapshot_id = '${id}'`));
  const text = expect.stringContaining('1 snapshot behind');
  expect(await verdict()).toMatchObject({ code: 3, levels: ['lag'], text });
});

testAtLength('a sync that runs meanwhile is no difference', async () => {
  const api = { requests_per_minute: 6000 };
  const paced = new Home(home.folder, given.simulator, ['w'], { api });
  const sync = start(['sync', '--config', paced.config]);
  const seen: unknown[] = [];
  let running = true;
  const ended = sync.ended.finally(() => {
    running = false;
  });
  while (running) {
    const { code, stdout } = await run(['verify', '--json', '--config', paced.config]);
    const findings: { level: string }[] = JSON.parse(stdout).findings;
    seen.push(code, ...findings.filter(({ level }) => level === 'difference'));
  }
  expect(await ended).toMatchObject({ code: 0 });
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.filter((one) => one !== 0 && one !== 3)).toEqual([]);
});

import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { exitCodeOf } from '../../src/verify/finding.js';
import { DATA_TABLES } from '../../src/warehouse/tables.js';
import { atLength, casesAtLength, testAtLength } from '../given/at-length.js';
import { run, start } from '../given/cli.js';
import { Home } from '../given/home.js';
import { hashOf, inDuckdb, newestFile, rewrite } from '../given/tamper.js';

let simulator: Simulator;
let root: string;
let clean: Home;
let home: Home;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'indexhouse-verify-'));
  simulator = await startSimulator({ seed: 6, nights: 2, websites: [{ id: 'w', pages: 60 }] });
  clean = new Home(mkdtempSync(join(root, 'home-')), simulator, ['w']);
  for (let night = 0; night < 2; night++) {
    await clean.sync({ follow: night === 1 });
    simulator.advance(2);
  }
});

afterAll(async () => {
  await simulator.close();
  rmSync(root, { recursive: true, force: true });
});

beforeEach(() => {
  home = clean.copyTo(mkdtempSync(join(root, 'home-')));
});

/** What `verify` says, and what it would exit with. */
async function verdict(): Promise<{ code: number; levels: string[]; text: string }> {
  const verified = await home.verify();
  return {
    code: exitCodeOf(verified),
    levels: [...new Set(verified.findings.map(({ level }) => level))].sort(),
    text: verified.findings.map(({ message, remedy }) => `${message}\n${remedy}`).join('\n'),
  };
}

const state = () => join(home.warehouse, 'state', 'website=w');
const database = () => join(home.warehouse, 'indexhouse.duckdb');
const newestState = async () => join(state(), basename(await newestFile(home.warehouse, 'snapshots')));

test('finds nothing in a warehouse as it should be', async () => {
  const verified = await home.verify();
  expect(verified).toMatchObject({ snapshots: 2, findings: [], repaired: [] });
  expect(verified.files).toBeGreaterThanOrEqual(5);
  expect(verified.rows).toBeGreaterThan(200);
});

describe('the Parquet files', () => {
  test('a flipped byte and a deleted file', async () => {
    const file = await newestFile(home.warehouse, 'coverage');
    const bytes = readFileSync(file);
    bytes[200] = (bytes[200] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    const missing = await newestFile(home.warehouse, 'url_reports');
    rmSync(missing);
    const { code, levels, text } = await verdict();
    expect([code, levels]).toEqual([1, ['difference']]);
    expect(text).toContain(file);
    expect(text).toContain(`${missing} is missing`);
  });

  test('a deleted marker: its run names it, its data are orphans, and --repair keeps them', async () => {
    const marker = await newestFile(home.warehouse, 'snapshots');
    const data = await newestFile(home.warehouse, 'coverage');
    rmSync(marker);
    const { code, levels, text } = await verdict();
    expect([code, levels]).toEqual([1, ['difference', 'note']]);
    expect(text).toContain(`snapshots has no marker of ${basename(marker, '.parquet')}`);
    expect(text).toContain(`no marker names ${data}`);
    const before = hashOf(database());
    expect((await home.verify(true)).repaired).toEqual([]);
    expect([existsSync(data), hashOf(database())]).toEqual([true, before]);
  });

  testAtLength('a garbage marker, and --repair keeps its data', async () => {
    const marker = await newestFile(home.warehouse, 'snapshots');
    writeFileSync(marker, 'garbage');
    expect(await verdict()).toMatchObject({ code: 1, levels: ['difference'], text: expect.stringContaining(marker) });
    await home.verify(true);
    expect(existsSync(await newestFile(home.warehouse, 'coverage'))).toBe(true);
    expect(basename(await newestFile(home.warehouse, 'coverage'))).toBe(basename(marker));
  });

  testAtLength('a garbage row of runs', async () => {
    const file = await newestFile(home.warehouse, 'runs');
    writeFileSync(file, 'garbage');
    const { code, text } = await verdict();
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining(`${file} cannot be read`) });
    expect(text).not.toContain('indexhouse.duckdb');
  });

  testAtLength('an extra file of data is only a note', async () => {
    const file = await newestFile(home.warehouse, 'coverage');
    const extra = join(dirname(file), '0198c0de-0000-7000-8000-000000000000.parquet');
    copyFileSync(file, extra);
    expect(await verdict()).toMatchObject({ code: 0, levels: ['note'], text: expect.stringContaining(extra) });
  });

  testAtLength('a marker that was copied under another name', async () => {
    const file = await newestFile(home.warehouse, 'snapshots');
    const extra = join(dirname(file), '0198c0de-0000-7000-8000-000000000000.parquet');
    copyFileSync(file, extra);
    expect(await verdict()).toMatchObject({ code: 1, text: expect.stringContaining(extra) });
  });

  test('a marker whose counts are off', async () => {
    const marker = await newestFile(home.warehouse, 'snapshots');
    await rewrite(
      marker,
      'select * replace (reports_fetched + 1 as reports_fetched, pages_rejected + 1 as pages_rejected) from self',
    );
    const { code, text } = await verdict();
    expect(code).toBe(1);
    expect(text).toContain(basename(marker, '.parquet'));
    expect(text).toContain('reports planned');
    expect(text).toContain('pages listed');
  });

  test('doubled rows, though file and marker agree', async () => {
    const file = await newestFile(home.warehouse, 'coverage');
    const marker = await newestFile(home.warehouse, 'snapshots');
    await rewrite(file, 'select * from self union all (select * from self limit 1)');
    await rewrite(
      marker,
      `select * replace (json_merge_patch(files::json, {coverage: {rows: (files::json->'coverage'->>'rows')::int + 1,
         sha256: '${hashOf(file)}'}}::json)::varchar as files) from self`,
    );
    const { code, text } = await verdict();
    expect(code).toBe(1);
    expect(text).toContain('is listed 2 times');
  });
});

/** Rewrites the newest file of a table, and gives the marker its hash, as a bug of ours would. */
async function miswrite(table: 'coverage_summary' | 'page_changes', query: string): Promise<void> {
  const file = await newestFile(home.warehouse, table);
  await rewrite(file, query);
  const files = `json_merge_patch(files::json, {${table}: {sha256: '${hashOf(file)}'}}::json) as files`;
  await rewrite(await newestFile(home.warehouse, 'snapshots'), `select * replace (${files}) from self`);
}

test('a summary that does not add up, though file and marker agree', async () => {
  await miswrite('coverage_summary', 'select * replace (pages + 1 as pages) from self');
  expect(await verdict()).toMatchObject({ code: 1, text: expect.stringContaining('the summary of commit') });
});

const MISRECORDED: [how: string, change: string][] = [
  ['not recorded', 'fetch_status'],
  ['recorded as one that came', 'indexed'],
];
test.each(casesAtLength(MISRECORDED, 'not recorded'))('a page that left the index, %s', async (_, change) => {
  await miswrite(
    'page_changes',
    `select * replace (if(change = 'deindexed', '${change}', change) as change) from self`,
  );
  expect(await verdict()).toMatchObject({
    code: 1,
    text: expect.stringMatching(/[1-9] pages? came into the index or left it/),
  });
});

describe('the state', () => {
  test('a deleted file is only a note, because the next sync makes it anew', async () => {
    const file = await newestState();
    rmSync(file);
    expect(await verdict()).toMatchObject({ code: 0, levels: ['note'], text: expect.stringContaining(file) });
  });

  test.for(atLength(['altered'], ['altered', 'garbage', 'empty']))('a file that is %s', async (how) => {
    const file = await newestState();
    if (how === 'altered') await rewrite(file, 'select * replace (absences + 1 as absences) from self');
    else writeFileSync(file, how === 'empty' ? '' : 'garbage');
    const { code, text } = await verdict();
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining(file) });
    // What cannot be read says nothing about what follows it.
    if (how !== 'altered') expect(text).not.toMatch(/indexhouse\.duckdb|No magic bytes/);
  });
});

describe('indexhouse.duckdb', () => {
  test('rows that were deleted, changed or added, each table by its name', async () => {
    const tampers = {
      coverage: 'delete from coverage where rowid = 3',
      url_reports: "update url_reports set index_summary = 'changed' where rowid = 3",
      page_changes: 'insert into page_changes select * from page_changes limit 1',
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
    expect(findings.map(({ remedy }) => remedy)).toContainEqual(expect.stringContaining('indexhouse rebuild'));
  });

  testAtLength('a dropped table', async () => {
    await inDuckdb(home.warehouse, 'drop table coverage cascade');
    expect(await verdict()).toMatchObject({ code: 1, text: expect.stringContaining('coverage') });
  });

  testAtLength('two rows that have exchanged their values', async () => {
    const urlOf = (row: number) => `(select url from coverage where rowid = ${row})`;
    await inDuckdb(
      home.warehouse,
      `update coverage set url = case rowid when 3 then ${urlOf(4)} else ${urlOf(3)} end where rowid in (3, 4)`,
    );
    expect((await verdict()).code).toBe(1);
  });

  test('lacks the newest snapshot: it lags', async () => {
    const id = basename(await newestFile(home.warehouse, 'snapshots'), '.parquet');
    await inDuckdb(
      home.warehouse,
      ...[...DATA_TABLES, 'snapshots'].map((table) => `delete from ${table} where snapshot_id = '${id}'`),
    );
    expect(await verdict()).toMatchObject({
      code: 3,
      levels: ['lag'],
      text: expect.stringContaining('1 snapshot behind'),
    });
  });

  testAtLength('lacks the row of a run: it lags', async () => {
    await inDuckdb(home.warehouse, 'delete from runs where rowid = 1');
    expect(await verdict()).toMatchObject({ code: 3, levels: ['lag'], text: expect.stringContaining('runs') });
  });

  testAtLength('is missing: it lags', async () => {
    rmSync(database());
    expect(await verdict()).toMatchObject({ code: 3, levels: ['lag'], text: expect.stringContaining(database()) });
  });

  test('is garbage', async () => {
    writeFileSync(database(), 'garbage');
    expect(await verdict()).toMatchObject({ code: 1, text: expect.stringContaining(database()) });
  });
});

testAtLength('a sync that runs meanwhile is no difference', async () => {
  const api = { requests_per_minute: 6000, page_size: 20 };
  const paced = new Home(home.folder, simulator, ['w'], { api });
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

import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { readStatus } from '../../src/analysis/status.js';
import { followDuckdb } from '../../src/followers/rebuild.js';
import { readReport } from '../../src/report/report.js';
import { withEngine } from '../../src/storage/engine.js';
import type { DamagedFile } from '../../src/warehouse/damage.js';
import { stateFile, tableFile } from '../../src/warehouse/layout.js';
import { openReader, type Row, rowsOf } from '../analysis/given.js';
import { atLength, casesAtLength, testAtLength } from '../given/at-length.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { copyOf, temporaryFolder } from '../given/folder.js';
import { readMarkers } from '../given/markers.js';
import { readParquet } from '../given/parquet.js';
import { serveWarehouse } from '../given/served.js';
import type { GivenPage } from '../given/service.js';
import { onDuckdb } from '../given/tamper.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { plan } from '../plan/given.js';

const MEMORY = 256e6;
const NOW = Date.parse('2025-03-03T00:00:00Z');

const page = (name: string, summary: string): GivenPage => ({
  url: `https://shop.example/${name}`,
  entry: { index_summary: summary },
  report: {},
});

/** Of the newest snapshot of `shop`. */
type Kind = 'state' | 'coverage' | 'snapshots' | 'runs';
const DAMAGES = {
  missing: { damage: (file: string) => rmSync(file), reason: 'is missing' },
  empty: { damage: (file: string) => writeFileSync(file, ''), reason: 'is empty' },
  truncated: {
    damage: (file: string) => writeFileSync(file, readFileSync(file).subarray(0, -20)),
    reason: 'is truncated, or not a Parquet file',
  },
  garbled: {
    damage: (file: string) => {
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(7, 4, bytes.length - 8));
    },
    reason: 'cannot be read: ',
  },
};

let built: BuiltWarehouse;
let files: Record<Kind, string>;
/** What the whole warehouse answers. */
let whole: { state: Row[]; plan: unknown; websites: unknown };

beforeAll(async () => {
  built = await buildWarehouse([
    {
      at: '2025-03-01T02:00:00Z',
      lists: { shop: [page('a', 'Indexed'), page('b', 'Indexed')], blog: [page('x', 'Indexed')] },
    },
    { at: '2025-03-02T02:00:00Z', lists: { shop: [page('a', 'Not Indexed'), page('c', 'Indexed')] } },
  ]);
  const markers = await withEngine({ memoryLimit: MEMORY, temporary: `${dirname(built.path)}/tmp` }, (engine) =>
    readMarkers(engine, built.path),
  );
  const id = markers.filter(({ websiteId }) => websiteId === 'shop').at(-1)?.commitId ?? '';
  const place = { websiteId: 'shop', date: '2025-03-02', id };
  const run_id = (await asked(built.path, `select run_id from runs where snapshot_id = '${id}'`)).rows[0]?.['run_id'];
  files = {
    state: stateFile(built.path, 'shop', id),
    coverage: tableFile(built.path, 'coverage', place),
    snapshots: tableFile(built.path, 'snapshots', place),
    runs: tableFile(built.path, 'runs', { ...place, id: `${run_id}` }),
  };
  const [state, plan, status] = [await asked(built.path, STATE), await planOf(built.path), await statusOf(built.path)];
  whole = { state: state.rows, plan: plan.websites, websites: status.websites };
});

afterAll(() => built.remove());

/** Rows, and what they are without. */
async function asked(warehouse: string, sql: string): Promise<{ rows: Row[]; damaged: readonly DamagedFile[] }> {
  const reader = await openReader(warehouse);
  try {
    return { rows: await rowsOf(reader, sql), damaged: reader.damaged };
  } finally {
    reader.close();
  }
}

const STATE = 'select url, index_summary, absences, website_id from page_state order by url';

/** A copy of the warehouse in which one file is damaged. */
function damagedCopy(kind: Kind, damage: (file: string) => void): { warehouse: string; file: string } {
  const warehouse = copyOf(built.path);
  const file = files[kind].replace(built.path, warehouse);
  damage(file);
  return { warehouse, file };
}

async function statusOf(warehouse: string) {
  const given = {
    memoryLimit: MEMORY,
    resumeWithin: 0,
    maxRejectRatio: 0,
    maxAge: Number.POSITIVE_INFINITY,
    websites: [],
    now: NOW,
  };
  return readStatus({ warehouse, ...given });
}

/** Whether the state is what it was. */
async function isKept(state: string): Promise<boolean> {
  const rows = await readParquet(state);
  return rows.length === 3;
}

/** A plan, and the files that it was made without. */
async function planOf(warehouse: string) {
  const { planned, damaged } = await plan({ warehouse, at: new Date(NOW) });
  return { websites: planned.websites, damaged };
}

/** The pages that the service's listing has. */
async function servedOf(warehouse: string, website: string): Promise<string[]> {
  const served = await serveWarehouse({ warehouse, now: () => NOW, keys: { key: [website] } });
  try {
    const answer = await fetch(`${served.baseUrl}/v1/urls/${website}`, { headers: { authorization: 'Bearer key' } });
    return [...(await answer.text()).matchAll(/"url":"[^"]*\/(\w+)"/g)].map(([, name]) => name ?? '');
  } finally {
    await served.close();
  }
}

describe.each(casesAtLength(Object.entries(DAMAGES), 'truncated'))('a file that is %s', (how, { damage, reason }) => {
  test('a state: made anew by whoever reads it, and kept', async () => {
    const { warehouse, file } = damagedCopy('state', damage);
    expect(await asked(warehouse, STATE)).toEqual({ rows: whole.state, damaged: [] });
    expect(await isKept(file)).toBe(true);
    damage(file);
    expect(await planOf(warehouse)).toEqual({ websites: whole.plan, damaged: [] });
    expect(await isKept(file)).toBe(true);
    damage(file);
    expect(await statusOf(warehouse)).toMatchObject({ websites: whole.websites, damaged: [] });
    expect(await isKept(file)).toBe(true);
  });

  test('data: left out and named', async () => {
    const { warehouse, file } = damagedCopy('coverage', damage);
    const named = [{ path: file, table: 'coverage', websiteId: 'shop', reason: expect.stringContaining(reason) }];
    const sql = 'select (select count(*) from coverage) as listed, (select count(*) from pages) as pages';
    expect(await asked(warehouse, sql)).toEqual({ rows: [{ listed: 3, pages: 4 }], damaged: named });
    expect(await planOf(warehouse)).toEqual({ websites: whole.plan, damaged: named });
    const { damaged, warnings } = await statusOf(warehouse);
    // It looks at the ends of what it does not read.
    if (how !== 'garbled')
      expect([damaged, warnings[0]]).toMatchObject([[{ path: file }], expect.stringContaining(file)]);
    expect(await servedOf(warehouse, 'shop')).toEqual(['a', 'b']);
  });

  test('a marker: its commit is left out', async () => {
    const { warehouse, file } = damagedCopy('snapshots', damage);
    // What has no marker does not exist, so nobody can miss it here: that is for `verify`.
    const named = how === 'missing' ? [] : [{ path: file, table: 'snapshots', websiteId: 'shop' }];
    const sql = 'select (select count(*) from coverage) as listed, (select count(*) from pages) as pages';
    expect(await asked(warehouse, sql)).toMatchObject({ rows: [{ listed: 3, pages: 3 }], damaged: named });
    expect((await planOf(warehouse)).damaged).toMatchObject(named);
    expect((await statusOf(warehouse)).damaged.map(({ path }) => path)).toEqual(named.map(({ path }) => path));
    expect(await servedOf(warehouse, 'shop')).toEqual(['a', 'b']);
  });

  testAtLength('a run: left out and named', async () => {
    const { warehouse, file } = damagedCopy('runs', damage);
    const named = how === 'missing' ? [] : [{ path: file, table: 'runs', websiteId: 'shop' }];
    expect(await asked(warehouse, 'from runs')).toMatchObject({ rows: { length: 2 }, damaged: named });
    expect((await planOf(warehouse)).damaged).toMatchObject(named);
    expect((await statusOf(warehouse)).damaged.map(({ path }) => path)).toEqual(named.map(({ path }) => path));
  });
});

test('only the tables that a question names are looked at', async () => {
  const { warehouse, file } = damagedCopy('coverage', DAMAGES.truncated.damage);
  const reader = await openReader(warehouse);
  onTestFinished(() => reader.close());
  expect(await rowsOf(reader, 'select count(*) as runs from runs')).toEqual([{ runs: 3 }]);
  expect(reader.damaged).toEqual([]);
  expect(await rowsOf(reader, 'select count(*) as listed from coverage')).toEqual([{ listed: 3 }]);
  expect(reader.damaged).toMatchObject([{ path: file }]);
});

test('indexhouse.duckdb takes what can be read, and names what cannot', async () => {
  const { warehouse, file } = damagedCopy('snapshots', DAMAGES.garbled.damage);
  const runs = files.runs.replace(built.path, warehouse);
  writeFileSync(runs, '');
  rmSync(`${warehouse}/indexhouse.duckdb`, { force: true });
  const input = { warehouse, memoryLimit: MEMORY, lockTimeout: 0 };
  const { behind, reason } = await followDuckdb(input);
  expect([behind, reason]).toEqual([2, expect.stringContaining(file)]);
  const taken = await onDuckdb(warehouse, (engine) =>
    engine.rows(z.unknown(), 'from snapshots union all by name from runs'),
  );
  expect(taken).toHaveLength(4);
  const coverage = files.coverage.replace(built.path, warehouse);
  cpSync(files.snapshots, file);
  cpSync(files.runs, runs);
  writeFileSync(coverage, '');
  expect(await followDuckdb(input)).toMatchObject({
    behind: 1,
    reason: expect.stringContaining(`${coverage} is empty`),
  });
  cpSync(files.coverage, coverage);
  expect(await followDuckdb(input)).toEqual({ name: 'duckdb', behind: 0 });
});

testAtLength('a report is made without what cannot be read', async () => {
  const { warehouse } = damagedCopy('coverage', DAMAGES.empty.damage);
  const reader = await openReader(warehouse);
  const { websites } = await readReport(reader, { version: 'test', now: NOW });
  expect([websites.length, reader.damaged.length]).toEqual([2, 1]);
  reader.close();
});

testAtLength('a state that is made without a damaged commit is not kept', async () => {
  const { warehouse, file } = damagedCopy('coverage', DAMAGES.truncated.damage);
  const state = files.state.replace(built.path, warehouse);
  rmSync(state);
  const { rows, damaged } = await asked(warehouse, STATE);
  expect(rows).toMatchObject([
    { url: 'https://shop.example/a', index_summary: 'Indexed', absences: 0 },
    { url: 'https://shop.example/b', index_summary: 'Indexed', absences: 0 },
    { url: 'https://shop.example/x', website_id: 'blog' },
  ]);
  expect([damaged.map(({ path }) => path), existsSync(state)]).toEqual([[file], false]);
  expect(await planOf(warehouse)).toMatchObject({ damaged: [{ path: file }] });
  expect(existsSync(state)).toBe(false);
});

test('commands warn on stderr, answer on stdout and end with 3', async () => {
  const folder = temporaryFolder();
  const { warehouse, file } = damagedCopy('snapshots', DAMAGES.empty.damage);
  const config = writeConfig(folder, { baseUrl: 'http://127.0.0.1:9', sections: { warehouse: { path: warehouse } } });
  const commands = [
    ['query', '--sql', 'select count(*) as n from coverage', '--json', '--warehouse', warehouse],
    ['report', '--json', '--out', `${folder}/report.html`, '--warehouse', warehouse],
    ['plan', '--json', '--config', config],
  ];
  const ended = await Promise.all(commands.slice(0, atLength(1, 3)).map((words) => run(words)));
  for (const { code, stdout, stderr } of ended) {
    expect({ code, stderr }).toMatchObject({ code: 3 });
    expect(stderr).toMatch(/^indexhouse: left out of the answer: .*`indexhouse verify` lists them all\n$/m);
    expect(stderr).toContain(`${file} is empty`);
    expect(JSON.parse(stdout)).toBeTruthy();
  }
  expect(JSON.parse(ended[0]?.stdout ?? '')).toEqual([{ n: 3 }]);
});

describe('a file that is damaged in the middle', () => {
  const damageInside = (file: string) => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, 60, 120));
  };

  test('a question that meets it names it, and ends with 1', async () => {
    const { warehouse, file } = damagedCopy('coverage', damageInside);
    const folder = temporaryFolder();
    const questions = [
      ['--sql', 'from coverage', '--out', `${folder}/a.csv`, '--format', 'csv'],
      ['--sql', 'select max(hash(columns(*))) from coverage'],
    ];
    const ended = await Promise.all(
      questions.slice(0, atLength(1, 2)).map((words) => run(['query', ...words, '--warehouse', warehouse])),
    );
    for (const each of ended) {
      expect(each).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(`${file} was changed after its commit. Restore damaged files from a backup;`),
      });
    }
    expect(existsSync(`${folder}/a.csv`)).toBe(false);
    // Other files' answers do not suffer.
    expect(await run(['query', '--sql', 'from runs', '--warehouse', warehouse])).toMatchObject({ code: 0 });
  });

  testAtLength('a state: the remedy rebuilds it', async () => {
    const { warehouse, file } = damagedCopy('state', damageInside);
    const asked = () => run(['query', '--sql', STATE, '--json', '--warehouse', warehouse]);
    expect(await asked()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(`${file} cannot be read: .*\\. \`indexhouse verify --repair\` rebuilds it`),
    });
    expect(await run(['verify', '--repair', '--config', configOf(warehouse)])).toMatchObject({ code: 0 });
    expect(JSON.parse((await asked()).stdout)).toEqual(whole.state);
  });
});

test.each(atLength<Kind[]>(['snapshots'], ['snapshots', 'coverage']))(
  'doctor names a damaged file of %s',
  async (kind) => {
    const { warehouse, file } = damagedCopy(kind, DAMAGES.empty.damage);
    const { code, stdout } = await run(['doctor', '--json', '--config', configOf(warehouse)]);
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      expect.arrayContaining([expect.objectContaining({ check: 'log', level: 'error', message: `${file} is empty` })]),
    ]);
  },
);

function configOf(warehouse: string): string {
  return writeConfig(temporaryFolder(), {
    baseUrl: 'http://127.0.0.1:9',
    sections: { warehouse: { path: warehouse } },
  });
}

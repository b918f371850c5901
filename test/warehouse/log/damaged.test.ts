import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readStatus } from '../../../src/answers/status/status.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { listTableFiles, stateFile, tableFile } from '../../../src/warehouse/log/folder/layout.js';
import { forgetChecked, withOtherRows } from '../../../src/warehouse/log/folder/sums.js';
import { openReader, type Row, rowsOf } from '../../answers/query/given.js';
import { atLength, casesAtLength, testAtLength } from '../../given/at-length.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { planAt } from '../../given/dry-run.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { readMarkers } from '../../given/markers.js';
import { readParquet } from '../../given/parquet.js';
import type { GivenPage } from '../../given/service.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

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

let files: Record<Kind, string>;
/** What the whole warehouse answers. */
let whole: { state: Row[]; plan: unknown; websites: unknown };

const built = sharedWarehouse(() =>
  buildWarehouse([
    {
      at: '2025-03-01T02:00:00Z',
      lists: { shop: [page('a', 'Indexed'), page('b', 'Indexed')], blog: [page('x', 'Indexed')] },
    },
    { at: '2025-03-02T02:00:00Z', lists: { shop: [page('a', 'Not Indexed'), page('c', 'Indexed')] } },
  ]),
);
beforeAll(async () => {
  const markers = await withEngine({ memoryLimit: MEMORY, temporary: `${dirname(built.path)}/tmp` }, (engine) =>
    readMarkers(engine, built.path),
  );
  const id = markers.filter(({ websiteId }) => websiteId === 'shop').at(-1)?.snapshotId ?? '';
  const place = { websiteId: 'shop', date: '2025-03-02', id };
  const [ran] = await asked(built.path, `select run_id from runs where snapshot_id = '${id}'`);
  files = {
    state: stateFile(built.path, 'shop', id),
    coverage: tableFile(built.path, 'coverage', place),
    snapshots: tableFile(built.path, 'snapshots', place),
    runs: tableFile(built.path, 'runs', { ...place, id: `${ran?.['run_id']}` }),
  };
  const [state, plan, status] = [await asked(built.path, STATE), await planOf(built.path), await statusOf(built.path)];
  whole = { state, plan, websites: status.websites };
});

async function asked(warehouse: string, sql: string): Promise<Row[]> {
  return rowsOf(await openReader(warehouse), sql);
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

async function planOf(warehouse: string, websites?: string[]) {
  return (await planAt({ warehouse, at: new Date(NOW), ...(websites ? { websites } : {}) })).websites;
}

const LISTED = 'select count(*) as listed from coverage';
const RUNS = 'select count(*) as runs from runs';
/** Which questions need the newest file of each table; the others do not. */
const NEEDED: { kind: Exclude<Kind, 'state'>; needing: string[]; without: string[] }[] = [
  { kind: 'coverage', needing: [LISTED], without: [RUNS, STATE, 'from pages'] },
  { kind: 'snapshots', needing: [LISTED, STATE, 'from snapshots'], without: [RUNS] },
  { kind: 'runs', needing: [RUNS], without: [LISTED, STATE, 'from snapshots'] },
];

describe.each(casesAtLength(Object.entries(DAMAGES), 'truncated'))('a file that is %s', (how, { damage, reason }) => {
  test('a state: made anew by whoever reads it, and kept', async () => {
    const { warehouse, file } = damagedCopy('state', damage);
    expect(await asked(warehouse, STATE)).toEqual(whole.state);
    expect(await isKept(file)).toBe(true);
    damage(file);
    expect(await statusOf(warehouse)).toMatchObject({ websites: whole.websites, damaged: [] });
    expect(await isKept(file)).toBe(true);
  });

  // What has no marker or row does not exist, so nobody can miss it here: that is for `verify`.
  const cases = NEEDED.filter(({ kind }) => how !== 'missing' || kind === 'coverage');
  test.each(cases)('$kind: only what needs it fails, with its name and the remedy', async (given) => {
    const { warehouse, file } = damagedCopy(given.kind, damage);
    const named = new RegExp(`${file} ${reason}.*\\. Restore damaged files from a backup; \`indexhouse verify\``);
    const reader = await openReader(warehouse);
    for (const sql of given.needing) await expect(rowsOf(reader, sql), sql).rejects.toThrow(named);
    for (const sql of given.without) expect(await rowsOf(reader, sql), sql).not.toEqual([]);
    if (given.kind === 'snapshots') await expect(planOf(warehouse)).rejects.toThrow(named);
    else expect(await planOf(warehouse)).toEqual(whole.plan);
    const { damaged, warnings, exit_code } = await statusOf(warehouse);
    // It looks at the ends of what it does not read.
    if (how === 'garbled' && given.kind === 'coverage') return;
    expect([damaged, warnings[0], exit_code]).toMatchObject([[{ path: file }], expect.stringContaining(file), 3]);
  });
});

testAtLength('a website whose marker is damaged does not affect the others', async () => {
  const { warehouse, file } = damagedCopy('snapshots', DAMAGES.truncated.damage);
  const folder = temporaryFolder();
  const query = (...words: string[]) => run(['query', ...words, '--warehouse', warehouse]);
  expect(await query('indexing_trend', 'website=blog')).toMatchObject({ code: 0 });
  expect(await query('indexing_trend', 'website=shop')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(file),
  });
  const report = (...words: string[]) =>
    run(['report', '--out', `${folder}/r.html`, '--warehouse', warehouse, ...words]);
  expect(await report()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(file) });
  expect(existsSync(`${folder}/r.html`)).toBe(false);
  expect(await report('--website', 'blog')).toMatchObject({ code: 0 });
  const config = configOf(warehouse);
  expect(await run(['sync', '--dry-run', '--website', 'blog', '--config', config])).toMatchObject({ code: 0 });
  expect(await run(['sync', '--dry-run', '--config', config])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(file),
  });
  const { websites } = await statusOf(warehouse);
  expect(websites).toMatchObject([
    { website_id: 'blog', pages: { monitored: 1 } },
    { website_id: 'shop', pages: null },
  ]);
});

testAtLength('a state that needs damaged data is not made', async () => {
  const { warehouse, file } = damagedCopy('coverage', DAMAGES.truncated.damage);
  const state = files.state.replace(built.path, warehouse);
  rmSync(state);
  await expect(asked(warehouse, STATE)).rejects.toThrow(file);
  expect(existsSync(state)).toBe(false);
  expect((await statusOf(warehouse)).damaged).toMatchObject([{ path: file }]);
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

function configOf(warehouse: string): string {
  return writeConfig(temporaryFolder(), { sections: { warehouse: { path: warehouse } } });
}

test('a check that begins in the same process calls no file of another check damaged', async () => {
  const { path } = built;
  const files = await listTableFiles(path, 'snapshots');
  await withEngine({ memoryLimit: MEMORY, temporary: temporaryFolder() }, async (engine) => {
    const forgetting = setInterval(forgetChecked, 0);
    try {
      for (let time = 0; time < 5; time++) expect(await withOtherRows(engine, files)).toEqual([]);
    } finally {
      clearInterval(forgetting);
    }
  });
});

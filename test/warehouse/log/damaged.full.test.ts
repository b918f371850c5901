import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { readStatus } from '../../../src/answers/status/status.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { stateFile, tableFile } from '../../../src/warehouse/log/folder/layout.js';
import { openReader, type Row, rowsOf } from '../../answers/query/given.js';
import { run } from '../../given/cli.js';
import { planAt } from '../../given/dry-run.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { readMarkers } from '../../given/markers.js';
import { readParquet } from '../../given/parquet.js';
import { type GivenPage, startService } from '../../given/service.js';
import { findingsOf } from '../../given/verified.js';
import { buildWarehouse, sharedWarehouse, syncAt } from '../../given/warehouse.js';

const MEMORY = 256e6;
const NOW = Date.parse('2025-03-03T00:00:00Z');

const page = (name: string, summary: string): GivenPage => ({
  url: `https://shop.example/${name}`,
  entry: { index_summary: summary },
  report: {},
});

/** Of the newest snapshot of `shop`. */
type Kind = 'state' | 'coverage' | 'snapshots' | 'runs';
const truncate = (file: string) => writeFileSync(file, readFileSync(file).subarray(0, -20));
const garble =
  (from: number, to: number, byte = 7) =>
  (file: string) => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(byte, from, Math.min(to, bytes.length - 8)));
  };
const DAMAGES: [reason: string, damage: (file: string) => void][] = [
  ['is missing', (file) => rmSync(file)],
  ['is truncated, or not a Parquet file', truncate],
  ['cannot be read: ', garble(4, Number.POSITIVE_INFINITY)],
];

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
  const limits = { memoryLimit: MEMORY, maxAge: Number.POSITIVE_INFINITY };
  return readStatus({ warehouse, ...limits, websites: [], now: NOW });
}

async function planOf(warehouse: string) {
  return (await planAt({ warehouse, at: new Date(NOW) })).websites;
}

const LISTED = 'select count(*) as listed from coverage';
const RUNS = 'select count(*) as runs from runs';
/** Which questions need the newest file of each table; the others do not. */
const NEEDED: { kind: Exclude<Kind, 'state'>; needing: string[]; without: string[] }[] = [
  { kind: 'coverage', needing: [LISTED], without: [RUNS, STATE, 'from pages'] },
  { kind: 'snapshots', needing: [LISTED, STATE, 'from snapshots'], without: [RUNS] },
  { kind: 'runs', needing: [RUNS], without: [LISTED, STATE, 'from snapshots'] },
];

test('a damaged state is made anew by whoever reads it, and kept', async () => {
  const { warehouse, file } = damagedCopy('state', truncate);
  expect(await asked(warehouse, STATE)).toEqual(whole.state);
  expect(await readParquet(file)).toHaveLength(3);
  truncate(file);
  expect(await statusOf(warehouse)).toMatchObject({ websites: whole.websites, damaged: [] });
  expect(await readParquet(file)).toHaveLength(3);
});

test('the next sync rebuilds a torn state and compares with it', async () => {
  const { warehouse } = damagedCopy('state', truncate);
  const service = await startService();
  service.list('shop', [page('a', 'Indexed')]);
  const night = { baseUrl: service.url, warehouse, at: '2025-03-03T02:00:00Z', websites: ['shop'] };
  expect((await syncAt(night)).websites).toMatchObject([{ status: 'committed' }]);
  // `verify` follows the whole log, so a comparison with anything else would be a difference.
  expect((await findingsOf(warehouse)).filter(({ level }) => level === 'difference')).toEqual([]);
});

test.each(NEEDED)(
  '$kind: only what needs it fails, with its name and the remedy',
  async ({ kind, needing, without }) => {
    const { warehouse, file } = damagedCopy(kind, truncate);
    const named = new RegExp(`${file} is truncated.*\\. Restore damaged files from a backup; \`indexhouse verify\``);
    const reader = await openReader(warehouse);
    for (const sql of needing) await expect(rowsOf(reader, sql), sql).rejects.toThrow(named);
    for (const sql of without) expect(await rowsOf(reader, sql), sql).not.toEqual([]);
    if (kind === 'snapshots') await expect(planOf(warehouse)).rejects.toThrow(named);
    else expect(await planOf(warehouse)).toEqual(whole.plan);
    const { damaged, warnings, exit_code } = await statusOf(warehouse);
    expect([damaged, warnings[0], exit_code]).toMatchObject([[{ path: file }], expect.stringContaining(file), 3]);
  },
);

test.each(DAMAGES)('a question that needs a file that %s names it', async (reason, damage) => {
  const { warehouse, file } = damagedCopy('coverage', damage);
  await expect(asked(warehouse, LISTED)).rejects.toThrow(`${file} ${reason}`);
});

test('a website whose marker is damaged does not affect the others', async () => {
  const { warehouse, file } = damagedCopy('snapshots', truncate);
  const trend = (website: string) => run(['query', 'indexing_trend', `website=${website}`, '--warehouse', warehouse]);
  expect(await trend('blog')).toMatchObject({ code: 0 });
  expect(await trend('shop')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(file) });
  expect((await statusOf(warehouse)).websites).toMatchObject([
    { website_id: 'blog', pages: { monitored: 1 } },
    { website_id: 'shop', pages: null },
  ]);
});

test('a file that is damaged in the middle is named by a question that meets it, which leaves no output', async () => {
  const { warehouse, file } = damagedCopy('coverage', garble(60, 120, 0xff));
  const out = `${temporaryFolder()}/a.csv`;
  const words = ['query', '--sql', 'from coverage', '--out', out, '--format', 'csv', '--warehouse', warehouse];
  expect(await run(words)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(`${file} was changed after its commit. Restore damaged files from a backup;`),
  });
  expect(existsSync(out)).toBe(false);
});

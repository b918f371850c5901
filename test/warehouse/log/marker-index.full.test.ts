import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/base/time.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { readIndex, updateIndex } from '../../../src/warehouse/log/update-index.js';
import { openReader, rowsOf } from '../../answers/query/given.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { startService } from '../../given/service.js';
import { buildWarehouse, sharedWarehouse, syncAt } from '../../given/warehouse.js';

const NOW = Date.parse('2025-03-06T00:00:00Z');
const page = (name: string) => ({ url: `https://shop.example/${name}` });
const lists = { 'a/b %c': [page('a'), page('b')] };

const longer = { 'a/b %c': [page('a'), page('b'), page('c')] };

/** Three nights of a website in two months; all but the last one are in the index. */
const built = sharedWarehouse(() => {
  const nights = ['02-28', '03-03', '03-05'];
  return buildWarehouse(nights.map((day, at) => ({ at: `2025-${day}T02:00:00Z`, lists: at < 1 ? lists : longer })));
});

async function indexed(warehouse = copyOf(built.path), now = NOW): Promise<string> {
  await updateIndex(warehouse, { memoryLimit: 256e6, temporary: temporaryFolder() }, now, 1);
  return warehouse;
}

/** All that a reader says of the log, whatever the folder is called. */
async function contents(warehouse: string): Promise<unknown> {
  const reader = await openReader(warehouse);
  const rows = [];
  for (const table of ['snapshots', 'runs', 'coverage', 'coverage_summary', 'page_versions'])
    rows.push(await rowsOf(reader, `from ${table} order by all`));
  return JSON.parse(JSON.stringify([reader.markers, rows]).replaceAll(warehouse, ''));
}

test('says what the markers say, without opening the old ones', async () => {
  const warehouse = await indexed();
  expect(await readIndex(warehouse)).toMatchObject({ before: '2025-03-05' });
  const whole = await contents(built.path);
  expect(await contents(warehouse)).toEqual(whole);
  for (const table of ['snapshots', 'runs'] as const) {
    for (const file of await listTableFiles(warehouse, table)) {
      if (file.includes('date=2025-02-28')) writeFileSync(file, 'damaged since');
    }
  }
  expect(await contents(warehouse)).toEqual(whole);
});

test('takes more of what came since, and files that were replaced before go after an hour', async () => {
  const warehouse = await indexed(copyOf(built.path), Date.parse('2025-03-02T00:00:00Z'));
  expect(await readIndex(warehouse)).toMatchObject({ before: '2025-03-03' });
  writeFileSync(join(warehouse, 'index', 'runs-replaced.parquet'), 'of an index before');
  await indexed(warehouse, Date.now() + 2 * HOUR_MS);
  expect(await readIndex(warehouse)).toMatchObject({ before: '2025-03-05' });
  // What was replaced now is still read by who has begun before.
  const there = readdirSync(join(warehouse, 'index'));
  expect(there).toHaveLength(5);
  expect(there).not.toContain('runs-replaced.parquet');
  expect(await contents(warehouse)).toEqual(await contents(built.path));
});

test.each(['2025-03-01T20:00:00Z', '2025-03-06T02:00:00Z'])(
  'a commit of %s is seen at once, but not by who has begun before',
  async (at) => {
    const warehouse = await indexed();
    const service = await startService();
    service.list('new', [page('n')]);
    const query = 'select (select count(*) from snapshots) as snapshots, (select count(*) from runs) as runs';
    const before = await openReader(warehouse);
    await syncAt({ baseUrl: service.url, warehouse, at, websites: ['new'] });
    expect(await rowsOf(await openReader(warehouse), query)).toEqual([{ snapshots: 4, runs: 4 }]);
    await indexed(warehouse, Date.parse('2025-03-07T00:00:00Z'));
    expect(await rowsOf(before, query)).toEqual([{ snapshots: 3, runs: 3 }]);
  },
);

type Damage = (warehouse: string, index: string, files: { runs: string; snapshots: string }) => unknown;
const DAMAGES: [how: string, damage: Damage][] = [
  ['is no JSON', (_, index) => writeFileSync(index, 'torn')],
  ['has no file of runs', (_, __, { runs }) => rmSync(runs)],
  ['has a file that is cut short', (_, __, { snapshots }) => truncateSync(snapshots, 500)],
  ['is of another warehouse', async (warehouse) => rmSync(`${(await listTableFiles(warehouse, 'snapshots'))[0]}`)],
];

test('an index that is damaged, or not of this warehouse, is ignored', async () => {
  const whole = await indexed();
  for (const [how, damage] of DAMAGES) {
    const warehouse = copyOf(whole);
    const index = await readIndex(warehouse);
    await damage(warehouse, join(warehouse, 'index', 'index.json'), index?.files ?? expect.fail());
    expect([how, await readIndex(warehouse)]).toEqual([how, null]);
    if (how === 'is no JSON') expect(await rowsOf(await openReader(warehouse), 'from snapshots')).toHaveLength(3);
  }
});

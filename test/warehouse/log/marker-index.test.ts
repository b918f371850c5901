import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Reader } from '../../../src/answers/query/reader.js';
import { sha256Of } from '../../../src/base/storage/durable.js';
import { HOUR_MS } from '../../../src/base/time.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { readIndex } from '../../../src/warehouse/log/marker-index.js';
import { updateIndex } from '../../../src/warehouse/log/update-index.js';
import { openReader, rowsOf } from '../../answers/query/given.js';
import { atLength, casesAtLength, once, testAtLength } from '../../given/at-length.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { startService } from '../../given/service.js';
import { findingsOf, verified } from '../../given/verified.js';
import { buildWarehouse, sharedWarehouse, syncAt } from '../../given/warehouse.js';

const NOW = Date.parse('2025-03-06T00:00:00Z');
const page = (name: string) => ({ url: `https://shop.example/${name}` });
const lists = { 'a/b %c': [page('a'), page('b')] };

const longer = { 'a/b %c': [page('a'), page('b'), page('c')] };

/** Five nights of a website in two months; all but the last one are in the index. */
const built = sharedWarehouse(() => {
  const nights = ['02-28', '03-02', '03-03', '03-04', '03-05'];
  return buildWarehouse(nights.map((day, at) => ({ at: `2025-${day}T02:00:00Z`, lists: at < 2 ? lists : longer })));
});

async function indexed(warehouse = copyOf(built.path), now = NOW): Promise<string> {
  await updateIndex(warehouse, { memoryLimit: 256e6, temporary: temporaryFolder() }, now, 1);
  return warehouse;
}

async function seenIn<T>(warehouse: string, see: (reader: Reader) => Promise<T>): Promise<T> {
  return see(await openReader(warehouse));
}

/** All that a reader says of the log, whatever the folder is called. */
async function contents(warehouse: string): Promise<unknown> {
  return seenIn(warehouse, async (reader) => {
    const rows = [];
    for (const table of ['snapshots', 'runs', 'coverage', 'coverage_summary', 'page_versions'])
      rows.push(await rowsOf(reader, `from ${table} order by all`));
    return JSON.parse(JSON.stringify([reader.markers, rows]).replaceAll(warehouse, ''));
  });
}

/** A marker of the first night. */
async function oldMarker(warehouse: string): Promise<string> {
  return (await listTableFiles(warehouse, 'snapshots'))[0] ?? '';
}

once('says what the markers say, without opening the old ones', async () => {
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

testAtLength('takes more of what came since, and files that were replaced before go after an hour', async () => {
  const warehouse = await indexed(copyOf(built.path), Date.parse('2025-03-03T12:00:00Z'));
  expect(await readIndex(warehouse)).toMatchObject({ before: '2025-03-04' });
  writeFileSync(join(warehouse, 'index', 'runs-replaced.parquet'), 'of an index before');
  await indexed(warehouse, Date.now() + 2 * HOUR_MS);
  expect(await readIndex(warehouse)).toMatchObject({ before: '2025-03-05' });
  // What was replaced now is still read by who has begun before.
  const there = readdirSync(join(warehouse, 'index'));
  expect(there).toHaveLength(5);
  expect(there).not.toContain('runs-replaced.parquet');
  expect(await contents(warehouse)).toEqual(await contents(built.path));
});

const COMMITS = ['2025-03-01T20:00:00Z', '2025-03-06T02:00:00Z'];
test.each(atLength(COMMITS.slice(1), COMMITS.slice(0, 1)))('a commit of %s is seen at once', async (at) => {
  const warehouse = await indexed();
  const service = await startService();
  service.list('new', [page('n')]);
  await syncAt({ baseUrl: service.url, warehouse, at, websites: ['new'] });
  const query = 'select (select count(*) from snapshots) as snapshots, (select count(*) from runs) as runs';
  expect(await seenIn(warehouse, (reader) => rowsOf(reader, query))).toEqual([{ snapshots: 6, runs: 6 }]);
});

testAtLength('one state of the world is seen, whatever is committed meanwhile', async () => {
  const warehouse = await indexed();
  const service = await startService();
  service.list('new', [page('n')]);
  const seen = await seenIn(warehouse, async (reader) => {
    await syncAt({ baseUrl: service.url, warehouse, at: '2025-03-06T02:00:00Z', websites: ['new'] });
    await indexed(warehouse, Date.parse('2025-03-07T00:00:00Z'));
    return rowsOf(reader, 'select (select count(*) from runs) as runs, (select count(*) from coverage) as listed');
  });
  expect(seen).toEqual([{ runs: 5, listed: 13 }]);
  expect(await seenIn(warehouse, (reader) => rowsOf(reader, 'from runs'))).toHaveLength(6);
});

const INDEXES: Record<string, (warehouse: string) => unknown> = {
  'is no JSON': (warehouse) => writeFileSync(join(warehouse, 'index', 'index.json'), 'torn'),
  'lacks a file': async (warehouse) => rmSync((await readIndex(warehouse))?.files.runs ?? ''),
  'has a file with other bytes': async (warehouse) =>
    writeFileSync((await readIndex(warehouse))?.files.snapshots ?? '', ''),
  'has a file that is cut short': async (warehouse) =>
    truncateSync((await readIndex(warehouse))?.files.snapshots ?? '', 500),
  'is of a newer version': (warehouse) => {
    const file = join(warehouse, 'index', 'index.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"version":3', '"version":4'));
  },
  'is of another warehouse': async (warehouse) => rmSync(await oldMarker(warehouse)),
};

const ignored = casesAtLength(Object.entries(INDEXES), 'has a file that is cut short');
test.each(ignored)('an index that %s is ignored', async (how, damage) => {
  const warehouse = await indexed();
  await damage(warehouse);
  expect(await readIndex(warehouse)).toBeNull();
  const rows = how === 'is of another warehouse' ? 4 : 5;
  expect(await seenIn(warehouse, (reader) => rowsOf(reader, 'from snapshots'))).toHaveLength(rows);
});

testAtLength('verify says that it differs from the markers, and drops it if it is to repair', async () => {
  // It has other rows, and the list of files says that this is right.
  const warehouse = await indexed();
  const other = (await listTableFiles(warehouse, 'snapshots')).find((file) => file.includes('date=2025-03-02')) ?? '';
  const file = (await readIndex(warehouse))?.files.snapshots ?? '';
  const [was, is] = [await sha256Of(file), await sha256Of(other)];
  cpSync(other, file);
  const index = join(warehouse, 'index', 'index.json');
  writeFileSync(index, readFileSync(index, 'utf8').replace(was, is));
  expect(await readIndex(warehouse)).not.toBeNull();
  expect(await findingsOf(warehouse)).toContainEqual(
    expect.objectContaining({ check: 'marker index', level: 'difference' }),
  );
  const { repaired } = await verified(warehouse, true);
  expect(repaired).toContain('dropped the index of old markers: the next sync rebuilds it');
  expect(await contents(warehouse)).toEqual(await contents(built.path));
});

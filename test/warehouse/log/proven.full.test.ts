import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { withReader } from '../../../src/answers/query/reader.js';
import { readStatus } from '../../../src/answers/status/status.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { runExitCode } from '../../../src/sync/receipt.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { openLog } from '../../../src/warehouse/log/log.js';
import { prove, provenSince, readProven } from '../../../src/warehouse/log/proven.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { startService } from '../../given/service.js';
import { buildWarehouse, sharedWarehouse, syncAt } from '../../given/warehouse.js';

const DAY_MS = 86_400_000;
const FIRST = Date.parse('2025-03-01T02:00:00Z');
const NIGHTS = 3;
const MEMORY = 256e6;
const built = sharedWarehouse(() => {
  const pages = ['a', 'b', 'c'].map((name) => ({ url: `https://shop.example/${name}` }));
  return buildWarehouse(
    [1, 2, NIGHTS].map((night) => ({ at: `2025-03-0${night}T02:00:00Z`, lists: { shop: pages.slice(0, night) } })),
  );
});

/** What nights prove of one log, each so many days after the first. */
function proving<T>(warehouse: string, use: (proveOn: (day: number) => Promise<void>) => Promise<T>): Promise<T> {
  const engine = { memoryLimit: MEMORY, temporary: temporaryFolder() };
  return withEngine(engine, async (opened) => {
    const log = await openLog(opened, warehouse);
    return use((day) => prove(log, engine, FIRST + day * DAY_MS));
  });
}

function sumOf(warehouse: string): Promise<{ pages: number }[]> {
  const row = z.object({ pages: z.int() });
  const query = 'select sum(pages)::integer as pages from coverage_summary';
  return withReader({ warehouse, memoryLimit: MEMORY }, (reader) => reader.rows(row, query));
}

test('an older copy of an old file is noticed within 30 days, and then no answer believes it', async () => {
  const warehouse = copyOf(built.path);
  const files = await listTableFiles(warehouse, 'coverage_summary');
  const [older = '', file = ''] = files;
  const [path, whole] = [relative(warehouse, file), readFileSync(file)];
  copyFileSync(older, file);
  const wrong = await sumOf(warehouse);
  const day = NIGHTS + 30;
  const noticed = await proving(warehouse, async (proveOn) => {
    const before: number[] = [];
    for (let on = NIGHTS; on < day; on++) {
      await proveOn(on);
      if ((await readProven(warehouse)).damaged.length === 0) before.push(on);
    }
    return before.length;
  });
  expect(noticed).toBeLessThan(28);
  await expect(sumOf(warehouse)).rejects.toThrow(`${file} was changed after its commit`);

  const service = await startService();
  service.list('shop', [{ url: 'https://shop.example/0' }]);
  const at = new Date(FIRST + day * DAY_MS);
  const night = { baseUrl: service.url, warehouse, websites: ['shop'], followed: 'followed' as const };
  const receipt = await syncAt({ ...night, at: at.toISOString() });
  expect(receipt).toMatchObject({ damaged: [path], websites: [{ status: 'committed' }] });
  expect(runExitCode(receipt)).toBe(3);
  const input = { warehouse, memoryLimit: MEMORY, websites: [], now: at.getTime(), maxAge: DAY_MS };
  const status = await readStatus(input);
  // Followers wait for the damaged commit.
  expect(status.findings).toMatchObject([
    { kind: 'damaged', message: expect.stringContaining(path) },
    { kind: 'lagging' },
  ]);
  const since = Date.parse(`${status.proven_since}`);
  expect(at.getTime() - since).toBeLessThanOrEqual(30 * DAY_MS);

  writeFileSync(file, whole);
  expect((await readStatus(input)).findings).toMatchObject([{ kind: 'lagging' }]);
  expect((await sumOf(warehouse))[0]?.pages).toBeGreaterThan(wrong[0]?.pages ?? 0);
  expect(await syncAt({ ...night, at: new Date(at.getTime() + DAY_MS).toISOString() })).not.toHaveProperty('damaged');
});

test('a file of the newest commit, and its state, are proven each night', async () => {
  const warehouse = copyOf(built.path);
  const newest = (await listTableFiles(warehouse, 'coverage')).at(-1) ?? '';
  const state = join(warehouse, 'state', 'website=shop', basename(newest));
  await proving(warehouse, (proveOn) => proveOn(NIGHTS));
  expect(provenSince(await readProven(warehouse))).toBeNull();
  const before = readFileSync(state);
  for (const file of [newest, state]) {
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    writeFileSync(file, bytes);
  }
  await proving(warehouse, (proveOn) => proveOn(NIGHTS));
  expect((await readProven(warehouse)).damaged).toEqual([relative(warehouse, newest)]);
  rmSync(join(warehouse, 'proven.json'));
  copyFileSync(join(built.path, relative(warehouse, newest)), newest);
  await proving(warehouse, (proveOn) => proveOn(NIGHTS));
  expect(readFileSync(state).equals(before)).toBe(true);
});

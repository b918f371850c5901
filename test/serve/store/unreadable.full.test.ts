import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import type { Table } from '../../../src/warehouse/log/folder/tables.js';
import { copyOf } from '../../given/folder.js';
import { serveWarehouse } from '../../given/served.js';
import type { GivenPage } from '../../given/service.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

const built = sharedWarehouse(() => {
  const pages = (site: string): GivenPage[] =>
    Array.from({ length: 50 }, (_, number) => ({
      url: `https://${site}.example/${number}`,
      entry: { index_summary: 'Indexed' },
      report: { index_summary: 'Indexed' },
    }));
  const lists = { sick: pages('sick'), well: pages('well') };
  return buildWarehouse([1, 2].map((night) => ({ at: `2025-03-0${night}T02:00:00Z`, lists })));
});

/** Overwrites the rows of a file and leaves its footer, so that it is found only when a row is read. */
function rot(file: string): void {
  const bytes = readFileSync(file);
  const footer = bytes.readUInt32LE(bytes.length - 8) + 8;
  writeFileSync(file, bytes.fill(0xa5, 4, bytes.length - footer));
}

async function filesOf(warehouse: string, table: Table): Promise<string[]> {
  return (await listTableFiles(warehouse, table)).filter((file) => file.includes('website=sick'));
}

async function servedWith(damage: (warehouse: string) => Promise<void> = async () => {}) {
  const warehouse = copyOf(built.path);
  await damage(warehouse);
  const keys = { k: ['sick', 'well'], sick: ['sick'], well: ['well'] };
  let now = 0;
  const served = await serveWarehouse({ warehouse, now: () => Date.parse('2025-03-03'), keys, clock: () => now });
  const get = async (path: string, token = 'k') => {
    // Each request looks at the warehouse again.
    now += 1000;
    const answer = await served.get(path, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  const health = async (token = 'k'): Promise<unknown> => {
    const { status, text } = await get('/healthz', token);
    return { answered: status, ...JSON.parse(text) };
  };
  const report = (site: string) => get(`/v1/url-report?url=${encodeURIComponent(`https://${site}.example/7`)}`);
  return { ...served, get, health, report, warehouse };
}

/** The statuses of the website's listing and report while files of a table are torn. */
const TORN = [
  ['snapshots', 503, 503],
  ['coverage_summary', 200, 200],
  ['url_reports', 200, 503],
] as const;

test.each(TORN)(
  'a file of %s that is no Parquet any more is reported once, counted, and costs only what needs it',
  async (table, listing, ofPage) => {
    const { get, health, report, unreadable } = await servedWith(async (path) => {
      for (const file of await filesOf(path, table)) writeFileSync(file, readFileSync(file).subarray(0, 100));
    });
    expect((await get('/v1')).status).toBe(200);
    expect([(await get('/v1/urls/well?limit=1')).status, (await report('well')).status]).toEqual([200, 200]);
    expect([(await get('/v1/urls/sick')).status, (await report('sick')).status]).toEqual([listing, ofPage]);
    expect(unreadable.length).toBeGreaterThan(0);
    expect(unreadable.every((file) => file.includes('website=sick'))).toBe(true);
    const degraded = { answered: 503, status: 'degraded', unreadable_files: unreadable.length };
    expect([await health(), await health('sick')]).toMatchObject([degraded, degraded]);
    expect((await get('/healthz', 'nobody')).status).toBe(401);
    expect(await health('well')).toMatchObject({ status: 'ok', websites: 1, commits: 2, unreadable_files: 0 });
  },
);

test('a file whose rows cannot be read costs the answers that need it, until it is repaired where it is', async () => {
  const { get, health, report, unreadable, warehouse } = await servedWith();
  const newest = (await filesOf(warehouse, 'coverage')).find((file) => file.includes('date=2025-03-02')) ?? '';
  const whole = readFileSync(newest);
  rot(newest);
  for (const _ of [1, 2]) {
    const refused = await get('/v1/urls/sick');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
    expect(refused.text).not.toContain(warehouse);
    expect(refused.text).not.toMatch(/parquet|duckdb/i);
  }
  expect([(await report('sick')).status, (await report('well')).status]).toEqual([503, 200]);
  for (const path of ['/v1', '/v1/urls/well', '/v1/urls/sick?as_of=2025-03-01']) {
    expect([path, (await get(path)).status]).toEqual([path, 200]);
  }
  expect(await health()).toMatchObject({ status: 'degraded', unreadable_files: 1 });
  expect(unreadable).toEqual([expect.stringContaining(newest)]);
  writeFileSync(newest, whole);
  expect((await get('/v1/urls/sick')).status).toBe(200);
  expect(await health()).toMatchObject({ unreadable_files: 0 });
});

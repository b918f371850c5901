import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listTableFiles } from '../../src/warehouse/layout.js';
import { copyOf } from '../given/folder.js';
import { serveWarehouse } from '../given/served.js';
import type { GivenPage } from '../given/service.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';

let built: BuiltWarehouse;
beforeAll(async () => {
  const pages = (site: string): GivenPage[] =>
    Array.from({ length: 50 }, (_, number) => ({
      url: `https://${site}.example/${number}`,
      entry: { index_summary: 'Indexed', index_coverage_state: `state ${number}` },
      report: { index_summary: 'Indexed' },
    }));
  built = await buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { sick: pages('sick'), well: pages('well') } },
    { at: '2025-03-02T02:00:00Z', lists: { sick: pages('sick'), well: pages('well') } },
  ]);
  return () => built.remove();
});

/** Overwrites the rows of a file and leaves its footer, so that it is found only when a row is read. */
function rot(file: string): void {
  const bytes = readFileSync(file);
  const footer = bytes.readUInt32LE(bytes.length - 8) + 8;
  writeFileSync(file, bytes.fill(0xa5, 4, bytes.length - footer));
}

async function servedWith(damage: (warehouse: string) => Promise<void>) {
  const warehouse = copyOf(built.path);
  await damage(warehouse);
  const keys = { k: ['sick', 'well'] };
  const served = await serveWarehouse({ warehouse, now: () => Date.parse('2025-03-03T00:00:00Z'), keys });
  onTestFinished(served.close);
  const get = async (path: string) => {
    const answer = await fetch(served.baseUrl + path, { headers: { authorization: 'Bearer k' } });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  const report = (site: string) => get(`/v1/url-report?url=${encodeURIComponent(`https://${site}.example/7`)}`);
  return { ...served, get, report, warehouse };
}

describe('a file that is no Parquet any more', () => {
  it.each(['snapshots', 'runs', 'coverage', 'coverage_summary', 'url_reports'] as const)(
    'of %s leaves other websites as they are, and is told once and counted',
    async (table) => {
      const { get, report, unreadable } = await servedWith(async (path) => {
        for (const file of await listTableFiles(path, table)) {
          if (file.includes('website=sick')) writeFileSync(file, readFileSync(file).subarray(0, 100));
        }
      });
      expect((await get('/v1')).status).toBe(200);
      expect((await get('/v1/urls/well?limit=1')).status).toBe(200);
      expect((await report('well')).status).toBe(200);
      expect([200, 404, 503]).toContain((await get('/v1/urls/sick')).status);
      expect([200, 404, 503]).toContain((await report('sick')).status);
      expect(unreadable.length).toBeGreaterThan(0);
      expect(unreadable.every((file) => file.includes('website=sick'))).toBe(true);
      const health = { status: 'degraded', unreadable_files: unreadable.length };
      expect(JSON.parse((await get('/healthz')).text)).toMatchObject(health);
    },
  );
});

describe('a file whose rows cannot be read', () => {
  it('costs the answers that need it, and nothing else', async () => {
    const { get, report, unreadable, warehouse } = await servedWith(async (path) => {
      for (const file of await listTableFiles(path, 'coverage')) {
        if (file.includes('website=sick') && file.includes('date=2025-03-02')) rot(file);
      }
    });
    expect(JSON.parse((await get('/healthz')).text)).toEqual({
      status: 'ok',
      websites: 2,
      commits: 4,
      unreadable_files: 0,
    });
    for (const _ of [1, 2]) {
      const refused = await get('/v1/urls/sick');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
      expect(refused.text).not.toContain(warehouse);
      expect(refused.text).not.toMatch(/parquet|duckdb/i);
    }
    expect((await report('sick')).status).toBe(503);
    expect((await get('/v1')).status).toBe(200);
    expect((await get('/v1/urls/well')).status).toBe(200);
    expect((await get('/v1/urls/well?sort=-index_coverage_state')).status).toBe(200);
    expect((await report('well')).status).toBe(200);
    expect((await get('/v1/urls/sick?as_of=2025-03-01')).status).toBe(200);
    expect(JSON.parse((await get('/healthz')).text)).toMatchObject({ status: 'degraded', unreadable_files: 1 });
    expect(unreadable).toEqual([expect.stringContaining('website=sick')]);
  });

  it('of reports costs the reports that it holds', async () => {
    const { get, report } = await servedWith(async (path) => {
      for (const file of await listTableFiles(path, 'url_reports')) if (file.includes('website=sick')) rot(file);
    });
    expect((await report('sick')).status).toBe(503);
    expect((await report('well')).status).toBe(200);
    expect((await get('/v1/urls/sick')).status).toBe(200);
  });
});

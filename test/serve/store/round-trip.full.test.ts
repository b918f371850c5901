import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { withReader } from '../../../src/answers/query/reader.js';
import { datedAt, startSimulator } from '../../given/client-clock.js';
import { temporaryFolder } from '../../given/folder.js';
import { NASTY_PATHS } from '../../given/nasty-paths.js';
import { MEMORY_LIMIT, serveWarehouse } from '../../given/served.js';
import { syncAt } from '../../given/warehouse.js';

async function rowsOf(warehouse: string, query: string): Promise<unknown[]> {
  return withReader({ warehouse, memoryLimit: MEMORY_LIMIT }, (reader) => reader.rows(z.unknown(), query));
}

it('a warehouse that is made from a served warehouse holds the same, field by field', async () => {
  const folder = temporaryFolder();
  const simulator = await startSimulator({ websites: [{ id: 'shop', pages: 50, paths: NASTY_PATHS }], nights: 3 });
  const first = join(folder, 'first');
  const now = simulator.world.now;
  const sections = { api: { token: 'demo-token' } };
  await syncAt({ baseUrl: simulator.url, warehouse: first, at: now.toISOString(), websites: ['shop'], sections });

  let baseUrl = '';
  const served = await serveWarehouse({
    warehouse: first,
    now: () => now.getTime(),
    keys: { 'demo-token': ['shop'] },
    options: datedAt(() => baseUrl),
  });
  baseUrl = served.baseUrl;
  const second = join(folder, 'second');
  const receipt = await syncAt({ baseUrl, warehouse: second, at: now.toISOString(), websites: ['shop'], sections });
  expect(receipt.websites[0]).toMatchObject({ listing_status: 'complete' });

  const coverage = 'select * exclude (snapshot_id, snapshot_at, snapshot_date, listed_at) from coverage order by url';
  const reports =
    'select * exclude (snapshot_id, snapshot_at, snapshot_date, fetched_at) from url_reports order by url';
  for (const query of [coverage, reports]) {
    const kept = await rowsOf(first, query);
    expect(kept.length).toBeGreaterThan(40);
    expect(await rowsOf(second, query)).toEqual(kept);
  }
});

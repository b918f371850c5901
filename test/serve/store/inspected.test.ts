import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../given/folder.js';
import { commitInspected, pageOf, SITE } from '../../given/inspected.js';
import { serveWarehouse } from '../../given/served.js';

const NOW = Date.parse('2025-03-04T00:00:00.000Z');

test('what Search Console does not say of a page, its history and a record to link to, comes from the warehouse', async () => {
  const warehouse = join(temporaryFolder(), 'warehouse');
  await commitInspected(warehouse, [
    { lists: ['/a', '/b', '/d'], inspects: { '/a': 'Submitted and indexed', '/d': 'Soft 404' } },
    { lists: ['/a', '/b', '/c', '/d'], inspects: { '/a': 'Crawled - currently not indexed' } },
    { lists: ['/a', '/b', '/c', '/d'], inspects: { '/b': 'Soft 404', '/d': 'Submitted and indexed' } },
  ]);
  const served = await serveWarehouse({ warehouse, now: () => NOW, keys: { key: [SITE] } });
  const get = async (path: string): Promise<unknown> => (await served.get(path)).json();
  const report = (path: string, when = '') => get(`/v1/url-report?url=${encodeURIComponent(pageOf(path))}${when}`);
  expect(await report('/a')).toMatchObject({
    index_summary: 'Not Indexed',
    previously_indexed: 'Yes',
    canonical_changed: 'No',
    canonical_changed_link: null,
    ever_blocked_by_robots_txt: 'No',
    service_link: `${served.baseUrl}/dashboard/websites/${encodeURIComponent(SITE)}/page?url=${encodeURIComponent(pageOf('/a'))}`,
  });
  expect(await report('/b')).toMatchObject({ index_summary: 'Not Indexed', previously_indexed: 'No' });
  expect(await report('/d')).toMatchObject({ index_summary: 'Indexed', previously_indexed: 'Yes' });
  // What happened later is not known as of a date.
  expect(await report('/d', '&as_of=2025-03-02')).toMatchObject({ previously_indexed: 'No' });
  expect(await report('/c')).toMatchObject({ index_summary: null, previously_indexed: null, page_detection: null });
  expect(await get(`/v1/urls/${encodeURIComponent(SITE)}?limit=1`)).toMatchObject({
    urls: [{ url: pageOf('/a'), service_link: expect.stringContaining('/page?url=') }],
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../given/folder.js';
import { type OddWebsite, pagesOf, startOddService, windowOf } from '../given/odd-service.js';
import { syncOne } from '../given/sync-one.js';
import { type GivenPlan, plan } from './given.js';

const AT = new Date('2025-03-02T02:00:00Z');
const LARGEST_WINDOW = 100;

/** A website of so many pages, of which one answer holds a hundred at most. */
function website(id: string, pages: number): OddWebsite {
  const urls = pagesOf(id, pages);
  return { listing: ({ skip, limit }) => windowOf(urls, { skip, limit: Math.min(limit ?? 100, LARGEST_WINDOW) }) };
}

/** The service answers at `/v1` as for a website of that name. */
function keyOf(...ids: string[]): OddWebsite {
  const websites_access = ids.map((_id) => ({ _id, url: `https://${_id}.example` }));
  const account = { _id: 'a', email: 'a@example.com' };
  return { listing: () => ({ body: JSON.stringify({ _id: 'k', api_key_label: 'k', account, websites_access }) }) };
}

async function given(websites: Record<string, OddWebsite>) {
  const service = await startOddService(websites);
  onTestFinished(() => service.close());
  const warehouse = join(temporaryFolder(onTestFinished), 'warehouse');
  // To name every page costs requests of its own.
  const planned = (rest: Partial<GivenPlan> = {}) =>
    plan({ warehouse, at: AT, baseUrl: service.url, ...rest, input: { writeWanted: undefined, ...rest.input } });
  return { service, warehouse, planned };
}

describe('a website without a snapshot', () => {
  it('costs one request, which tells its pages and the size of a window', async () => {
    const { service, warehouse, planned } = await given({ w: website('w', 1000) });
    const { forecast } = await planned({ websites: ['w'], sections: { api: { requests_per_minute: 60 } } });
    expect(service.requests).toEqual(['/v1/urls/w?skip=0&limit=1000']);
    expect(forecast).toMatchObject({
      requests_sent: 1,
      websites: [{ basis: 'service', pages: 1000, listing_requests: 11, wanted: { new: 1000, total: 1000 } }],
      totals: { requests: 1011, duration_seconds: 1011, nights_until_young: 1 },
    });
    expect(existsSync(warehouse)).toBe(false);
  });

  it('costs one more where the key tells the websites', async () => {
    const { service, planned } = await given({ v1: keyOf('w', 'x'), w: website('w', 30), x: website('x', 5) });
    const { forecast } = await planned();
    expect(service.requests.sort()).toEqual(['/v1', '/v1/urls/w?skip=0&limit=1000', '/v1/urls/x?skip=0&limit=1000']);
    expect(forecast.totals).toMatchObject({ pages: 35, duration_seconds: null, ends_at: null });
  });

  it('shares the requests of its key evenly, after the listings', async () => {
    const { planned } = await given({ w: website('w', 1000), x: website('x', 10), y: website('y', 1000) });
    const sections = { api: { requests_per_minute: 60 }, reports: { deadline: '5m' } };
    const { forecast } = await planned({ websites: ['w', 'x', 'y'], sections });
    // 300 requests, of which 11 + 1 + 11 list; x wants 10 reports, and the others share 267.
    expect(forecast.websites.map(({ reached, limit }) => [reached.total, limit])).toEqual([
      [133, 'deadline'],
      [10, null],
      [134, 'deadline'],
    ]);
    expect(forecast.keys).toMatchObject([
      { key: 'api.token', requests: 300, duration_seconds: 300, not_reached: 1733 },
    ]);
  });

  it('is told as unknown where nothing may be asked', async () => {
    const { service, planned } = await given({ w: website('w', 30) });
    const { forecast } = await planned({ websites: ['w'], input: { ask: 'never' } });
    expect([forecast.websites, forecast.unknown_websites]).toEqual([[], [{ website_id: 'w', website_name: null }]]);
    expect(service.requests).toEqual([]);
  });

  it('is asked for without `limit` where that is refused', async () => {
    const pages = pagesOf('w', 250);
    const listing: OddWebsite['listing'] = ({ skip, limit }) =>
      limit === null ? windowOf(pages, { skip, limit }) : { status: 422 };
    const { planned } = await given({ w: { listing } });
    const { forecast } = await planned({ websites: ['w'] });
    expect(forecast.websites).toMatchObject([{ pages: 250, listing_requests: 3 }]);
  });

  it.each([
    ['that the service does not know', { status: 404 }, 'check its id under websites'],
    ['that answers no listing', { body: '<html>' }, 'check api.base_url'],
    ['that is in trouble', { status: 503 }, 'try again later'],
  ])('%s ends the plan with a remedy, after one request', async (_, answer, remedy) => {
    const { service, planned } = await given({ w: { listing: () => answer } });
    const error = await planned({ websites: ['w'] }).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/cannot ask the service how many pages w has: /);
    expect(String(error)).toContain(remedy);
    expect(String(error)).not.toContain('--offline');
    expect(service.requests).toHaveLength(1);
  });
});

describe('a website with a snapshot', () => {
  it('is asked for its pages only on demand; those beyond what is known are new', async () => {
    const websites = { w: website('w', 120) };
    const { service, warehouse, planned } = await given(websites);
    await syncOne({ baseUrl: service.url, warehouse, at: '2025-03-01T02:00:00Z' });
    service.requests.length = 0;
    expect((await planned()).forecast.websites).toMatchObject([{ basis: 'snapshot', pages: 120, listing_requests: 2 }]);
    expect(service.requests).toEqual([]);
    websites.w = website('w', 320);
    Object.assign(websites, { v1: keyOf('w') });
    const { forecast } = await planned({ input: { ask: 'always' } });
    expect(forecast.websites).toMatchObject([
      { basis: 'snapshot_and_service', pages: 320, listing_requests: 4, wanted: { new: 200, oldest: 120 } },
    ]);
    expect(service.requests).toHaveLength(2);
  });

  it('can still be planned for without a service that answers, and the error says so', async () => {
    const { service, warehouse, planned } = await given({ w: website('w', 20) });
    await syncOne({ baseUrl: service.url, warehouse, at: '2025-03-01T02:00:00Z' });
    await service.close();
    const asked = planned({ websites: ['w'], input: { ask: 'always' } });
    await expect(asked).rejects.toThrow(/failed: .*ECONNREFUSED.* indexhouse plan --offline/);
    const { forecast } = await planned({ websites: ['w', 'x'], input: { ask: 'never' } });
    expect(forecast.websites).toMatchObject([{ website_id: 'w', pages: 20 }]);
    expect(forecast.unknown_websites).toMatchObject([{ website_id: 'x' }]);
  });
});

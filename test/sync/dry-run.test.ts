import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { listingRequests } from '../../src/sync/dry-run.js';
import { WarehouseError } from '../../src/warehouse/log/folder/prepare.js';
import { casesAtLength, once } from '../given/at-length.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { planAt } from '../given/dry-run.js';
import { atFileEnd, temporaryFolder } from '../given/folder.js';
import { givenNights, type Nights, urlOf } from '../given/nights.js';
import { type ScriptedService, startService, windowOf } from '../given/service.js';
import { filesBelow } from '../given/thinned.js';
import { syncWebsite } from '../given/warehouse.js';

const ONE_BY_ONE = { concurrency: 1 };
let backlog: Nights;
let list: Record<string, object>;
let many: Nights;

/** Three nights that leave a page for each reason; the listing of the last one. */
async function givenBacklog(given: Nights): Promise<Record<string, object>> {
  const crawled = (day: number) => ({ last_crawl_time: `2025-02-0${day}T00:00:00.000Z` });
  const first = { missing: {}, changed: {}, recrawled: crawled(1), old: {}, older: {}, failing: {}, gone: {} };
  const sections = { api: ONE_BY_ONE };
  await given.night({ list: first, reports: { failing: 400 }, sections });
  await given.night({ list: first, reports: { failing: 400, older: 400 }, sections });
  const last = {
    fresh: {},
    changed: { index_summary: 'Indexed' },
    recrawled: crawled(2),
    old: {},
    older: {},
    failing: {},
  };
  await given.night({ list: last, sections: { api: ONE_BY_ONE, reports: { max_per_run: 1 } } });
  return last;
}

beforeAll(async () => {
  backlog = await givenNights();
  list = await givenBacklog(backlog);
  many = await givenNights();
  const pages = Array.from({ length: 90 }, (_, at) => [`p${String(at).padStart(2, '0')}`, {}]);
  await many.night({ list: Object.fromEntries(pages), sections: { reports: { max_per_run: 0 } } });
});

describe('a dry run', () => {
  const orders: [how: string, reports: Record<string, unknown>][] = [
    ['as configured by default', {}],
    ['with priorities', { refresh_after: '2d', priority: { first: ['/old*', '/failing'], never: ['/recrawled'] } }],
    ['of a part', { max_per_run: 3 }],
  ];
  it.concurrent.each(casesAtLength(orders, 'as configured by default'))('predicts the run: %s', async (_, reports) => {
    const given = await backlog.copy(atFileEnd);
    const { websites } = await planAt({ warehouse: given.warehouse, at: given.at(4), sections: { reports } });
    const { asked, receipt } = await given.night({ list, sections: { api: ONE_BY_ONE, reports } });
    expect(asked.length).toBeGreaterThan(2);
    const { planned, by_reason, left } = receipt.reports;
    expect(websites).toMatchObject([{ reports: { planned, by_reason, left } }]);
    expect(websites[0]?.first_pages.map(({ url }) => url)).toEqual(asked.slice(0, 5).map(urlOf));
  });

  once.concurrent('says what is asked for and why, and writes nothing but a state that is missing', async () => {
    const given = await backlog.copy(atFileEnd);
    const before = filesBelow(given.warehouse);
    const asked = { warehouse: given.warehouse, at: given.at(4), websites: ['w', 'unknown'] };
    const planned = await planAt(asked);
    expect(filesBelow(given.warehouse)).toEqual(before);
    // Of the two that the last listing lacks one was asked for, and is gone.
    expect(planned).toMatchObject({
      unfinished_run: false,
      websites: [{ website_id: 'w', pages: 6, listing_requests: 1, limit: null }],
      unknown_websites: ['unknown'],
    });
    expect(planned.websites[0]?.first_pages).toEqual(
      ['missing', 'changed', 'fresh', 'recrawled', 'older'].map((name, at) => ({
        url: urlOf(name),
        reason: ['missing', 'changed', 'new', 'recrawled', 'oldest'][at],
      })),
    );
    rmSync(`${given.warehouse}/state/website=w`, { recursive: true });
    expect(await planAt(asked)).toEqual(planned);
    const foreign = { ...asked, sections: { warehouse: { time_zone: 'Europe/Berlin' } } };
    await expect(planAt(foreign)).rejects.toThrow(WarehouseError);
  });

  // Of 90 pages, none has a report.
  once.concurrent.each([
    ['all', {}, { planned: 90, left: 0 }, null, 91, 91],
    ['a deadline', { deadline: '1m' }, { planned: 90, left: 0 }, 'deadline', 91, 60],
    ['a budget', { max_per_run: 30 }, { planned: 30, left: 60 }, 'max_per_run', 31, 31],
    ['the listing', { max_per_run: 0 }, { planned: 0, left: null }, 'max_per_run', 1, 1],
  ])('counts requests and time: %s', async (_, reports, counted, limit, requests, ends) => {
    const sections = { api: { requests_per_minute: 60 }, reports };
    const at = many.at(5);
    const planned = await planAt({ warehouse: many.warehouse, at, sections });
    expect(planned.websites).toMatchObject([{ reports: counted, requests, duration_seconds: requests, limit }]);
    const ends_at = new Date(at.getTime() + ends * 1000).toISOString();
    expect(planned.totals).toMatchObject({ requests, duration_seconds: requests, ends_at });
  });
});

describe('indexhouse sync --dry-run', () => {
  const HOSTILE = 'https://w.example/"a",b\u009b31m\u202e=1';
  let folder: string;
  let config: string;
  let service: ScriptedService;

  beforeAll(async () => {
    folder = temporaryFolder();
    const pages = [HOSTILE, ...Array.from({ length: 29 }, (_, at) => `https://w.example/p${at}`)];
    service = await startService({ w: { listing: (window) => windowOf(pages, window) } });
    await syncWebsite({ baseUrl: service.url, warehouse: join(folder, 'warehouse'), at: '2025-03-01T02:00:00Z' });
    const sections = { api: { requests_per_minute: 10 }, reports: { max_per_run: 20 } };
    config = writeConfig(folder, { baseUrl: service.url, websites: ['w', 'new'], sections });
    service.requests.length = 0;
  });

  test('asks nothing, writes nothing, and shows hostile addresses harmlessly', async () => {
    const before = filesBelow(join(folder, 'warehouse'));
    const { code, stdout, stderr } = await run(['sync', '--dry-run', '--config', config]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^w +30 +1 +20 +10 +21 +2m 6s +max_per_run$/m);
    expect(stdout).toContain('Reports by reason: 20 oldest\nStarted now, it ends at ');
    expect(stdout).toContain('oldest  https://w.example/"a",b\\x9b31m\\u202e=1');
    expect(stdout).toContain('new: no snapshot yet, so its pages are unknown until the first listing');
    expect(stdout).not.toMatch(/[\u009b\u202e]/);
    expect(filesBelow(join(folder, 'warehouse'))).toEqual(before);
    expect(service.requests).toEqual([]);
  });

  test('prints the document of the contract, and refuses websites that are not configured', async () => {
    const { stdout } = await run(['sync', '--dry-run', '--json', '--config', config]);
    const keys = (value: unknown) => Object.keys(z.record(z.string(), z.unknown()).parse(value));
    const document = z.looseObject({ websites: z.array(z.unknown()), totals: z.unknown() }).parse(JSON.parse(stdout));
    const contract = readFileSync('docs/contract.md', 'utf8').split('\n## Dry run\n')[1]?.split('\n## ')[0];
    for (const key of [document, ...document.websites, document.totals].flatMap(keys))
      expect(contract).toContain(`"${key}"`);
    const unknown = await run(['sync', '--dry-run', '--config', config, '--website', 'x']);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('no website "x" in the configuration') });
  });
});

once.each([
  [1000, 1000, 1],
  [1001, 1000, 2],
  [100_000, 1000, 101],
  [5, 1, 4],
])('a listing of %i pages in windows of %i takes %i requests', (pages, window, requests) => {
  expect(listingRequests(pages, window)).toBe(requests);
});

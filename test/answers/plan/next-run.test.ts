import { rmSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { costSentence, listingRequests, sharesOf } from '../../../src/answers/plan/cost.js';
import { planText } from '../../../src/app/cli/output/plan-text.js';
import { WarehouseError } from '../../../src/warehouse/log/folder/prepare.js';
import { casesAtLength, once } from '../../given/at-length.js';
import { atFileEnd, temporaryFolder } from '../../given/folder.js';
import { givenNights, type Nights, urlOf } from '../../given/nights.js';
import { filesBelow } from '../../given/thinned.js';
import { configFor } from '../../given/warehouse.js';
import { plan } from './given.js';

const ONE_BY_ONE = { concurrency: 1, max_attempts: 1 };
let backlog: Nights;
let list: Record<string, object>;
let many: Nights;

/** Three nights that leave a page for each reason; the listing of the last one. */
async function givenBacklog(given: Nights): Promise<Record<string, object>> {
  const crawled = (day: number) => ({ last_crawl_time: `2025-02-0${day}T00:00:00.000Z` });
  const first = { missing: {}, changed: {}, recrawled: crawled(1), old: {}, older: {}, failing: {}, gone: {} };
  const sections = { api: ONE_BY_ONE };
  await given.night({ list: first, reports: { failing: 500 }, sections });
  await given.night({ list: first, reports: { failing: 500, older: 500 }, sections });
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

function namesOf(pages: readonly { url: string }[]): string[] {
  return pages.map(({ url }) => url.slice(urlOf('').length));
}

describe('the plan of the next run', () => {
  const orders: [how: string, reports: Record<string, unknown>][] = [
    ['as configured by default', {}],
    ['with priorities', { refresh_after: '2d', priority: { first: ['/old*', '/failing'], never: ['/recrawled'] } }],
  ];
  it.concurrent.each(casesAtLength(orders, 'as configured by default'))('predicts the run: %s', async (_, reports) => {
    const given = await backlog.copy(atFileEnd);
    const { wanted } = await plan({ warehouse: given.warehouse, at: given.at(4), sections: { reports } });
    const { asked } = await given.night({ list, sections: { api: ONE_BY_ONE, reports } });
    expect(asked.length).toBeGreaterThan(4);
    expect(namesOf(wanted)).toEqual(asked);
  });

  once.concurrent('says what is wanted and why, and writes nothing but a state that is missing', async () => {
    const given = await backlog.copy(atFileEnd);
    const before = filesBelow(given.warehouse);
    const asked = { warehouse: given.warehouse, at: given.at(4), websites: ['w', 'unknown'] };
    const { planned, wanted } = await plan(asked);
    expect(filesBelow(given.warehouse)).toEqual(before);
    expect(planned).toMatchObject({
      unfinished_run: false,
      websites: [{ website_id: 'w', pages: 7, pages_keep_failing: 1, listing_requests: 1, limit: null }],
      unknown_websites: [{ website_id: 'unknown' }],
    });
    // Of the two that the last listing lacks one was asked for, and is gone.
    expect(wanted.map(({ reason, report_age_days }) => [reason, report_age_days])).toEqual([
      ['missing', 2],
      ['changed', 2],
      ['new', null],
      ['recrawled', 2],
      ['oldest', 3],
      ['oldest', 2],
      ['new', null],
    ]);
    rmSync(`${given.warehouse}/state/website=w`, { recursive: true });
    expect(await plan(asked)).toEqual({ planned, wanted });
    const foreign = { ...asked, sections: { warehouse: { time_zone: 'Europe/Berlin' } } };
    await expect(plan(foreign)).rejects.toThrow(WarehouseError);
  });

  // Of 90 pages, none has a report.
  once.concurrent.each([
    ['all', {}, { reached: 90, limit: null, nights_until_fresh: 1 }, 91],
    [
      'a deadline',
      { refresh_after: '30d', deadline: '1m' },
      { reached: 59, limit: 'deadline', nights_until_fresh: 2 },
      60,
    ],
    [
      'a budget',
      { refresh_after: '30d', max_per_run: 30 },
      { reached: 30, limit: 'max_per_run', nights_until_fresh: 3 },
      31,
    ],
    ['too few', { refresh_after: '1d', max_per_run: 30 }, { reached: 30, nights_until_fresh: null }, 31],
    ['the listing', { max_per_run: 0 }, { reached: 0 }, 1],
  ])('counts requests, time and nights: %s', async (_, reports, website, requests) => {
    const sections = { api: { requests_per_minute: 60 }, reports };
    const { planned } = await plan({ warehouse: many.warehouse, at: many.at(5), sections });
    expect(planned.websites).toMatchObject([{ ...website, requests }]);
    const nights = planned.websites[0]?.nights_until_fresh ?? null;
    expect(planned.totals).toMatchObject({ requests, duration_seconds: requests, nights_until_fresh: nights });
    if (nights) expect(planned.totals.fresh_after).toBe(`2025-03-${String(5 + nights).padStart(2, '0')}T02:00:00.000Z`);
  });

  once.concurrent('says before the first sync what it cannot know, and what 1,000 pages cost', async () => {
    const warehouse = `${temporaryFolder(atFileEnd)}/none`;
    const { planned } = await plan({ warehouse, at: new Date(), websites: ['w'] });
    const text = planText(planned, configFor({ baseUrl: 'https://x', warehouse }), undefined);
    expect(planned).toMatchObject({ websites: [], unknown_websites: [{ website_id: 'w' }], totals: { ends_at: null } });
    expect(text).toMatch(
      /^w: no snapshot yet, .*`indexhouse sync` creates the first one; with `--max-reports 0` it only lists/,
    );
    expect(text).toContain('1,000 pages');
  });
});

describe('the cost', () => {
  once.each([
    [1000, 1000, 1],
    [1001, 1000, 2],
    [100_000, 1000, 101],
    [5, 1, 4],
  ])('of a listing of %i pages in windows of %i is %i requests', (pages, window, requests) => {
    expect(listingRequests(pages, window)).toBe(requests);
  });

  once.each([
    [
      {},
      '1,000 pages at 60 requests a minute: 1 request (1s) for the listing, 1,000 (16m 40s) to fetch every report once, in 1 night.',
    ],
    [{ deadline: '5m' }, /, in 4 nights\.$/],
    [{ max_per_run: 0 }, /; reports\.max_per_run is 0, so no report is fetched\.$/],
  ])('of a new website is one sentence', (reports, sentence) => {
    const sections = { api: { requests_per_minute: 60 }, reports };
    expect(costSentence(1000, configFor({ baseUrl: 'https://x', warehouse: '/none', sections }))).toMatch(sentence);
  });

  once.each([
    [9, [3, 20, 4], [1, 6, 1]],
    [100, [3, 20, 4], [3, 20, 4]],
    [0, [3, 2], [0, 0]],
    [Number.POSITIVE_INFINITY, [3, 2], [3, 2]],
  ])('a capacity of %f is shared in proportion', (capacity, demands, shares) => {
    expect(sharesOf(capacity, demands)).toEqual(shares);
  });
});

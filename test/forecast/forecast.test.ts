import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WarehouseError } from '../../src/warehouse/prepare.js';
import { casesAtLength, testAtLength } from '../given/at-length.js';
import { givenNights, type Nights, urlOf } from '../given/nights.js';
import { contentsOf, plan } from './given.js';

const ONE_BY_ONE = { concurrency: 1, max_attempts: 1 };
const PACED = { requests_per_minute: 60 };

/** Three nights that leave something to wish for each reason; the listing of the last one. */
async function givenBacklog(given: Nights): Promise<Record<string, object>> {
  const crawled = (day: number) => ({ last_crawl_time: `2025-02-0${day}T00:00:00.000Z` });
  const list = { missing: {}, changed: {}, recrawled: crawled(1), old: {}, older: {}, failing: {}, gone: {} };
  const sections = { api: ONE_BY_ONE };
  await given.night({ list, reports: { failing: 500 }, sections });
  await given.night({ list, reports: { failing: 500, older: 500 }, sections });
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

function namesOf(pages: readonly { url: string }[]): string[] {
  return pages.map(({ url }) => url.slice(urlOf('').length));
}

describe('a plan from the newest state', () => {
  const clean: (() => void | Promise<void>)[] = [];
  let backlog: Nights;
  let list: Record<string, object>;
  beforeAll(async () => {
    backlog = await givenNights((each) => void clean.push(each));
    list = await givenBacklog(backlog);
  });
  afterAll(async () => {
    for (const each of clean) await each();
  });

  const orders: [how: string, reports: Record<string, unknown>][] = [
    ['as it is', {}],
    ['with priorities', { refresh_after: '2d', priority: { first: ['/old*', '/failing'], never: ['/recrawled'] } }],
  ];
  for (const [how, reports] of casesAtLength(orders, 'with priorities')) {
    it.concurrent(`has the order of the run that follows, where nothing changed: ${how}`, async (test) => {
      const given = await backlog.copy(test.onTestFinished);
      const { wanted } = await plan({ warehouse: given.warehouse, at: given.at(4), sections: { reports } });
      const { asked } = await given.night({ list, sections: { api: ONE_BY_ONE, reports } });
      expect(asked.length).toBeGreaterThan(4);
      expect(namesOf(wanted)).toEqual(asked);
    });
  }

  it.concurrent('tells what is wanted and why, asks nothing, and writes nothing', async (test) => {
    const given = await backlog.copy(test.onTestFinished);
    const before = contentsOf(given.warehouse);
    const { forecast, wanted } = await plan({ warehouse: given.warehouse, at: given.at(4), websites: ['w'] });
    expect(contentsOf(given.warehouse)).toEqual(before);
    expect(forecast).toMatchObject({ requests_sent: 0, unknown_websites: [], unfinished_run: false });
    expect(forecast.websites).toMatchObject([
      { website_id: 'w', basis: 'snapshot', pages: 7, pages_keep_failing: 1, listing_requests: 1, limit: null },
    ]);
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
    // A state that is lost is made anew, and that is all.
    const named = (contents: string[]) => contents.map((line) => line.split(' ')[0]);
    rmSync(`${given.warehouse}/state/website=w`, { recursive: true });
    const again = await plan({ warehouse: given.warehouse, at: given.at(4), websites: ['w'] });
    expect(again).toEqual({ forecast, wanted, damaged: [] });
    const newest = before.findLast((line) => line.startsWith('state/website=w/'));
    const kept = before.filter((line) => !line.startsWith('state/website=w/') || line === newest);
    expect(named(contentsOf(given.warehouse))).toEqual(named(kept));
    const sections = { warehouse: { time_zone: 'Europe/Berlin' } };
    await expect(plan({ warehouse: given.warehouse, at: given.at(4), sections })).rejects.toThrow(WarehouseError);
  });
});

describe('a plan that is cut', () => {
  const list = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`p${String(at).padStart(2, '0')}`, {}]));

  it.concurrent('by the deadline tells when the run ends, and the first page that it does not reach', async (test) => {
    const given = await givenNights(test.onTestFinished);
    await given.night({ list });
    const sections = { api: PACED, reports: { deadline: '1m' } };
    const { forecast, wanted } = await plan({ warehouse: given.warehouse, at: given.at(3), sections });
    // 60 requests in a minute: one for the listing.
    expect(forecast.websites).toMatchObject([
      {
        reached: { oldest: 59 },
        not_reached: { oldest: 31 },
        limit: 'deadline',
        first_not_reached: { place: 60, url: urlOf('p59'), reason: 'oldest', report_age_days: 2 },
        nights_until_young: 0,
      },
    ]);
    expect(namesOf(forecast.websites[0]?.first_pages ?? [])).toEqual(Object.keys(list).slice(0, 10));
    expect(wanted.map(({ reached }) => reached).lastIndexOf(true)).toBe(58);
    expect(forecast.totals).toMatchObject({
      requests: 60,
      duration_seconds: 60,
      duration_seconds_for_all: 91,
      ends_at: new Date(given.at(3).getTime() + 60_000).toISOString(),
    });
    expect(forecast.next_nightly_sync).toEqual({
      starts_at: '2025-03-20T02:00:00.000Z',
      ends_at: '2025-03-20T02:01:00.000Z',
    });
    expect(forecast.sentence).toContain('with a deadline of 1m that is 2 nights');
  });

  testAtLength('by a budget says so; after how many nights all is young, and why it never is', async () => {
    const given = await givenNights(onTestFinished);
    await given.night({ list, sections: { reports: { max_per_run: 0 } } });
    const planned = async (max: number, days: number) => {
      const sections = { api: PACED, reports: { max_per_run: max } };
      const input = { youngerThan: days * 86_400_000 };
      const { forecast } = await plan({ warehouse: given.warehouse, at: given.at(2), sections, input });
      const [website] = forecast.websites;
      return [website?.limit, website?.nights_until_young, website?.never_young_because ?? null];
    };
    expect(await planned(30, 30)).toEqual(['max_per_run', 3, null]);
    expect(await planned(30, 2)).toEqual(['max_per_run', null, expect.stringContaining('reaches 30 of the 45')]);
    expect(await planned(0, 30)).toEqual(['max_per_run', null, expect.stringContaining('max_per_run is 0')]);
  });

  testAtLength('leaves no page out of the CSV, and says of each whether it is reached', async () => {
    const given = await givenNights(onTestFinished);
    await given.night({ list, sections: { reports: { max_per_run: 40 } } });
    const sections = { reports: { max_per_run: 60 } };
    const { wanted } = await plan({ warehouse: given.warehouse, at: given.at(2), sections });
    expect(wanted.map(({ place }) => place)).toEqual(wanted.map((_, at) => at + 1));
    expect(
      wanted.slice(0, 50).every(({ reason, report_age_days }) => reason === 'new' && report_age_days === null),
    ).toBe(true);
    expect(wanted.filter(({ reached }) => reached)).toEqual(wanted.slice(0, 60));
    expect(wanted[60]).toMatchObject({ reason: 'oldest', report_age_days: 1, reached: false });
  });
});

describe('what the next listing brings', () => {
  it.concurrent('is the median of earlier ones, and goes before the oldest', async (test) => {
    const given = await givenNights(test.onTestFinished);
    const list: Record<string, object> = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`p${at}`, {}]));
    await given.night({ list });
    const first = await plan({ warehouse: given.warehouse, at: given.at(2) });
    expect(first.forecast.websites).toMatchObject([{ expected: null, wanted: { oldest: 20 } }]);
    // Of three listings: 2, 6 and 4 changed pages; 1, 0 and 0 new ones.
    for (const [night, changed] of [2, 6, 4].entries()) {
      for (let at = 0; at < changed; at++) list[`p${at}`] = { index_coverage_state: `state ${night}` };
      if (night === 0) list['q0'] = {};
      await given.night({ list });
    }
    const sections = { reports: { max_per_run: 6 } };
    const { forecast } = await plan({ warehouse: given.warehouse, at: given.at(5), sections });
    expect(forecast.websites).toMatchObject([
      {
        expected: { snapshots: 3, changed: 4, new: 0, recrawled: 0, missing: 0 },
        wanted: { changed: 4, oldest: 17, total: 21 },
        reached: { changed: 4, oldest: 2 },
      },
    ]);
  });
});

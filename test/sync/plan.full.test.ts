import { rmSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { DryRun } from '../../src/sync/dry-run.js';
import { byReason } from '../../src/warehouse/journal/plan.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { planAt } from '../given/dry-run.js';
import { temporaryFolder } from '../given/folder.js';
import { givenNights, type Night, type NightEnd, type Nights, urlOf } from '../given/nights.js';
import { filesBelow } from '../given/thinned.js';

/** Addresses are shown to people. */
const HOSTILE = '"a",b\u009b31m\u202e=1';
const NONE = byReason(() => 0);
const LISTING_ONLY = { reports: { max_per_run: 0 } };

/** One after the other, so that the order of the requests is the order of the plan. */
function oneByOne(reports: Record<string, unknown> = {}): NonNullable<Night['sections']> {
  return { api: { concurrency: 1 }, reports };
}

let given: Nights;
let list: Record<string, object>;
let warehouse: string;

/** Three nights that leave a page for each reason. */
beforeAll(async () => {
  given = await givenNights();
  ({ warehouse } = given);
  const crawled = (day: number) => ({ last_crawl_time: `2025-02-0${day}T00:00:00.000Z` });
  const pages = { missing: {}, changed: {}, recrawled: crawled(1), [HOSTILE]: {}, older: {}, failing: {}, gone: {} };
  await given.night({ list: pages, reports: { failing: 400 }, sections: oneByOne() });
  await given.night({ list: pages, reports: { failing: 400, older: 400 }, sections: oneByOne() });
  const { missing: _, gone: __, ...rest } = pages;
  list = { fresh: {}, ...rest, changed: { index_summary: 'Indexed' }, recrawled: crawled(2) };
  await given.night({ list, sections: oneByOne({ max_per_run: 1 }) });
});

test('a dry run says what is asked for and why, and when it ends, and writes nothing', async () => {
  const before = filesBelow(warehouse);
  const asked = { warehouse, at: given.at(4), websites: ['w', 'unknown'] };
  const planned = await planAt(asked);
  expect(filesBelow(warehouse)).toEqual(before);
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
  const limited = async (reports: Record<string, unknown>) => {
    const { websites, totals } = await planAt({ ...asked, sections: { api: { requests_per_minute: 1 }, reports } });
    const [{ reports: counts, requests, duration_seconds, limit } = {} as DryRun['websites'][0]] = websites;
    const ends = (Date.parse(totals.ends_at ?? '') - given.at(4).getTime()) / 1000;
    return [counts.planned, counts.left, limit, requests, duration_seconds, ends];
  };
  expect(await limited({})).toEqual([7, 0, null, 8, 480, 480]);
  expect(await limited({ deadline: '3m' })).toEqual([7, 0, 'deadline', 8, 480, 180]);
  expect(await limited({ max_per_run: 2 })).toEqual([2, 5, 'max_per_run', 3, 180, 180]);
  expect(await limited({ max_per_run: 0 })).toEqual([0, null, 'max_per_run', 1, 60, 60]);
  // The state of a website is only a shortcut.
  const { warehouse: copy } = await given.copy();
  rmSync(`${copy}/state/website=w`, { recursive: true });
  expect(await planAt({ ...asked, warehouse: copy })).toEqual(planned);
});

test('sync --dry-run asks nothing, and prints the plan', async () => {
  const reports = { max_per_run: 2, priority: { first: ['/"*'] } };
  const sections = { api: { requests_per_minute: 10 }, reports, warehouse: { path: warehouse } };
  const config = writeConfig(temporaryFolder(), { websites: ['w', 'new'], sections });
  const { code, stdout, stderr } = await run(['sync', '--dry-run', '--config', config]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^w +6 +1 +2 +5 +3 +18s +max_per_run$/m);
  expect(stdout).toContain('Reports by reason: 1 missing, 1 oldest\nStarted now, it ends at ');
  expect(stdout).toContain('new: no snapshot yet, so its pages are unknown until the first listing');
  expect(stdout).toContain('https://w.example/"a",b\\x9b31m\\u202e=1');
  expect(stdout).not.toMatch(/[\u009b\u202e]/);
  const { stdout: json } = await run(['sync', '--dry-run', '--json', '--config', config]);
  expect(JSON.parse(json).websites).toMatchObject([{ website_id: 'w', pages: 6, reports: { planned: 2, left: 5 } }]);
});

test('runs fetch what a dry run plans, and what a limit cuts stays wanted', async () => {
  /** The next night does what was planned for it. */
  const planned = async (night: number, tonight: Night): Promise<NightEnd> => {
    const { sections = {} } = tonight;
    const { websites } = await planAt({ warehouse, at: given.at(night), sections });
    const end = await given.night(tonight);
    const { planned, by_reason, left } = end.receipt.reports;
    expect(websites).toMatchObject([{ reports: { planned, by_reason, left } }]);
    expect(websites[0]?.first_pages.map(({ url }) => url)).toEqual([...new Set(end.asked)].slice(0, 5).map(urlOf));
    return end;
  };
  const reports = { changed: 500, recrawled: { sitemaps: 1 } };
  const fourth = await planned(4, { list, reports, sections: oneByOne() });
  const by_reason = { missing: 1, changed: 1, new: 2, recrawled: 1, oldest: 2 };
  expect(fourth.receipt.reports).toMatchObject({ planned: 7, left: 0, by_reason: { ...NONE, ...by_reason } });
  const spent = async (table: 'report_failures' | 'rejected_records') =>
    (await given.rows(table)).map(({ outcome, reason }) => [outcome, reason]).sort();
  expect([await spent('report_failures'), await spent('rejected_records')]).toEqual([
    [
      ['failed', 'changed'],
      ['missing', 'missing'],
    ],
    [[undefined, 'recrawled']],
  ]);
  // Those for the report that answered 500, which is tried five times.
  const row = { requests_retried: 4, reports_wanted: 7, reports_by_reason: by_reason };
  expect(await given.rows('snapshots')).toMatchObject([row]);

  const priority = { first: ['/older', '/fresh', '/failing', '/never*'], never: ['/never*', '/changed'] };
  const named = { ...list, 'never-1': {} };
  const fifth = await planned(5, { list: named, sections: oneByOne({ priority }) });
  expect(fifth.asked.slice(0, 3).sort()).toEqual(['failing', 'fresh', 'older']);
  expect(fifth.asked.slice(3).sort()).toEqual([HOSTILE, 'recrawled']);
  // What is never fetched is not wanted.
  expect(fifth.receipt).toMatchObject({ reports_status: 'complete', reports: { left: 0 } });
});

test('a deadline ends the fetching; what was wanted stays wanted until its report is there', async () => {
  const deadline = await givenNights();
  const names = ['a', 'b', 'c', 'd'];
  const listed = (entry: object) => Object.fromEntries(names.map((name) => [name, entry]));
  await deadline.night({ list: listed({}), sections: oneByOne() });
  const changed = listed({ index_summary: 'Indexed' });
  const second = await deadline.night({
    list: changed,
    sections: oneByOne({ deadline: '1h' }),
    onReport: (number, clock) => {
      if (number === 2) clock.now += 3_600_000;
    },
  });
  expect([second.asked, second.receipt.reports_status, second.exitCode]).toEqual([['a', 'b'], 'deadline', 0]);
  // What the deadline cut was not asked for, so it is not among the planned ones.
  expect(second.receipt.reports).toMatchObject({ planned: 2, fetched: 2, left: 2, by_reason: { changed: 2 } });
  const wanted = ({ state }: NightEnd) => names.map((name) => state.get(name)?.['report_wanted']);
  expect(wanted(second)).toEqual([null, null, 'changed', 'changed']);
  // Nothing is new about them by now, and nothing is old enough. A report that fails stays wanted.
  const sections = oneByOne({ refresh_after: '9d' });
  const third = await deadline.night({ list: changed, reports: { d: 400 }, sections });
  expect([third.asked, wanted(third)]).toEqual([
    ['c', 'd'],
    [null, null, null, 'changed'],
  ]);

  // A key that has to wait until after the deadline ends the fetching at once.
  const before = deadline.clock.now;
  const fourth = await deadline.night({ list: changed, reports: { d: 429 }, sections: oneByOne({ deadline: '4s' }) });
  expect([fourth.receipt.reports_status, fourth.exitCode, fourth.receipt.reports.planned]).toEqual(['deadline', 0, 0]);
  expect(fourth.receipt.error).toContain('before the key may send its next request');
  expect(fourth.receipt.requests).toMatchObject({ throttled: 1, retried: 0 });
  expect(deadline.clock.now - before).toBeLessThan(86_400_000 + 4000);

  const off = await deadline.night({ list: changed, sections: LISTING_ONLY });
  expect([off.receipt.reports_status, off.asked, off.exitCode, off.receipt.pages.listed]).toEqual(['off', [], 0, 4]);
  // Nobody looked what would have been worth it.
  expect(off.receipt.reports.left).toBeNull();
  expect(await deadline.rows('snapshots')).toMatchObject([{ reports_wanted: null, reports_by_reason: {} }]);
});

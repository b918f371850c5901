import { describe, expect } from 'vitest';
import { once, testAtLength } from '../given/at-length.js';
import { givenNights } from '../given/nights.js';

/** One after the other, so that the order of the requests is the order of the plan. */
const ONE_BY_ONE = { api: { concurrency: 1 } };
const LISTING_ONLY = { reports: { max_per_run: 0 } };

describe('the plan', () => {
  once.concurrent('ends at max_per_run, and what it cut comes next', async (test) => {
    const given = await givenNights(test.onTestFinished);
    const list = { a: {}, b: {}, c: {}, d: {}, e: {} };
    const sections = { ...ONE_BY_ONE, reports: { max_per_run: 2 } };
    const asked: string[][] = [];
    for (const [fresh, old] of [
      [2, 0],
      [2, 0],
      [1, 1],
    ]) {
      const end = await given.night({ list, sections });
      expect([end.receipt.reports_status, end.exitCode, end.receipt.error]).toEqual(['budget', 0, undefined]);
      expect(end.receipt.reports).toMatchObject({ planned: 2, left: 3, by_reason: { new: fresh, oldest: old } });
      expect(await given.rows('snapshots')).toMatchObject([{ reports_planned: 2, reports_wanted: 5 }]);
      asked.push(end.asked);
    }
    expect(asked).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'a'],
    ]);
    const all = await given.night({ list, sections: { ...ONE_BY_ONE, reports: { max_per_run: 5 } } });
    expect([all.receipt.reports_status, all.receipt.reports.left]).toEqual(['complete', 0]);
  });

  once.concurrent('of no report at all is off, and the listing is committed', async (test) => {
    const given = await givenNights(test.onTestFinished);
    const { receipt, asked, exitCode } = await given.night({ list: { a: {} }, sections: LISTING_ONLY });
    expect([receipt.reports_status, asked, exitCode, receipt.pages.listed]).toEqual(['off', [], 0, 1]);
    // Nobody looked what would have been worth it.
    expect(receipt.reports.left).toBeNull();
    expect(await given.rows('snapshots')).toMatchObject([{ reports_wanted: null, reports_by_reason: {} }]);
    const nothing = await given.night({ list: {} });
    expect(nothing.receipt.reports_status).toBe('complete');
  });
});

describe('the deadline', () => {
  testAtLength('ends the fetching; what was wanted stays wanted until its report is there', async () => {
    const given = await givenNights();
    const names = ['a', 'b', 'c', 'd'];
    const listed = (entry: object) => Object.fromEntries(names.map((name) => [name, entry]));
    await given.night({ list: listed({}), sections: ONE_BY_ONE });
    const changed = listed({ index_summary: 'Indexed' });
    const second = await given.night({
      list: changed,
      sections: { ...ONE_BY_ONE, reports: { deadline: '1h' } },
      onReport: (number, clock) => {
        if (number === 2) clock.now += 3_600_000;
      },
    });
    expect(second.asked).toEqual(['a', 'b']);
    expect([second.receipt.reports_status, second.exitCode]).toEqual(['deadline', 0]);
    // What the deadline cut was not asked for, so it is not among the planned ones.
    expect(second.receipt.reports).toMatchObject({ planned: 2, fetched: 2, left: 2, by_reason: { changed: 2 } });
    const wanted = (state: Map<string, Record<string, unknown>>) =>
      names.map((name) => state.get(name)?.['report_wanted']);
    expect(wanted(second.state)).toEqual([null, null, 'changed', 'changed']);
    // Nothing is new about them by now, and nothing is old enough.
    const sections = { ...ONE_BY_ONE, reports: { refresh_after: '9d', max_per_run: 1 } };
    const third = await given.night({ list: changed, sections });
    expect([third.asked, wanted(third.state)]).toEqual([['c'], [null, null, null, 'changed']]);
    const fourth = await given.night({ list: changed, reports: { d: 400 }, sections });
    expect([fourth.asked, wanted(fourth.state)]).toEqual([['d'], [null, null, null, 'changed']]);
    const fifth = await given.night({ list: changed, sections });
    expect([fifth.asked, wanted(fifth.state)]).toEqual([['d'], [null, null, null, null]]);
    expect((await given.rows('url_reports')).map(({ reason }) => reason)).toEqual(['changed']);
  });

  once.concurrent('ends the fetching at once where the key has to wait until after it', async (test) => {
    const given = await givenNights(test.onTestFinished);
    const sections = { ...ONE_BY_ONE, reports: { deadline: '4s' } };
    const before = given.clock.now;
    const { receipt, exitCode } = await given.night({ list: { a: {}, b: {} }, reports: { a: 429 }, sections });
    expect([receipt.reports_status, exitCode, receipt.reports.planned]).toEqual(['deadline', 0, 0]);
    expect(receipt.error).toContain('before the key may send its next request');
    expect(receipt.requests).toMatchObject({ throttled: 1, retried: 0 });
    expect(given.clock.now - before).toBeLessThan(4000);
  });
});

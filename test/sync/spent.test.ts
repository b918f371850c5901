import { describe, expect, onTestFinished, test } from 'vitest';
import { byReason } from '../../src/warehouse/journal/plan.js';
import { givenNights } from '../given/nights.js';
import { SHOP, scriptedProperty } from './scripted-property.js';

const ONE_BY_ONE = { api: { concurrency: 1 } };
const NONE = byReason(() => 0);

describe('what a run spent, and why', () => {
  test('every report that was asked for has its reason, whatever became of it', async () => {
    const given = await givenNights();
    const list = { a: {}, b: {}, broken: {}, gone: {}, odd: { index_summary: 1 } };
    const reports = { broken: 500, b: { sitemaps: 1 } };
    const first = await given.night({ list, reports, sections: ONE_BY_ONE });
    expect(first.receipt.reports).toMatchObject({ planned: 5, left: 0, by_reason: { ...NONE, new: 5 } });

    const second = await given.night({
      list: { a: {}, b: { index_summary: 'Indexed' }, broken: { index_summary: 'Indexed' }, odd: { index_summary: 1 } },
      reports,
      sections: ONE_BY_ONE,
    });
    expect(second.receipt.reports).toMatchObject({ planned: 5, left: 0 });
    expect(second.receipt.reports.by_reason).toEqual({ ...NONE, missing: 1, changed: 2, oldest: 2 });
    expect((await given.rows('report_failures')).map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['failed', 'changed'],
      ['missing', 'missing'],
    ]);
    expect((await given.rows('rejected_records')).map(({ source, reason }) => [source, reason])).toEqual([
      ['coverage', null],
      ['url_report', 'changed'],
    ]);
    expect(await given.rows('snapshots')).toMatchObject([
      {
        // Those for the report that answered 500, which is tried five times.
        requests_retried: 4,
        utilisation: null,
        reports_wanted: 5,
        reports_by_reason: { missing: 1, changed: 2, oldest: 2 },
      },
    ]);
  });
});

test('a day is complete only once every page was inspected, also those that search shows', async () => {
  const { pass } = await scriptedProperty(onTestFinished, { inspections_per_day: 4 });
  const old = ['a', 'b', 'c', 'd'].map((name) => `${SHOP}/${name}`);
  const fresh = ['e', 'f', 'g', 'h'].map((name) => `${SHOP}/${name}`);
  const traffic = old.map((url) => [url, 1, 10, 1] as const);
  expect(await pass({ sitemap: old, traffic })).toMatchObject({ reports_status: 'complete', reports: { left: 0 } });
  // Half of the inspections are those of the rotation, which a page that was just found does not lead.
  const second = await pass({ sitemap: [...old, ...fresh], traffic });
  expect(second.inspected.filter((url) => fresh.includes(url))).toHaveLength(2);
  expect(second).toMatchObject({ reports_status: 'budget', reports: { planned: 4, left: 2 } });
  const shown = [...old, ...fresh].map((url) => [url, 1, 10, 1] as const);
  const third = await scriptedProperty(onTestFinished, { inspections_per_day: 4 });
  expect(await third.pass({ sitemap: [...old, ...fresh], traffic: shown })).toMatchObject({
    reports_status: 'budget',
    reports: { planned: 4, left: 4 },
  });
});

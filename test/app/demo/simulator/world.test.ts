import { describe, expect, it } from 'vitest';
import { World, type WorldOptions } from '../../../../src/app/demo/simulator/world.js';
import { validate } from '../../../../src/base/validate.js';
import { coverageEntrySchema } from '../../../../src/source/contract/coverage.js';
import { COVERAGE_STATES, KNOWN_VALUES } from '../../../../src/source/contract/known-values.js';
import { type UrlReport, urlReportSchema } from '../../../../src/source/contract/report.js';
import { atLength, once } from '../../../given/at-length.js';
import { NASTY_PATHS } from '../../../given/nasty-paths.js';

const MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SHARED_FIELDS = [
  'url',
  'index_summary',
  'index_coverage_state',
  'searchengine_selected_canonical',
  'user_selected_canonical',
  'last_crawl_time',
  'days_since_last_crawl',
  'inspection_link',
] as const;

function world(options: WorldOptions & { pages?: number; paths?: readonly string[] } = {}): World {
  const { pages = 3000, paths = [], ...rest } = options;
  return new World({ websites: [{ id: 'w', pages, paths }], ...rest });
}

function truth(of: World) {
  return [...of.pages('w')];
}

describe('determinism', () => {
  it('the same seed gives the same world, however its nights are counted', () => {
    const options = { paths: NASTY_PATHS, pages: atLength(500, 3000) };
    const [a, b] = [world(options), world(options)];
    a.advance(3);
    for (let night = 1; night <= 3; night++) {
      b.advance();
      b.listing('w', night * 7, 5);
      b.report('w', b.listing('w', 2, 1).entries[0]?.url ?? '');
    }
    expect(truth(b)).toEqual(truth(a));
    expect(a.now.toISOString()).toBe('2026-01-04T02:00:00.000Z');
  });
});

describe('the contract', () => {
  it.each(atLength([3], [0, 1, 3, 10]))('holds for every entry and report of night %i', (nights) => {
    const held = world({ pages: 1000, paths: NASTY_PATHS });
    held.advance(nights);
    for (const { coverage, report } of truth(held)) {
      const hasData = coverage.index_summary !== null;
      expect(validate(coverageEntrySchema, coverage)).toMatchObject({
        accepted: true,
        absent: hasData ? [] : ['canonicals_match'],
        extra: null,
      });
      expect('canonicals_match' in coverage).toBe(hasData);
      expect(validate(urlReportSchema, report)).toMatchObject({ accepted: true, absent: [], extra: null });
      const values = Object.entries(report).filter(([field]) => field !== 'url');
      if (!hasData) expect(values.every(([, value]) => value === null)).toBe(true);
    }
  });

  once('uses known values only, and each coverage state', () => {
    const held = world({ pages: 3000 });
    held.advance(5);
    const reports = truth(held).map(({ report }) => report);
    for (const [field, known] of Object.entries(KNOWN_VALUES.url_report)) {
      const used = new Set(reports.map((report) => report[field]).filter((value) => value !== null));
      expect([...used].filter((value) => !known.some((text) => text === value))).toEqual([]);
    }
    expect(new Set(reports.map((report) => report.index_coverage_state))).toEqual(new Set([...COVERAGE_STATES, null]));
  });

  once('listing and report agree, and times are in order', () => {
    const held = world({ pages: 1000, paths: NASTY_PATHS });
    held.advance(9);
    for (const { coverage, report } of truth(held)) {
      for (const field of SHARED_FIELDS) expect([field, report[field]]).toEqual([field, coverage[field]]);
      expect(report.url).toBe(held.report('w', coverage.url)?.url);
      const { searchengine_selected_canonical: engine, user_selected_canonical: user } = coverage;
      if ('canonicals_match' in coverage)
        expect(coverage.canonicals_match).toBe(engine === null ? null : engine === user);
      expectTimesInOrder(report, held.now);
    }
  });
});

function expectTimesInOrder(report: UrlReport, now: Date): void {
  if (report.inspection_date === null) return;
  const { page_detection: detected, last_crawl_time: crawled, inspection_date: inspected } = report;
  const events = [
    report.previously_indexed_timestamp,
    report.canonical_changed_timestamp,
    report.ever_blocked_by_robots_txt_timestamp,
  ].filter((time) => time !== null);
  const order = [detected, ...(crawled === null ? [] : [crawled]), inspected, now.toISOString()];
  for (const time of [...order, ...events]) expect(time).toMatch(MS);
  expect(order.toSorted()).toEqual(order);
  for (const time of events) expect([detected, time, inspected].toSorted()).toEqual([detected, time, inspected]);
  if (crawled)
    expect(report.days_since_last_crawl).toBe(Math.floor((now.getTime() - Date.parse(crawled)) / 86_400_000));
}

describe('evolution', () => {
  const urlsOf = (of: World) => truth(of).map(({ coverage }) => coverage.url);

  once('keeps the order of pages that stay, removes anywhere, and adds mostly at the end', () => {
    const held = world({ pages: 12_000 });
    const before = urlsOf(held);
    held.advance(3);
    const after = urlsOf(held);
    const [was, is] = [new Set(before), new Set(after)];
    expect(after.filter((url) => was.has(url))).toEqual(before.filter((url) => is.has(url)));
    expect(is.size).toBe(after.length);
    const removed = before.flatMap((url, at) => (is.has(url) ? [] : [at / before.length]));
    expect(Math.min(...removed)).toBeLessThan(0.2);
    expect(Math.max(...removed)).toBeGreaterThan(0.8);
    const lastOld = after.findLastIndex((url) => was.has(url));
    const [inside, atEnd] = [after.slice(0, lastOld).filter((url) => !was.has(url)).length, after.length - 1 - lastOld];
    expect(inside).toBeGreaterThan(0);
    expect(atEnd).toBeGreaterThan(inside * 3);
  });
});

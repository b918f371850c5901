import { describe, expect, it } from 'vitest';
import { type CoverageEntry, coverageEntrySchema } from '../../src/contract/coverage.js';
import { COVERAGE_STATES, KNOWN_VALUES } from '../../src/contract/known-values.js';
import { urlReportSchema } from '../../src/contract/report.js';
import { validate } from '../../src/contract/validate.js';
import { type PageTruth, World, type WorldOptions } from '../../src/simulator/world.js';
import { atLength } from '../given/at-length.js';

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

function world(options: WorldOptions & { pages?: number; nasty?: boolean } = {}): World {
  const { pages = 3000, nasty = false, ...rest } = options;
  return new World({ websites: [{ id: 'w', pages, nasty }], ...rest });
}

function truth(of: World): PageTruth[] {
  return [...of.pages('w')];
}

describe('determinism', () => {
  it('the same seed gives the same world, however the nights are told', () => {
    const options = { nasty: true, pages: atLength(500, 3000) };
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

  it('another seed gives another world', () => {
    expect(truth(world({ seed: 2, pages: 100 }))).not.toEqual(truth(world({ seed: 1, pages: 100 })));
  });

  it('a website does not depend on its neighbours', () => {
    const pair = new World({
      websites: [
        { id: 'w', pages: 200 },
        { id: 'v', pages: 10 },
      ],
    });
    const alone = world({ pages: 200 });
    pair.advance(5);
    alone.advance(5);
    expect(truth(pair)).toEqual(truth(alone));
  });

  it('the clock moves times, not what happened', () => {
    const later = world({ start: '2027-06-01T00:00:00Z', pages: 100 });
    expect(truth(later).map(({ coverage }) => coverage.days_since_last_crawl)).toEqual(
      truth(world({ pages: 100 })).map(({ coverage }) => coverage.days_since_last_crawl),
    );
    expect(later.now.toISOString()).toBe('2027-06-01T00:00:00.000Z');
  });
});

describe('the contract', () => {
  it.each(atLength([3], [0, 1, 3, 10]))('holds for every entry and report of night %i', (nights) => {
    const held = world({ pages: 1000, nasty: true });
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

  it('uses known values only, and each coverage state', () => {
    const held = world({ pages: 5000 });
    held.advance(5);
    const reports = truth(held).map(({ report }) => report);
    for (const [field, known] of Object.entries(KNOWN_VALUES.url_report)) {
      const used = new Set(reports.map((report) => report[field]).filter((value) => value !== null));
      expect([...used].filter((value) => !known.some((text) => text === value))).toEqual([]);
    }
    expect(new Set(reports.map((report) => report.index_coverage_state))).toEqual(new Set([...COVERAGE_STATES, null]));
  });

  it('listing and report agree, and times are in order', () => {
    const held = world({ pages: 1000, nasty: true });
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

function expectTimesInOrder(report: PageTruth['report'], now: Date): void {
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
  it('keeps realistic proportions', () => {
    const held = world({ pages: 4000 });
    for (let night = 1; night <= atLength(3, 5); night++) {
      const before = byUrl(held);
      held.advance();
      const after = byUrl(held);
      const pages = [...after.values()];
      const share = (keep: (page: CoverageEntry) => boolean): number => pages.filter(keep).length / pages.length;
      expectBetween(
        share((page) => page.index_summary === 'Indexed'),
        0.75,
        0.85,
      );
      expectBetween(
        share((page) => page.days_since_last_crawl === 0),
        0.08,
        0.2,
      );
      expectBetween(
        share((page) => !before.has(page.url)),
        0.0001,
        0.01,
      );
      const changed = share((page) => isOther(before.get(page.url), page, 'index_coverage_state'));
      if (night === 3) expectBetween(changed, 0.05, 0.12);
      else expectBetween(changed, 0.01, 0.03);
    }
  });

  it('drops one directory from the index on one night', () => {
    const held = world({ pages: 5000 });
    held.advance(2);
    const before = byUrl(held);
    held.advance();
    const dropped = [...byUrl(held).values()].filter(
      (page) => before.get(page.url)?.index_summary === 'Indexed' && page.index_summary === 'Not Indexed',
    );
    const blog = dropped.filter(({ url }) => url.includes('/blog/')).length;
    expect(blog).toBeGreaterThan(200);
    expect(blog / dropped.length).toBeGreaterThan(0.8);
  });

  it('keeps the order of pages that stay, removes anywhere, and adds mostly at the end', () => {
    const held = world({ pages: 20_000 });
    const before = [...byUrl(held).keys()];
    held.advance(3);
    const after = [...byUrl(held).keys()];
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

  it('adds and removes pages by hand', () => {
    const held = world({ pages: 10 });
    const before = [...byUrl(held).keys()];
    held.removePages('w', 2, 3);
    held.addPages('w', 2, 1);
    held.addPages('w', 1);
    const after = [...byUrl(held).keys()];
    expect(after).toHaveLength(10);
    expect([after[0], ...after.slice(3, 9)]).toEqual([before[0], before[1], ...before.slice(5)]);
    expect(held.report('w', before[2] ?? '')).toBeNull();
    expect(held.report('w', after[9] ?? '')).toMatchObject({ url: after[9], index_summary: null });
  });
});

describe('history', () => {
  it('tells what happened, and only that', () => {
    const held = world({ pages: 4000 });
    const seen = { leftIndex: 0, canonicals: 0, blocked: 0, quiet: 0 };
    const wrong: unknown[] = [];
    for (let night = 1; night <= 4; night++) {
      const before = new Map(truth(held).map((page) => [page.coverage.url, page]));
      held.advance();
      for (const after of truth(held)) {
        const was = before.get(after.coverage.url);
        if (!was || was.coverage.index_summary === null || after.coverage.index_summary === null) continue;
        const should = historyOf(was, after, seen);
        // Asked for each page, `expect` takes longer than the world.
        const isTold = Object.entries(should).every(([field, value]) => after.report[field] === value);
        if (!isTold) wrong.push({ night, should, is: after.report });
      }
    }
    expect(wrong).toEqual([]);
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
  });
});

/** What a report has to tell of the past, by what the page was the night before. */
function historyOf(
  { coverage: was, report: before }: PageTruth,
  { coverage: is, report: after }: PageTruth,
  seen: Record<'leftIndex' | 'canonicals' | 'blocked' | 'quiet', number>,
): Partial<PageTruth['report']> {
  const left = was.index_summary === 'Indexed' && is.index_summary !== 'Indexed';
  if (left) seen.leftIndex++;
  const [engine, user] = ['searchengine_selected_canonical', 'user_selected_canonical'] as const;
  const known = was[engine] !== null && is[engine] !== null;
  const moved = known && (was[engine] !== is[engine] || was[user] !== is[user]);
  if (moved) seen.canonicals++;
  const blocked = before.blocked_by_robots_txt !== 'Yes' && after.blocked_by_robots_txt === 'Yes';
  if (blocked) seen.blocked++;
  else seen.quiet++;
  return {
    previously_indexed_timestamp: left ? before.inspection_date : before.previously_indexed_timestamp,
    ...(moved
      ? {
          canonical_changed: 'Yes',
          canonical_changed_searchengine_canonical: is[engine],
          canonical_changed_user_canonical: is[user],
          canonical_changed_timestamp: after.inspection_date,
        }
      : { canonical_changed_timestamp: before.canonical_changed_timestamp }),
    ever_blocked_by_robots_txt_timestamp: blocked ? after.inspection_date : before.ever_blocked_by_robots_txt_timestamp,
  };
}

function byUrl(of: World): Map<string, CoverageEntry> {
  return new Map(truth(of).map(({ coverage }) => [coverage.url, coverage]));
}

function isOther(before: CoverageEntry | undefined, after: CoverageEntry, field: keyof CoverageEntry): boolean {
  return before !== undefined && before[field] !== after[field];
}

function expectBetween(value: number, low: number, high: number): void {
  expect(value).toBeGreaterThanOrEqual(low);
  expect(value).toBeLessThanOrEqual(high);
}

describe('a submitted sitemap', () => {
  it('holds all of its directory from that night on, and gets pages crawled and then indexed', () => {
    const submission = { night: 2, directory: '/docs/' };
    const [told, plain] = [submission, null].map(
      (each) => new World({ websites: [{ id: 'w', pages: 3000, deindexing: null, submission: each }] }),
    );
    const inDocs = (of: World | undefined) => {
      const pages = of ? truth(of).filter(({ report }) => report.url.includes('/docs/')) : [];
      const known = pages.filter(({ report }) => report.sitemaps !== null);
      return {
        unlisted: known.filter(({ report }) => report.sitemaps?.length === 0).length,
        indexed: known.filter(({ report }) => report.index_summary === 'Indexed').length,
      };
    };
    told?.advance(1);
    expect(inDocs(told).unlisted).toBeGreaterThan(100);
    told?.advance(1);
    plain?.advance(2);
    expect(inDocs(told).unlisted).toBeLessThan(5);
    expect(inDocs(plain).unlisted).toBeGreaterThan(100);
    told?.advance(8);
    plain?.advance(8);
    expect(inDocs(told).indexed).toBeGreaterThan(inDocs(plain).indexed + 5);
  });
});

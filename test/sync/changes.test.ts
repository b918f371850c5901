import { describe, expect } from 'vitest';
import { once, testAtLength } from '../given/at-length.js';
import { givenNights } from '../given/nights.js';

const CRAWLED = '2025-02-01T00:00:00.000Z';
const ENTRY = {
  index_summary: 'Indexed',
  index_coverage_state: 'Submitted and indexed',
  canonicals_match: true,
  searchengine_selected_canonical: 'https://w.example/c',
  user_selected_canonical: 'https://w.example/c',
  last_crawl_time: CRAWLED,
  days_since_last_crawl: 1,
};
const REPORT = {
  blocked_by_robots_txt: 'No',
  page_fetch_status: 'Successful',
  indexing_allowed: 'Yes',
  sitemaps: ['https://w.example/1.xml', 'https://w.example/2.xml'],
  searchenginebot_primary_crawler: 'MOBILE',
};
const OTHER = 'https://w.example/other';

/** Each page differs from the night before in one thing. */
const LISTING: Record<string, { now: object; yields: string[] }> = {
  same: { now: { days_since_last_crawl: 2, inspection_link: OTHER, service_link: OTHER }, yields: [] },
  deindexed: { now: { index_summary: 'Not Indexed' }, yields: ['deindexed: Indexed → Not Indexed'] },
  lost: { now: { index_summary: null }, yields: ['data_lost: Indexed → –'] },
  state: {
    now: { index_coverage_state: 'Soft 404' },
    yields: ['coverage_state: Submitted and indexed → Soft 404'],
  },
  stateless: { now: { index_coverage_state: null }, yields: ['coverage_state: Submitted and indexed → –'] },
  engine: {
    now: { searchengine_selected_canonical: OTHER },
    yields: [`searchengine_canonical: https://w.example/c → ${OTHER}`],
  },
  user: { now: { user_selected_canonical: null }, yields: ['user_canonical: https://w.example/c → –'] },
  match: { now: { canonicals_match: false }, yields: ['canonicals_match: true → false'] },
  matchless: { now: { canonicals_match: null }, yields: ['canonicals_match: true → –'] },
  crawled: {
    now: { last_crawl_time: '2025-02-28T01:02:03.004Z' },
    yields: ['crawled: 2025-02-01T00:00:00.000Z → 2025-02-28T01:02:03.004Z'],
  },
  uncrawled: { now: { last_crawl_time: null, days_since_last_crawl: null }, yields: [] },
};

/** And in one thing of its report. */
const REPORTS: Record<string, { was?: object; now: object; yields: string[] }> = {
  same: { now: { sitemaps: [...REPORT.sitemaps].reverse(), page_detection: CRAWLED }, yields: [] },
  blocked: { now: { blocked_by_robots_txt: 'Yes' }, yields: ['robots_blocked: No → Yes'] },
  unblocked: {
    was: { blocked_by_robots_txt: 'Yes' },
    now: { blocked_by_robots_txt: 'No' },
    yields: ['robots_unblocked: Yes → No'],
  },
  unknown: { was: { blocked_by_robots_txt: null }, now: { blocked_by_robots_txt: 'Yes' }, yields: [] },
  fetch: { now: { page_fetch_status: 'Soft 404' }, yields: ['fetch_status: Successful → Soft 404'] },
  disallowed: { now: { indexing_allowed: 'No' }, yields: ['indexing_allowed: Yes → No'] },
  crawler: { now: { searchenginebot_primary_crawler: null }, yields: ['crawler: MOBILE → –'] },
  twice: { now: { sitemaps: [...REPORT.sitemaps, ...REPORT.sitemaps] }, yields: [] },
  sitemap: {
    now: { sitemaps: ['https://w.example/2.xml'] },
    yields: ['sitemaps: ["https://w.example/1.xml","https://w.example/2.xml"] → ["https://w.example/2.xml"]'],
  },
  sitemapless: {
    now: { sitemaps: [] },
    yields: ['sitemaps: ["https://w.example/1.xml","https://w.example/2.xml"] → []'],
  },
};

function changesOf(pages: Record<string, { yields: string[] }>, since: string): string[] {
  return Object.entries(pages)
    .flatMap(([name, { yields }]) => yields.map((change) => `${name} ${change} (since ${since})`))
    .sort();
}

function listOf(pages: Record<string, { now: object }>, which: 'was' | 'now') {
  return Object.fromEntries(
    Object.entries(pages).map(([name, { now }]) => [name, which === 'now' ? { ...ENTRY, ...now } : ENTRY]),
  );
}

function reportsOf(which: 'was' | 'now') {
  return Object.fromEntries(
    Object.entries(REPORTS).map(([name, { was = {}, now }]) => [
      name,
      { ...REPORT, ...was, ...(which === 'now' ? now : {}) },
    ]),
  );
}

describe('what is different about a page', () => {
  once('is recorded once, against its own last listing and report, past nights that did not see it', async (test) => {
    const given = await givenNights(test.onTestFinished);
    const unasked = { reports: { max_per_run: 0 } };
    const unlisted = Object.fromEntries(Object.keys(REPORTS).map((name) => [name, { now: {} }]));
    const pages = { ...unlisted, ...LISTING };
    const first = await given.night({ list: listOf(pages, 'was'), reports: reportsOf('was') });
    // A report that is refused, fails or is missing says nothing about the page.
    const wrong = [{ sitemaps: 'none' }, 500, 404];
    const list = listOf(pages, 'was');
    expect((await given.night({ list, reports: (name) => wrong[name.length % 3] })).changes).toEqual([]);
    // A partial listing that holds one page, then a complete one in which every other is quarantined; no reports.
    const partial = await given.night({ list: { same: ENTRY }, partial: true, sections: unasked });
    expect([partial.receipt.listing_status, partial.changes]).toEqual(['partial', []]);
    const broken = Object.fromEntries(Object.keys(pages).map((name) => [name, { index_summary: 5 }]));
    const quarantined = await given.night({ list: { ...broken, same: ENTRY }, sections: unasked });
    expect([quarantined.receipt.pages.rejected, quarantined.changes]).toEqual([Object.keys(pages).length - 1, []]);

    const yields = [...changesOf(LISTING, 'night 2'), ...changesOf(REPORTS, 'night 1')].sort();
    const fifth = await given.night({ list: listOf(pages, 'now'), reports: reportsOf('now') });
    expect(fifth.changes).toEqual(yields);
    expect(fifth.state.get('blocked')).toMatchObject({
      report_blocked_by_robots_txt: 'Yes',
      report_snapshot_id: given.snapshot(5),
      consecutive_failures: 0,
    });
    const indexedAt = first.state.get('same')?.['listed_at'];
    expect(fifth.state.get('same')).toMatchObject({ first_indexed_at: indexedAt, index_since: indexedAt });
    expect((await given.night({ list: listOf(pages, 'now'), reports: reportsOf('now') })).changes).toEqual([]);
  });

  testAtLength('without inspection data is no loss where there was none, omitted or null', async () => {
    const given = await givenNights();
    const sections = { reports: { max_per_run: 0 } };
    const empty = { index_summary: null, index_coverage_state: null, last_crawl_time: null };
    await given.night({ list: { a: empty, b: { ...empty, canonicals_match: null } }, sections });
    const { changes, state } = await given.night({
      list: { a: { ...empty, canonicals_match: null }, b: empty },
      sections,
    });
    expect(changes).toEqual([]);
    expect([state.get('a'), state.get('b')].map((row) => row?.['canonicals_match_present'])).toEqual([true, false]);
  });
});

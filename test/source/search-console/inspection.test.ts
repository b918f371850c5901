import fc from 'fast-check';
import { expect, it } from 'vitest';
import { validate } from '../../../src/base/validate.js';
import { KNOWN_VALUES, SEARCH_CONSOLE_EXTRA } from '../../../src/source/contract/known-values.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';
import { judgeInspection } from '../../../src/source/search-console/inspection.js';

const URL_ASKED = 'https://www.example.com/ä';
const AT = Date.parse('2026-02-10T12:00:00Z');
const link = 'https://search.google.com/search-console/inspect?id=1';
const judged = (status: object, results: object = {}) =>
  judgeInspection(JSON.stringify({ inspectionResult: { indexStatusResult: status, ...results } }), URL_ASKED, AT);

it('maps what Google says of an indexed page, and keeps the rest', () => {
  const canonical = { googleCanonical: 'https://www.example.com/a', userCanonical: 'https://www.example.com/b' };
  const states = { robotsTxtState: 'ALLOWED', indexingState: 'INDEXING_ALLOWED', pageFetchState: 'SUCCESSFUL' };
  const crawl = {
    lastCrawlTime: '2026-02-08T13:00:00Z',
    crawledAs: 'MOBILE',
    sitemap: ['https://www.example.com/s.xml'],
  };
  const status = { verdict: 'PASS', coverageState: 'Submitted and indexed', ...states, ...crawl, ...canonical };
  const more = { referringUrls: ['https://a.example/'], crawlBudget: 7 };
  const outcome = judged(
    { ...status, ...more },
    { inspectionResultLink: link, richResultsResult: { verdict: 'PASS' } },
  );
  expect(outcome).toEqual({
    outcome: 'fetched',
    absent: [],
    text: expect.stringMatching(/^\{"url":"https:\/\/www\.example\.com\/ä","index_summary":"Indexed",/),
    record: {
      ...Object.fromEntries(Object.keys(urlReportSchema.shape).map((field) => [field, null])),
      url: URL_ASKED,
      index_summary: 'Indexed',
      index_coverage_state: 'Submitted and indexed',
      indexing_allowed: 'Yes',
      blocked_by_robots_txt: 'No',
      searchengine_selected_canonical: canonical.googleCanonical,
      user_selected_canonical: canonical.userCanonical,
      searchenginebot_primary_crawler: 'MOBILE',
      last_crawl_time: '2026-02-08T13:00:00Z',
      days_since_last_crawl: 1,
      page_fetch_status: 'Successful',
      sitemaps: crawl.sitemap,
      inspection_date: '2026-02-10T12:00:00.000Z',
      inspection_link: link,
    },
    extra: { verdict: 'PASS', ...states, ...more, richResultsResult: { verdict: 'PASS' } },
  });
});

it.each([
  [{ verdict: 'NEUTRAL' }, { index_summary: 'Not Indexed' }],
  [{ verdict: 'PARTIAL', coverageState: 'Etwas Neues' }, { index_summary: 'Indexed' }],
  [{ verdict: 'NEUTRAL', coverageState: 'Indexed, though blocked by robots.txt' }, { index_summary: 'Indexed' }],
  [{ verdict: 'NEUTRAL', coverageState: 'Submitted and indexed elsewhere' }, { index_summary: 'Not Indexed' }],
  [{ verdict: 'VERDICT_UNSPECIFIED' }, { index_summary: null, searchenginebot_primary_crawler: null, sitemaps: [] }],
  [{ indexingState: 'BLOCKED_BY_HTTP_HEADER' }, { indexing_allowed: 'No' }],
  [{ pageFetchState: 'BLOCKED_4XX' }, { page_fetch_status: 'Blocked due to other 4xx issue' }],
  [{ lastCrawlTime: '2026-02-08T13:00:00.123456789+01:00' }, { last_crawl_time: '2026-02-08T12:00:00.123Z' }],
  [{ googleCanonical: 'no address' }, { searchengine_selected_canonical: null }],
])('maps %j', (status, fields) => {
  const outcome = judged(status);
  expect(outcome).toMatchObject({ outcome: 'fetched', record: fields });
});

it.each(['1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', 'never'])(
  'takes a crawl at %s for none, and keeps it as sent',
  (lastCrawlTime) => {
    const none = { last_crawl_time: null, days_since_last_crawl: null };
    expect(judged({ lastCrawlTime })).toMatchObject({ record: none, extra: { lastCrawlTime } });
  },
);

it.each([
  ['{}', 'inspectionResult'],
  ['<html>', ''],
  ['{"inspectionResult":{"indexStatusResult":{"verdict":1}}}', 'inspectionResult.indexStatusResult.verdict'],
])('rejects %s, and says what it lacks', (payload, path) => {
  const rejected = { outcome: 'rejected', issues: [{ path }], payload };
  expect(judgeInspection(payload, URL_ASKED, AT)).toMatchObject(rejected);
});

it('makes of every answer a report that the contract accepts', () => {
  const word = (...known: string[]) =>
    fc.oneof(
      fc.constantFrom(...known, 'X_UNSPECIFIED', 'NEW', '', null),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    );
  const times = ['2026-02-08T13:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '+275760-09-13T00:00:00Z'];
  const addresses = word('https://www.example.com/', 'https://b\u00fccher.example/\ud83d\ude00', '/a');
  const status = fc.record(
    {
      verdict: word('PASS', 'NEUTRAL', 'FAIL'),
      coverageState: word(...(KNOWN_VALUES.url_report['index_coverage_state'] ?? [])),
      robotsTxtState: word('ALLOWED', 'DISALLOWED'),
      indexingState: word('INDEXING_ALLOWED', 'BLOCKED_BY_META_TAG'),
      pageFetchState: word('SUCCESSFUL', 'SOFT_404', 'BLOCKED_4XX', 'INTERNAL_CRAWL_ERROR', 'INVALID_URL'),
      lastCrawlTime: word(...times),
      googleCanonical: addresses,
      userCanonical: addresses,
      crawledAs: word('DESKTOP', 'MOBILE'),
      sitemap: fc.option(fc.array(addresses.map(String))),
      other: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  for (const sample of fc.sample(status, 300)) {
    const outcome = judged(sample, { mobileUsabilityResult: { verdict: 'VERDICT_UNSPECIFIED' } });
    if (outcome.outcome !== 'fetched') throw new Error(JSON.stringify(outcome));
    const accepted = { accepted: true, absent: [], extra: null };
    expect(validate(urlReportSchema, JSON.parse(outcome.text))).toMatchObject(accepted);
    const unknown = Object.keys(outcome.extra ?? {}).filter((name) => !SEARCH_CONSOLE_EXTRA.includes(name));
    expect(unknown.filter((name) => !(name in sample))).toEqual([]);
  }
});

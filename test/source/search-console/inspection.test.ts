import { expect, it } from 'vitest';
import { validate } from '../../../src/base/validate.js';
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
  [
    { verdict: 'NEW', pageFetchState: 'NEW' },
    { index_summary: 'Not Indexed', page_fetch_status: 'NEW' },
  ],
  [{ verdict: 'NEUTRAL', coverageState: 'Indexed, though blocked by robots.txt' }, { index_summary: 'Indexed' }],
  [{ verdict: 'NEUTRAL', coverageState: 'Submitted and indexed elsewhere' }, { index_summary: 'Not Indexed' }],
  [{ verdict: 'VERDICT_UNSPECIFIED' }, { index_summary: null, searchenginebot_primary_crawler: null, sitemaps: [] }],
  [{ indexingState: 'BLOCKED_BY_HTTP_HEADER' }, { indexing_allowed: 'No' }],
  [{ pageFetchState: 'BLOCKED_4XX' }, { page_fetch_status: 'Blocked due to other 4xx issue' }],
  [{ lastCrawlTime: '2026-02-08T13:00:00.123456789+01:00' }, { last_crawl_time: '2026-02-08T12:00:00.123Z' }],
  [
    { googleCanonical: 'no address', sitemap: ['/a'] },
    { searchengine_selected_canonical: null, sitemaps: [] },
  ],
])('maps %j', (status, fields) => {
  const outcome = judged(status);
  expect(outcome).toMatchObject({ outcome: 'fetched', record: fields });
  const report = outcome.outcome === 'fetched' && JSON.parse(outcome.text);
  expect(validate(urlReportSchema, report)).toMatchObject({ accepted: true, absent: [], extra: null });
});

it.each(['1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '+275760-09-13T00:00:00Z', 'never'])(
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

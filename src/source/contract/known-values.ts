/**
 * Texts that the API and Search Console are known to use. The sets stay open: another value is stored like any other and
 * noted once per run in the drift diary, so that a new coverage state is noticed on its first night.
 */
const YES_NO = ['Yes', 'No'];
const SUMMARIES = ['Indexed', 'Not Indexed'];

export const COVERAGE_STATES = [
  'Submitted and indexed',
  'Indexed, not submitted in sitemap',
  'Crawled - currently not indexed',
  'Discovered - currently not indexed',
  'URL is unknown',
  'Page with redirect',
  'Not found (404)',
  'Soft 404',
  'Server error (5xx)',
  "Excluded by 'noindex' tag",
  'Blocked by robots.txt',
  'Alternate page with proper canonical tag',
  'Duplicate without user-selected canonical',
  'Duplicate, search engine chose different canonical than user',
] as const;
export type CoverageState = (typeof COVERAGE_STATES)[number];

/** As Search Console writes them in English, quotation marks included, beside those that both know. */
const SEARCH_CONSOLE_STATES = [
  'Indexed, though blocked by robots.txt',
  'Indexed; consider marking as canonical',
  'Page indexed without content',
  'URL is unknown to Google',
  'Redirect error',
  'Excluded by ‘noindex’ tag',
  'Blocked due to unauthorized request (401)',
  'Blocked due to access forbidden (403)',
  'Blocked due to other 4xx issue',
  'Blocked by page removal tool',
  'Duplicate, Google chose different canonical than user',
  'Duplicate, submitted URL not selected as canonical',
];
const STATES = [...COVERAGE_STATES, ...SEARCH_CONSOLE_STATES];

/** What the contract calls the outcome of a fetch, by Search Console's word for it. */
export const FETCH_STATUSES: ReadonlyMap<string, string> = new Map([
  ['SUCCESSFUL', 'Successful'],
  ['SOFT_404', 'Soft 404'],
  ['BLOCKED_ROBOTS_TXT', 'Blocked by robots.txt'],
  ['NOT_FOUND', 'Not found (404)'],
  ['ACCESS_DENIED', 'Access denied (401)'],
  ['SERVER_ERROR', 'Server error (5xx)'],
  ['REDIRECT_ERROR', 'Redirect error'],
  ['ACCESS_FORBIDDEN', 'Access forbidden (403)'],
  ['BLOCKED_4XX', 'Blocked due to other 4xx issue'],
  ['INTERNAL_CRAWL_ERROR', 'Internal crawl error'],
  ['INVALID_URL', 'Invalid URL'],
]);

export const KNOWN_VALUES: Readonly<Record<'coverage' | 'url_report', Readonly<Record<string, readonly string[]>>>> = {
  coverage: { index_summary: SUMMARIES, index_coverage_state: STATES },
  url_report: {
    index_summary: SUMMARIES,
    index_coverage_state: STATES,
    indexing_allowed: YES_NO,
    searchenginebot_primary_crawler: ['MOBILE', 'DESKTOP'],
    page_fetch_status: [...FETCH_STATUSES.values()],
    blocked_by_robots_txt: YES_NO,
    previously_indexed: YES_NO,
    canonical_changed: YES_NO,
    ever_blocked_by_robots_txt: YES_NO,
  },
};

/** What Search Console says beyond the contract, or in another form: kept in `extra`, and no drift. */
export const SEARCH_CONSOLE_EXTRA: readonly string[] = [
  'sitemaps',
  'lastmod',
  'siteUrl',
  'verdict',
  'coverageState',
  'lastCrawlTime',
  'googleCanonical',
  'userCanonical',
  'inspectionResultLink',
  'sitemap',
  'robotsTxtState',
  'indexingState',
  'pageFetchState',
  'crawledAs',
  'referringUrls',
  'richResultsResult',
  'ampResult',
  'mobileUsabilityResult',
];

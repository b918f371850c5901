/**
 * Texts that the API is known to use. The sets stay open: another value is stored like any other and noted once per run
 * in the drift diary, so that a new coverage state is noticed on its first night.
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

export const KNOWN_VALUES: Readonly<Record<'coverage' | 'url_report', Readonly<Record<string, readonly string[]>>>> = {
  coverage: { index_summary: SUMMARIES, index_coverage_state: COVERAGE_STATES },
  url_report: {
    index_summary: SUMMARIES,
    index_coverage_state: COVERAGE_STATES,
    indexing_allowed: YES_NO,
    searchenginebot_primary_crawler: ['MOBILE', 'DESKTOP'],
    page_fetch_status: [
      'Successful',
      'Redirect error',
      'Not found (404)',
      'Soft 404',
      'Server error (5xx)',
      'Blocked by robots.txt',
      'Access denied (401)',
      'Access forbidden (403)',
    ],
    blocked_by_robots_txt: YES_NO,
    previously_indexed: YES_NO,
    canonical_changed: YES_NO,
    ever_blocked_by_robots_txt: YES_NO,
  },
};

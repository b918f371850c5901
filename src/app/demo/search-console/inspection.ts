import { hash } from '../simulator/random.js';
import type { SimulatedWebsite } from '../simulator/website.js';
import type { World } from '../simulator/world.js';
import type { Property } from './properties.js';
import { hrefOf, sitemapOf } from './site.js';

const UNKNOWN = 'URL is unknown to Google';
/** States whose text is another one than the status service's. */
const STATES: Readonly<Record<string, string>> = {
  'URL is unknown': UNKNOWN,
  "Excluded by 'noindex' tag": 'Excluded by ‘noindex’ tag',
  'Duplicate, search engine chose different canonical than user':
    'Duplicate, Google chose different canonical than user',
};
const FETCH_STATES: Readonly<Record<string, string>> = {
  Successful: 'SUCCESSFUL',
  'Not found (404)': 'NOT_FOUND',
  'Soft 404': 'SOFT_404',
  'Server error (5xx)': 'SERVER_ERROR',
  'Blocked by robots.txt': 'BLOCKED_ROBOTS_TXT',
};
const NOTHING_KNOWN: Readonly<Record<string, unknown>> = {
  verdict: 'NEUTRAL',
  coverageState: UNKNOWN,
  robotsTxtState: 'ROBOTS_TXT_STATE_UNSPECIFIED',
  indexingState: 'INDEXING_STATE_UNSPECIFIED',
  pageFetchState: 'PAGE_FETCH_STATE_UNSPECIFIED',
};

/** An `inspectionResult`: what the world knows of an address, in the words of Search Console. */
export function inspectionOf(world: World, { siteUrl, website }: Property, url: string, language: string) {
  const query = new URLSearchParams({ resource_id: siteUrl, id: 'simulated', utm_source: 'api' });
  const status = { ...NOTHING_KNOWN, ...(website ? statusOf(world, website, hrefOf(url)) : {}) };
  // Really, texts are translated; this marks those that should not be.
  const coverageState = language.startsWith('en')
    ? status['coverageState']
    : `[${language}] ${status['coverageState']}`;
  return {
    inspectionResultLink: `https://search.google.com/search-console/inspect?${query}`,
    indexStatusResult: { ...status, coverageState },
    mobileUsabilityResult: { verdict: 'VERDICT_UNSPECIFIED' },
  };
}

function statusOf(world: World, website: SimulatedWebsite, href: string): Record<string, unknown> {
  const url = urlInWorld(website, href);
  const [page, report] = [website.find(url), world.report(website.settings.id, url)];
  const state = report?.index_coverage_state ?? 'URL is unknown';
  if (!page || !report || STATES[state] === UNKNOWN) return {};
  const drawn = hash(page.number, 31);
  const noindex = drawn % 4 === 0 ? 'BLOCKED_BY_HTTP_HEADER' : 'BLOCKED_BY_META_TAG';
  return present({
    verdict: report.index_summary === 'Indexed' ? 'PASS' : state === 'Server error (5xx)' ? 'FAIL' : 'NEUTRAL',
    coverageState: STATES[state] ?? state,
    robotsTxtState: report.blocked_by_robots_txt && (report.blocked_by_robots_txt === 'Yes' ? 'DISALLOWED' : 'ALLOWED'),
    indexingState: report.indexing_allowed && (report.indexing_allowed === 'Yes' ? 'INDEXING_ALLOWED' : noindex),
    lastCrawlTime: report.last_crawl_time?.replace(/\.\d+Z$/, 'Z'),
    pageFetchState: FETCH_STATES[report.page_fetch_status ?? ''],
    googleCanonical: report.searchengine_selected_canonical,
    userCanonical: report.user_selected_canonical,
    sitemap: page.inSitemap ? [sitemapOf(website, page)] : null,
    referringUrls: drawn % 2 === 0 ? [website.urls.url(0)] : null,
    crawledAs: report.searchenginebot_primary_crawler,
  });
}

/** The address as the world writes it, which is not always the form of the URL standard. */
function urlInWorld({ urls }: SimulatedWebsite, href: string): string {
  if (urls.number(href) !== null) return href;
  const nasty = Array.from({ length: urls.nastyCount }, (_, index) => urls.url(index + 1));
  return nasty.find((url) => hrefOf(url) === href) ?? href;
}

/** What is not known is absent. */
function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

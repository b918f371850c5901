import { keyOf } from '../../../source/search-console/property.js';
import type { SimulatedWebsite } from '../simulator/website.js';
import type { World } from '../simulator/world.js';
import type { Property } from './properties.js';
import { sitemapOf } from './site.js';

const UNKNOWN = 'URL is unknown';
const NOTHING_KNOWN = { verdict: 'NEUTRAL', coverageState: UNKNOWN, robotsTxtState: 'ROBOTS_TXT_STATE_UNSPECIFIED' };

/** An `inspectionResult`: what the world knows of an address, in the words of Search Console. */
export function inspectionOf(world: World, { siteUrl, website }: Property, url: string, language: string) {
  const query = new URLSearchParams({ resource_id: siteUrl, id: 'simulated', utm_source: 'api' });
  const known = Object.entries((website && statusOf(world, website, url)) ?? {}).filter(([, value]) => value);
  const status = { ...NOTHING_KNOWN, ...Object.fromEntries(known) };
  const text = status.coverageState
    .replace('search engine', 'Google')
    .replace(/'(.+)'/, '‘$1’')
    .replace(/unknown$/, '$& to Google');
  // Really, texts are translated; this marks those that should not be.
  const coverageState = language.startsWith('en') ? text : `[${language}] ${text}`;
  return {
    inspectionResultLink: `https://search.google.com/search-console/inspect?${query}`,
    indexStatusResult: { ...status, coverageState },
  };
}

/** Null where nothing is known, a field's value too: there are no such fields. */
function statusOf(world: World, website: SimulatedWebsite, address: string) {
  const url = urlInWorld(website, address);
  const [page, report] = [website.find(url), world.report(website.settings.id, url)];
  const state = report?.index_coverage_state ?? UNKNOWN;
  if (!page || !report || state === UNKNOWN) return null;
  return {
    verdict: report.index_summary === 'Indexed' ? 'PASS' : state === 'Server error (5xx)' ? 'FAIL' : 'NEUTRAL',
    coverageState: state,
    robotsTxtState: report.blocked_by_robots_txt && (report.blocked_by_robots_txt === 'Yes' ? 'DISALLOWED' : 'ALLOWED'),
    indexingState:
      report.indexing_allowed && (report.indexing_allowed === 'Yes' ? 'INDEXING_ALLOWED' : 'BLOCKED_BY_META_TAG'),
    lastCrawlTime: report.last_crawl_time?.replace(/\.\d+Z$/, 'Z'),
    pageFetchState: report.page_fetch_status && fetchStateOf(report.page_fetch_status),
    googleCanonical: report.searchengine_selected_canonical,
    userCanonical: report.user_selected_canonical,
    sitemap: page.inSitemap ? [sitemapOf(website, page)] : null,
    crawledAs: report.searchenginebot_primary_crawler,
  };
}

/** The address as the world writes it, which is not always the form of the URL standard. */
function urlInWorld({ urls, settings }: SimulatedWebsite, url: string): string {
  const address = keyOf(url) ?? url;
  const extra = settings.paths.map((_, index) => urls.url(index + 1));
  return extra.find((one) => keyOf(one) === address) ?? address;
}

/** `Blocked by robots.txt` is `BLOCKED_ROBOTS_TXT`, `Not found (404)` is `NOT_FOUND`. */
function fetchStateOf(status: string): string {
  return status
    .replaceAll(/ by| \(.*/g, '')
    .replaceAll(/\W/g, '_')
    .toUpperCase();
}

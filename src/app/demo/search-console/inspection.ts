import { escaped } from '../../../answers/html/html.js';
import { DAY_MS, HOUR_MS } from '../../../base/time.js';
import { keyOf } from '../../../base/url.js';
import { isIndexed } from '../simulator/lifecycle.js';
import type { Page } from '../simulator/page-life.js';
import { hash } from '../simulator/random.js';
import type { SimulatedWebsite } from '../simulator/website.js';
import type { World } from '../simulator/world.js';
import type { Property } from './properties.js';

const UNKNOWN = 'URL is unknown';
/** Nights on which the crawler found the markup of a directory broken, or gone. */
const BROKEN_PRODUCTS = { directory: '/products/', from: 6, until: 16 } as const;
const LOST_BREADCRUMBS = { directory: '/docs/', from: 9, until: 1e9 } as const;
/** What each number that is drawn for a page decides. */
const SALT = { links: 41, link: 42, warning: 43 } as const;
const NOTHING_KNOWN = { verdict: 'NEUTRAL', coverageState: UNKNOWN, robotsTxtState: 'ROBOTS_TXT_STATE_UNSPECIFIED' };

/** An `inspectionResult`: what the world knows of an address, in the words of Search Console. */
export function inspectionOf(world: World, { siteUrl, website }: Property, url: string, language: string) {
  const page = website?.find(urlInWorld(website, url)) ?? null;
  const query = new URLSearchParams({ resource_id: siteUrl, id: 'simulated', utm_source: 'api' });
  const known = Object.entries((website && page && statusOf(world, website, page)) ?? {}).filter(([, value]) => value);
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
    ...(website && page ? richResultsOf(website, page) : {}),
  };
}

/** Null where nothing is known, a field's value too: there are no such fields. */
function statusOf(world: World, website: SimulatedWebsite, page: Page) {
  const report = world.report(website.settings.id, website.urls.url(page.number));
  const state = report?.index_coverage_state ?? UNKNOWN;
  if (!report || state === UNKNOWN) return null;
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
    referringUrls: page.crawled === null ? null : referringUrlsOf(website, page),
  };
}

/** Up to three addresses, of which some lead there for a while only. Null if there is none. */
function referringUrlsOf({ urls, seed, settings }: SimulatedWebsite, { number, crawled }: Page): string[] | null {
  const month = Math.floor((crawled ?? 0) / 30);
  const found = Array.from({ length: hash(seed, number, 0, SALT.links) % 4 }, (_, at) =>
    urls.url(hash(seed, number, at === 0 ? month : at, SALT.link) % Math.max(1, settings.pages)),
  );
  return found.length > 0 ? [...new Set(found)] : null;
}

/** What the last crawl of an indexed page found; there is nothing of other pages. */
function richResultsOf({ urls, seed }: SimulatedWebsite, { number, state, crawled }: Page) {
  const directory = urls.directory(number);
  if (!isIndexed(state) || crawled === null || directory === '/') return {};
  const isIn = ({ from, until, directory: where }: typeof BROKEN_PRODUCTS | typeof LOST_BREADCRUMBS) =>
    directory === where && crawled >= from && crawled < until;
  const error = {
    issueMessage: 'Either "offers", "review", or "aggregateRating" should be specified',
    severity: 'ERROR',
  };
  const warning = { issueMessage: 'Missing field "brand"', severity: 'WARNING' };
  const product = [
    ...(isIn(BROKEN_PRODUCTS) ? [error] : []),
    ...(hash(seed, number, 0, SALT.warning) % 3 === 0 ? [warning] : []),
  ];
  const types = [
    ...(directory === '/products/' ? [['Product snippets', product] as const] : []),
    ...(isIn(LOST_BREADCRUMBS) ? [] : [['Breadcrumbs', []] as const]),
  ];
  const detectedItems = types.map(([richResultType, issues]) => ({
    richResultType,
    items: [{ name: urls.url(number), ...(issues.length > 0 ? { issues } : {}) }],
  }));
  const verdict = product.includes(error) ? 'FAIL' : 'PASS';
  return detectedItems.length > 0 ? { richResultsResult: { verdict, detectedItems } } : {};
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

/** More would break the protocol. */
const PAGES_A_FILE = 50_000;

export function sitemapIndexOf({ settings }: SimulatedWebsite): string {
  return `https://www.${settings.domain}/sitemap.xml`;
}

/** The file that lists a page if any does. */
function sitemapOf({ urls }: SimulatedWebsite, { number }: Page): string {
  const part = Math.floor(number / PAGES_A_FILE);
  const file = urls.sitemaps(number).at(-1) ?? '';
  return part === 0 ? file : file.replace(/\.xml$/, `-${part + 1}.xml`);
}

/** The text of a sitemap: of the index, or of one that lists pages. Null if there is none at this address. */
export function sitemap(website: SimulatedWebsite, world: World, address: string): string | null {
  const listed = website.window(0, website.count).filter(({ inSitemap }) => inSitemap);
  if (address === sitemapIndexOf(website)) {
    const files = new Set(listed.map((page) => sitemapOf(website, page)));
    return document(
      'sitemapindex',
      [...files].map((file) => `<sitemap><loc>${file}</loc></sitemap>`),
    );
  }
  const pages = listed.filter((page) => sitemapOf(website, page) === address);
  if (pages.length === 0) return null;
  const locOf = ({ number }: Page) => `<loc>${escaped(website.urls.url(number))}</loc>`;
  return document(
    'urlset',
    pages.map((page) => `<url>${locOf(page)}${lastmodOf(world, page)}</url>`),
  );
}

/** When a page last changed, if it says so: by what its owner did, or by an edit of its text every 20 to 420 nights. */
function lastmodOf({ seed, start, night }: World, { number, changed, detected }: Page): string {
  const drawn = (salt: number): number => hash(seed, number, 0, salt);
  const edited = night - ((night + drawn(22)) % (20 + (drawn(21) % 400)));
  const at = start.getTime() + Math.max(edited, changed ?? detected, detected) * DAY_MS - 3 * HOUR_MS;
  const length = [0, 'YYYY-MM-DD'.length, undefined][drawn(23) % 3];
  return length === 0 ? '' : `<lastmod>${new Date(at).toISOString().slice(0, length)}</lastmod>`;
}

function document(root: string, entries: readonly string[]): string {
  const xmlns = 'http://www.sitemaps.org/schemas/sitemap/0.9';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${xmlns}">\n${entries.join('\n')}\n</${root}>\n`;
}

import { escaped } from '../../../answers/html/html.js';
import { DAY_MS, HOUR_MS } from '../../../base/time.js';
import type { Page } from '../simulator/page-life.js';
import { hash } from '../simulator/random.js';
import type { SimulatedWebsite } from '../simulator/website.js';
import type { World } from '../simulator/world.js';

/** More would break the protocol. */
const PAGES_A_FILE = 50_000;
const GZIPPED: ReadonlySet<string> = new Set(['/docs/', '/category/']);
/** Nights between two edits of a page's text, which change nothing else. */
const EDITED_AFTER = { atLeast: 20, range: 400 } as const;
const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';

/** The form in which Search Console writes addresses: that of the URL standard, without a fragment. */
export function hrefOf(url: string): string {
  return new URL(url).href.replace(/#.*$/, '');
}

export function sitemapIndexOf({ settings }: SimulatedWebsite): string {
  return `https://www.${settings.domain}/sitemap.xml`;
}

/** The file that lists a page if any does. */
export function sitemapOf({ settings, urls }: SimulatedWebsite, { number }: Page): string {
  const directory = urls.directory(number);
  const part = Math.floor(number / PAGES_A_FILE);
  const name = `${directory.replaceAll('/', '') || 'pages'}${part === 0 ? '' : `-${part + 1}`}`;
  return `https://www.${settings.domain}/sitemap-${name}.xml${GZIPPED.has(directory) ? '.gz' : ''}`;
}

/** The addresses of all sitemaps with pages, as an index. */
export function sitemapIndex(website: SimulatedWebsite): string {
  const files = new Set(listed(website).map((page) => sitemapOf(website, page)));
  return document(
    'sitemapindex',
    [...files].map((file) => `<sitemap><loc>${file}</loc></sitemap>`),
  );
}

/** The sitemap at an address, or null. */
export function sitemap(website: SimulatedWebsite, world: World, address: string): string | null {
  const pages = listed(website).filter((page) => sitemapOf(website, page) === address);
  const entries = pages.map((page) => {
    const changed = lastmodOf(world, page);
    const lastmod = changed ? `<lastmod>${changed}</lastmod>` : '';
    return `<url><loc>${escaped(website.urls.url(page.number))}</loc>${lastmod}</url>`;
  });
  return pages.length > 0 ? document('urlset', entries) : null;
}

function listed(website: SimulatedWebsite): Page[] {
  return website.window(0, website.count).filter(({ inSitemap }) => inSitemap);
}

/** When a page last changed, if it says so: by what its owner did, or by an edit of its text. */
function lastmodOf({ seed, start, night }: World, { number, changed, detected }: Page): string | null {
  const period = EDITED_AFTER.atLeast + (hash(seed, number, 0, 21) % EDITED_AFTER.range);
  const edited = night - ((night + hash(seed, number, 0, 22)) % period);
  const at = start.getTime() + Math.max(edited, changed ?? detected, detected) * DAY_MS - 3 * HOUR_MS;
  const time = new Date(at).toISOString();
  return [null, time, time.slice(0, 10)][hash(seed, number, 0, 23) % 3] ?? null;
}

function document(root: string, entries: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${NAMESPACE}">\n${entries.join('\n')}\n</${root}>\n`;
}

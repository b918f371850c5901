import { escaped } from '../../../answers/html/html.js';
import { DAY_MS, HOUR_MS } from '../../../base/time.js';
import type { Page } from '../simulator/page-life.js';
import { hash } from '../simulator/random.js';
import type { SimulatedWebsite } from '../simulator/website.js';
import type { World } from '../simulator/world.js';

/** More would break the protocol. */
const PAGES_A_FILE = 50_000;

export function sitemapIndexOf({ settings }: SimulatedWebsite): string {
  return `https://www.${settings.domain}/sitemap.xml`;
}

/** The file that lists a page if any does. */
export function sitemapOf({ urls }: SimulatedWebsite, { number }: Page): string {
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

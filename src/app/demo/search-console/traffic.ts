import { DAY_MS } from '../../../base/time.js';
import { isIndexed } from '../simulator/lifecycle.js';
import { type Page, wasIndexed } from '../simulator/page-life.js';
import { hash, unit } from '../simulator/random.js';
import type { World } from '../simulator/world.js';
import { isPartOf, type Property, pacificDate } from './properties.js';
import { hrefOf } from './site.js';

/** The last day with data is this many days ago. */
const DELAY_DAYS = 3;
/** Impressions go on for fewer days than this after a page fell out of the index. */
const AFTER_THE_FALL_DAYS = 3;
/** Share of the pages without any impressions. */
const SILENT = 0.4;
/** Impressions a day of the others: at least, at most, and the exponent of the tail between. */
const TAIL = { from: 0.02, to: 5000, exponent: 1.1 } as const;
/** From this mean on, a day's impressions are just between 70% and 130% of it. */
const MANY = 30;

/** What each number that is drawn for a page, or for a page and a day, decides. */
const SALT = { mean: 11, position: 12, end: 13, impressions: 14, clicks: 15 } as const;

/** The pages of a property with impressions between two dates, both included, those with most clicks first. */
export function trafficOf(world: World, { siteUrl, website }: Property, startDate: string, endDate: string) {
  if (!website) return [];
  const days = (date: string): number => Date.parse(date) / DAY_MS;
  const first = days(pacificDate(world.start.getTime()));
  const from = days(startDate) - first;
  const to = Math.min(days(endDate), days(pacificDate(world.now.getTime())) - DELAY_DAYS) - first;
  const rows = website.allPages.flatMap((page) => {
    const figures = figuresOf(page, world.seed, from, to);
    return figures ? { keys: [hrefOf(website.urls.url(page.number))] as const, ...figures } : [];
  });
  const own = rows.filter(({ keys: [url] }) => isPartOf(siteUrl, new URL(url)));
  return own.sort((a, b) => b.clicks - a.clicks || b.impressions - a.impressions);
}

function figuresOf(page: Page, seed: number, from: number, to: number) {
  const u = (salt: number, night = 0): number => unit(seed, page.number, night, salt);
  const mean = meanOf(u(SALT.mean));
  if (mean === 0 || (page.indexMoves.length === 0 && !isIndexed(page.state))) return null;
  const position = 1 + 60 * u(SALT.position) ** 2;
  const daysAfter = hash(seed, page.number, 0, SALT.end) % AFTER_THE_FALL_DAYS;
  let [impressions, clicks] = [0, 0];
  for (let night = from; night <= to; night++) {
    if (!wasIndexed(page, night) && !wasIndexed(page, night - daysAfter)) continue;
    const shown = countOf(mean, u(SALT.impressions, night));
    impressions += shown;
    if (shown > 0) clicks += Math.floor((shown * 0.3) / position + u(SALT.clicks, night));
  }
  return impressions === 0 ? null : { clicks, impressions, ctr: clicks / impressions, position };
}

/** Impressions a day of the page that drew `u`: a great many for a few. */
function meanOf(u: number): number {
  return u < SILENT ? 0 : Math.min(TAIL.to, TAIL.from / ((1 - u) / (1 - SILENT)) ** TAIL.exponent);
}

/** The impressions of a day that drew `u` (Poisson, by inversion). */
function countOf(mean: number, u: number): number {
  if (mean > MANY) return Math.round(mean * (0.7 + 0.6 * u));
  let [count, chance] = [0, Math.exp(-mean)];
  for (let below = chance; u > below && count < 4 * MANY; below += chance) chance *= mean / ++count;
  return count;
}

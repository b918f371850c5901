import { DAY_MS } from '../../../base/time.js';
import { addressOf, isOfProperty } from '../../../source/search-console/property.js';
import { type Page, wasIndexed } from '../simulator/page-life.js';
import { hash, unit } from '../simulator/random.js';
import type { World } from '../simulator/world.js';
import { type Property, pacificDate } from './properties.js';

/** The last day with data is this many days ago. */
const DELAY_DAYS = 3;
/** Impressions go on for fewer days than this after a page fell out of the index. */
const AFTER_THE_FALL_DAYS = 3;
/** Share of the pages without any impressions. */
const SILENT = 0.4;
/** Mean impressions a day of the others: at least, at most, and the exponent of the tail between. */
const TAIL = { from: 0.02, to: 5000, exponent: 1.1 } as const;

/** What each number that is drawn for a page, or for a page and a day, decides. */
const SALT = { mean: 11, position: 12, end: 13, impressions: 14, clicks: 15, rounding: 16 } as const;

/** The pages of a property with impressions between two dates, both included, those with most clicks first. */
export function trafficOf(world: World, { siteUrl, website }: Property, startDate: string, endDate: string) {
  const first = Date.parse(pacificDate(world.start.getTime()));
  const nightOf = (date: string): number => (Date.parse(date) - first) / DAY_MS;
  const [from, to] = [nightOf(startDate), Math.min(nightOf(endDate), world.night - DELAY_DAYS)];
  const rows = (website?.allPages ?? []).flatMap((page) => {
    const figures = figuresOf(page, world.seed, from, to);
    const url = figures && addressOf(website?.urls.url(page.number) ?? '');
    return url && isOfProperty(siteUrl, url) ? { keys: [url], ...figures } : [];
  });
  return rows.sort((a, b) => b.clicks - a.clicks || b.impressions - a.impressions);
}

function figuresOf(page: Page, seed: number, from: number, to: number) {
  const u = (salt: number, night = 0): number => unit(seed, page.number, night, salt);
  const rank = (1 - u(SALT.mean)) / (1 - SILENT);
  if (rank > 1) return null;
  const mean = Math.min(TAIL.to, TAIL.from / rank ** TAIL.exponent);
  const position = 1 + 60 * u(SALT.position) ** 2;
  const daysAfter = hash(seed, page.number, 0, SALT.end) % AFTER_THE_FALL_DAYS;
  let [impressions, clicks] = [0, 0];
  for (let night = from; night <= to; night++) {
    if (!wasIndexed(page, night) && !wasIndexed(page, night - daysAfter)) continue;
    // Rounded at random, because the mean of most pages is far below 1.
    const shown = Math.floor(2 * mean * u(SALT.impressions, night) + u(SALT.rounding, night));
    impressions += shown;
    clicks += Math.floor((shown * 0.3) / position + u(SALT.clicks, night));
  }
  return impressions === 0 ? null : { clicks, impressions, ctr: clicks / impressions, position };
}

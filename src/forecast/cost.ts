import type { Config } from '../config/schema.js';
import { count, counted, duration } from '../observe/format.js';
import { MINUTE_MS } from '../time.js';
import { sum } from './reports.js';

/** What a website costs, under the names of `plan --json`. */
export interface Cost {
  pages: number;
  pages_never_fetched: number;
  listing_requests: number;
}

/** What limits the run of a key. */
export interface CostRules
  extends Pick<Config['api'], 'requests_per_minute'>,
    Pick<Config['reports'], 'deadline' | 'max_per_run'> {
  /** Of the last run; null if none was measured. Used where the pace is unlimited. */
  measured_requests_per_minute: number | null;
}

/**
 * How many requests the walk of a listing takes: computed from the window size if that explains the last walk, else
 * in proportion to the last walk.
 *
 * @param window entries of one answer
 * @param measured what the last complete walk took, and what it listed
 */
export function listingRequests(
  pages: number,
  window: number,
  measured: { requests: number; pages: number } | null = null,
): number {
  if (!measured) return requestsOfWalk(pages, window);
  const walks = measured.requests / requestsOfWalk(measured.pages, window);
  if (Number.isInteger(walks)) return walks * requestsOfWalk(pages, window);
  return Math.max(1, Math.round((measured.requests / measured.pages) * pages));
}

/** Each window starts one entry early. */
function requestsOfWalk(pages: number, window: number): number {
  if (pages <= window) return 1;
  // The first window shows that there is no room for an overlap; then two walks must agree.
  if (window < 2) return 1 + 2 * pages;
  return Math.ceil((pages - 1) / (window - 1));
}

/** Requests per minute: the key's pace, or the measured one; Infinity if neither is known. */
export function paceOf({ requests_per_minute: pace, measured_requests_per_minute: measured }: CostRules): number {
  return Number.isFinite(pace) ? pace : (measured ?? Number.POSITIVE_INFINITY);
}

/** Reports that a key can fetch until the deadline, after the requests for the listing. */
export function reportsInTime(listing: number, rules: CostRules): number {
  return Math.max(0, Math.floor((paceOf(rules) * rules.deadline) / MINUTE_MS) - listing);
}

/**
 * Shares a capacity among demands, max-min fair: no share exceeds its demand, nothing is left while a demand is unmet,
 * and unmet demands get equal shares (to within one, because shares are whole numbers).
 *
 * @param capacity whole, at least 0; Infinity meets every demand
 * @param demands whole numbers
 */
export function fairShares(capacity: number, demands: readonly number[]): number[] {
  const shares = demands.map(() => 0);
  const rising = demands.map((demand, at) => ({ demand, at })).sort((one, other) => one.demand - other.demand);
  let left = capacity;
  for (const [done, { demand, at }] of rising.entries()) {
    const share = Math.min(demand, Math.floor(left / (rising.length - done)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}

/** One sentence about the cost of each key's websites: of listing all pages, and of fetching each report once. */
export function costSentence(keys: readonly (readonly Cost[])[], rules: CostRules): string {
  const pace = paceOf(rules);
  const listing = keys.map((websites) => sum(websites.map(({ listing_requests }) => listing_requests)));
  const reports = keys.map((websites) => sum(websites.map(reportsOf)));
  const pages = sum(keys.flat().map((website) => website.pages));
  // Keys run side by side, so the slowest one counts.
  const takes = (requests: readonly number[]) =>
    Number.isFinite(pace) ? ` (${duration((Math.max(0, ...requests) / pace) * MINUTE_MS)})` : '';
  const lists = `${counted(sum(listing), 'request')}${takes(listing)} ${sum(listing) === 1 ? 'lists' : 'list'} ${pages === 1 ? 'it' : 'them'}`;
  const begin = `${counted(pages, 'page')}${paceText(keys.length, rules)}: ${lists}`;
  if (rules.max_per_run === 0) return `${begin}; reports.max_per_run is 0, so no report is fetched.`;
  const fetches = `${count(sum(reports))}${takes(reports)} ${sum(reports) === 1 ? 'fetches' : 'fetch'} every report once`;
  return `${begin}, ${fetches}${nightsText(keys, rules)}.`;
}

function reportsOf({ pages, pages_never_fetched }: Cost): number {
  return pages - pages_never_fetched;
}

function paceText(keys: number, { requests_per_minute: pace, measured_requests_per_minute: measured }: CostRules) {
  const each = keys > 1 ? ` for each of ${keys} keys` : '';
  if (Number.isFinite(pace)) return ` at ${counted(pace, 'request')} a minute${each}`;
  if (measured === null) return ', as fast as the service answers';
  return ` at the ${count(Number((measured / 60).toPrecision(3)))} requests a second of the last run${each}`;
}

function nightsText(keys: readonly (readonly Cost[])[], rules: CostRules): string {
  const { deadline, max_per_run: most } = rules;
  const limits = [
    ...(Number.isFinite(paceOf(rules)) ? [`a deadline of ${duration(deadline)}`] : []),
    ...(Number.isFinite(most) ? [`at most ${counted(most, 'report')} of a website a night`] : []),
  ];
  if (limits.length === 0) return '';
  const nights = Math.max(0, ...keys.map((websites) => nightsOf(websites, rules)));
  const takes = Number.isFinite(nights)
    ? `that is ${counted(nights, 'night')}`
    : 'the listing leaves no time for reports';
  return `; with ${limits.join(' and ')} ${takes}`;
}

/** How many nights it takes to fetch each report of a key once; Infinity if the listing takes all the time. */
export function nightsOf(websites: readonly Cost[], rules: CostRules): number {
  const reports = websites.map(reportsOf);
  if (sum(reports) === 0) return 0;
  const capacity = reportsInTime(sum(websites.map(({ listing_requests }) => listing_requests)), rules);
  return Math.max(Math.ceil(sum(reports) / capacity), Math.ceil(Math.max(...reports) / rules.max_per_run));
}

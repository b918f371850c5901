import { count, counted, duration } from '../observe/format.js';
import { sum } from './reports.js';

const MINUTE_MS = 60_000;

/** What the websites of one API key cost. */
export interface KeyCost {
  /** Pages of each website, and those of them whose report may be fetched. */
  websites: readonly { pages: number; fetchable: number }[];
  listingRequests: number;
}

export interface CostRules {
  /** Of each key; Infinity: as fast as the service answers. */
  requestsPerMinute: number;
  /** Requests a second of the last run, where the pace is unlimited and one was measured. */
  measuredPerSecond: number | null;
  /** Milliseconds from the run's start to the last report; Infinity: none. */
  deadline: number;
  /** Reports of one website in one run. */
  maxPerRun: number;
}

/**
 * How many requests the walk of a listing takes, as far as windows of this size explain what it took last time; else as
 * many for each page as then.
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

/** Each window is asked for one entry early. */
function requestsOfWalk(pages: number, window: number): number {
  if (pages <= window) return 1;
  // The first window shows that there is no room for an overlap; then two walks have to agree.
  if (window < 2) return 1 + 2 * pages;
  return Math.ceil((pages - 1) / (window - 1));
}

/** Requests in a millisecond: the key's pace, or the measured one; Infinity where neither is known. */
export function requestsPerMs({ requestsPerMinute, measuredPerSecond }: CostRules): number {
  if (Number.isFinite(requestsPerMinute)) return requestsPerMinute / MINUTE_MS;
  return measuredPerSecond === null ? Number.POSITIVE_INFINITY : measuredPerSecond / 1000;
}

/** Reports that a key gets until the deadline, the listing's requests spent first. */
export function reportsInTime(listing: number, rules: CostRules): number {
  const requests = requestsPerMs(rules) * rules.deadline;
  return Number.isFinite(requests) ? Math.max(0, Math.floor(requests) - listing) : Number.POSITIVE_INFINITY;
}

/**
 * Shares a capacity among demands, max-min fair: nobody gets more than asked for, nothing is left while somebody wants
 * more, and who gets less than asked for gets as much as anybody (to within one, because shares are whole numbers).
 *
 * @param capacity whole, at least 0; Infinity gives everybody what is asked for
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

/** One sentence on what it costs to list all pages and to fetch each report once. Keys work side by side. */
export function costSentence(keys: readonly KeyCost[], rules: CostRules): string {
  const pages = sum(keys.flatMap(({ websites }) => websites.map((website) => website.pages)));
  const listing = sum(keys.map(({ listingRequests }) => listingRequests));
  const takes = (requests: (key: KeyCost) => number) => {
    const rate = requestsPerMs(rules);
    return Number.isFinite(rate) ? ` (${duration(Math.max(0, ...keys.map(requests)) / rate)})` : '';
  };
  const lists = `${counted(listing, 'request')}${takes((key) => key.listingRequests)} ${listing === 1 ? 'lists' : 'list'} ${pages === 1 ? 'it' : 'them'}`;
  const begin = `${counted(pages, 'page')}${paceText(keys.length, rules)}: ${lists}`;
  if (rules.maxPerRun === 0) return `${begin}; reports.max_per_run is 0, so no report is fetched.`;
  const reports = sum(keys.map(reportsOf));
  const fetches = `${count(reports)}${takes(reportsOf)} ${reports === 1 ? 'fetches' : 'fetch'} every report once`;
  return `${begin}, ${fetches}${nightsText(keys, rules)}.`;
}

function reportsOf({ websites }: KeyCost): number {
  return sum(websites.map(({ fetchable }) => fetchable));
}

function paceText(keys: number, { requestsPerMinute, measuredPerSecond }: CostRules): string {
  const each = keys > 1 ? ` for each of ${keys} keys` : '';
  if (Number.isFinite(requestsPerMinute)) return ` at ${counted(requestsPerMinute, 'request')} a minute${each}`;
  if (measuredPerSecond === null) return ', as fast as the service answers';
  return ` at the ${count(Number(measuredPerSecond.toPrecision(3)))} requests a second of the last run${each}`;
}

function nightsText(keys: readonly KeyCost[], rules: CostRules): string {
  const { deadline, maxPerRun } = rules;
  const limits = [
    ...(Number.isFinite(requestsPerMs(rules)) ? [`a deadline of ${duration(deadline)}`] : []),
    ...(Number.isFinite(maxPerRun) ? [`at most ${counted(maxPerRun, 'report')} of a website a night`] : []),
  ];
  if (limits.length === 0) return '';
  const nights = Math.max(0, ...keys.map((key) => nightsOf(key, rules)));
  const takes = Number.isFinite(nights)
    ? `that is ${counted(nights, 'night')}`
    : 'the listing leaves no time for reports';
  return `; with ${limits.join(' and ')} ${takes}`;
}

/** Nights that fetch each report once; Infinity where the listing takes all the time. */
function nightsOf(key: KeyCost, rules: CostRules): number {
  const reports = reportsOf(key);
  if (reports === 0) return 0;
  const largest = Math.max(...key.websites.map(({ fetchable }) => fetchable));
  const capacity = reportsInTime(key.listingRequests, rules);
  return Math.max(Math.ceil(reports / capacity), Math.ceil(largest / rules.maxPerRun));
}

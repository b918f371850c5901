import { count } from '../observe/format.js';
import { fairShares } from './fair-share.js';
import { sum } from './sum.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** From here on days are easier to grasp. */
const LONG_MS = 48 * HOUR_MS;
const MAX_NIGHTS = 3650;

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

/** One sentence on what it costs to list all pages and to fetch each report once. Keys work side by side. */
export function costSentence(keys: readonly KeyCost[], rules: CostRules): string {
  const websites = keys.flatMap((key) => key.websites);
  const pages = sum(websites.map((website) => website.pages));
  const reports = sum(websites.map(({ fetchable }) => fetchable));
  const listing = sum(keys.map(({ listingRequests }) => listingRequests));
  const rate = requestsPerMs(rules);
  const longest = (requests: (key: KeyCost) => number) => timeOf(Math.max(0, ...keys.map(requests)), rate);
  const lists = `${many(listing, 'request')}${longest((key) => key.listingRequests)} ${listing === 1 ? 'lists' : 'list'} ${pages === 1 ? 'it' : 'them'}`;
  const begin = `${many(pages, 'page')}${paceText(keys.length, rules)}: ${lists}`;
  if (rules.maxPerRun === 0) return `${begin}; reports.max_per_run is 0, so no report is fetched.`;
  const fetches = `${count(reports)}${longest(reportsOf)} ${reports === 1 ? 'fetches' : 'fetch'} every report once`;
  return `${begin}, ${fetches}${nightsText(keys, rules)}.`;
}

/** Requests in a millisecond: the key's pace, or the measured one; Infinity where neither bounds it. */
export function requestsPerMs({
  requestsPerMinute,
  measuredPerSecond,
}: Pick<CostRules, 'requestsPerMinute' | 'measuredPerSecond'>): number {
  if (Number.isFinite(requestsPerMinute)) return requestsPerMinute / MINUTE_MS;
  return measuredPerSecond === null ? Number.POSITIVE_INFINITY : measuredPerSecond / 1000;
}

/** Reports that a key gets until the deadline, the listing's requests spent first. */
export function reportsInTime(listingRequests: number, rules: CostRules): number {
  const requests = requestsPerMs(rules) * rules.deadline;
  return Number.isFinite(requests) ? Math.max(0, Math.floor(requests) - listingRequests) : Number.POSITIVE_INFINITY;
}

/** `40 s`, `2 min`, `27 h 47 min`, `5 days 3 h` */
export function longTime(ms: number): string {
  const [seconds, minutes] = [Math.ceil(ms / 1000), Math.round(ms / MINUTE_MS)];
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min`;
  if (ms < LONG_MS) return pair(minutes, 60, 'h', 'min');
  return pair(Math.round(ms / HOUR_MS), 24, 'days', 'h');
}

/** 1 → `1 page`, 2000 → `2,000 pages` */
export function many(amount: number, what: string): string {
  return `${count(amount)} ${what}${amount === 1 ? '' : 's'}`;
}

function pair(amount: number, perLarge: number, large: string, small: string): string {
  const rest = amount % perLarge;
  return `${count(Math.floor(amount / perLarge))} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

function reportsOf({ websites }: KeyCost): number {
  return sum(websites.map(({ fetchable }) => fetchable));
}

function timeOf(requests: number, rate: number): string {
  return Number.isFinite(rate) ? ` (${longTime(requests / rate)})` : '';
}

function paceText(keys: number, { requestsPerMinute, measuredPerSecond }: CostRules): string {
  const each = keys > 1 ? ` for each of ${keys} keys` : '';
  if (Number.isFinite(requestsPerMinute)) return ` at ${many(requestsPerMinute, 'request')} a minute${each}`;
  if (measuredPerSecond === null) return ', as fast as the service answers';
  return ` at the ${count(Number(measuredPerSecond.toPrecision(3)))} requests a second of the last run${each}`;
}

function nightsText(keys: readonly KeyCost[], rules: CostRules): string {
  const limits = [
    ...(Number.isFinite(requestsPerMs(rules)) ? [`a deadline of ${longTime(rules.deadline)}`] : []),
    ...(Number.isFinite(rules.maxPerRun) ? [`at most ${many(rules.maxPerRun, 'report')} of a website a night`] : []),
  ];
  return limits.length === 0 ? '' : `; with ${limits.join(' and ')} ${takes(keys, rules)}`;
}

function takes(keys: readonly KeyCost[], rules: CostRules): string {
  const isLate = (key: KeyCost) => reportsInTime(key.listingRequests, rules) === 0 && reportsOf(key) > 0;
  if (keys.some(isLate)) return 'the listing leaves no time for reports';
  const nights = Math.max(0, ...keys.map((key) => nightsOf(key, rules)));
  return Number.isFinite(nights) ? `that is ${many(nights, 'night')}` : `that is more than ${count(MAX_NIGHTS)} nights`;
}

function nightsOf({ websites, listingRequests }: KeyCost, rules: CostRules): number {
  const capacity = reportsInTime(listingRequests, rules);
  let left = websites.map(({ fetchable }) => fetchable);
  for (let nights = 0; nights <= MAX_NIGHTS; nights++) {
    if (sum(left) === 0) return nights;
    const wanted = left.map((pages) => Math.min(pages, rules.maxPerRun));
    const shares = fairShares(capacity, wanted);
    left = left.map((pages, at) => pages - (shares[at] ?? 0));
  }
  return Number.POSITIVE_INFINITY;
}

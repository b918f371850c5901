import type { Config } from '../../base/config/schema.js';
import { count, counted, duration } from '../../base/observe/format.js';
import { MINUTE_MS } from '../../base/time.js';

/** What limits a run. */
export type Limits = Pick<Config['api'], 'requests_per_minute'> & Pick<Config['reports'], 'deadline' | 'max_per_run'>;

/** How many requests list this many pages: each window of the listing starts one entry early. */
export function listingRequests(pages: number, window: number): number {
  return pages <= window ? 1 : Math.ceil((pages - 1) / Math.max(1, window - 1));
}

/** Reports that a key can fetch until the deadline, after the requests for the listing. */
export function reportsInTime(listing: number, { requests_per_minute: pace, deadline }: Limits): number {
  return Math.max(0, Math.floor((pace * deadline) / MINUTE_MS) - listing);
}

/** Shares a capacity among demands in proportion, rounded down, and never more than is demanded. */
export function sharesOf(capacity: number, demands: readonly number[]): number[] {
  const all = demands.reduce((sum, demand) => sum + demand, 0);
  return demands.map((demand) => Math.floor(all <= capacity ? demand : (capacity * demand) / all));
}

/** What it takes to list a website's pages and fetch each report once; the nights are Infinity if there is no time. */
export function firstRuns(pages: number, limits: Limits & Pick<Config['api'], 'page_size'>) {
  const listing = listingRequests(pages, limits.page_size);
  const reports = Math.min(limits.max_per_run, reportsInTime(listing, limits));
  return { listing, requests: listing + pages, nights: Math.max(1, Math.ceil(pages / reports)) };
}

/** The cost of a website that was never synced, in one sentence. */
export function costSentence(pages: number, { api, reports }: Pick<Config, 'api' | 'reports'>): string {
  const pace = api.requests_per_minute;
  const { listing, nights } = firstRuns(pages, { ...api, ...reports });
  const takes = (requests: number) => (Number.isFinite(pace) ? ` (${duration((requests / pace) * MINUTE_MS)})` : '');
  const at = Number.isFinite(pace) ? ` at ${counted(pace, 'request')} a minute` : '';
  const lists = `${counted(pages, 'page')}${at}: ${counted(listing, 'request')}${takes(listing)} for the listing`;
  const inNights = Number.isFinite(nights) ? `, in ${counted(nights, 'night')}` : ', for which no time is left';
  if (reports.max_per_run === 0) return `${lists}; reports.max_per_run is 0, so no report is fetched.`;
  return `${lists}, ${count(pages)}${takes(pages)} to fetch every report once${inNights}.`;
}

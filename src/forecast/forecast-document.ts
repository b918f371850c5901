import type { Config } from '../config/schema.js';
import type { KeyForecast, Limit, WebsiteForecast } from './key-forecast.js';
import type { Expected, WantedPage } from './known.js';
import type { Basis } from './outlook.js';
import { added, type ByReason, totalOf } from './reasons.js';
import type { SelectedWebsite } from './selection.js';
import { costSentence } from './sentence.js';
import { sum } from './sum.js';
import { wantedOf } from './tonight.js';
import { whyNeverYoung } from './young-note.js';

const DAY_MS = 86_400_000;

/** Reports by the reason why they are wanted. */
export interface Reports extends ByReason {
  total: number;
}

/** One website. The names in this file are those of `plan --json`. */
export interface PlannedWebsite {
  website_id: string;
  website_name: string | null;
  /** Where its token stands in the configuration. */
  key: string;
  basis: Basis;
  /** The newest one; null before the first. */
  snapshot_id: string | null;
  pages: number;
  pages_never_fetched: number;
  pages_keep_failing: number;
  listing_requests: number;
  /** Listing and reached reports. */
  requests: number;
  /** What the listing is expected to bring, by the median of so many earlier ones; null without any. */
  expected: Expected | null;
  wanted: Reports;
  reached: Reports;
  not_reached: Reports;
  /** What leaves reports unreached. */
  limit: Limit | null;
  first_pages: WantedPage[];
  /** The first page beyond the cut, of those that are known. */
  first_not_reached: WantedPage | null;
  nights_until_young: number | null;
  /** Why that is never. */
  never_young_because: string | null;
}

/** The websites of one API key. */
export interface PlannedKey {
  key: string;
  website_ids: string[];
  pages: number;
  listing_requests: number;
  requests: number;
  wanted: number;
  reached: number;
  not_reached: number;
  /** Null: unlimited. */
  requests_per_minute: number | null;
  /** In its last run; null where none was measured. */
  measured_requests_per_minute: number | null;
  /** Seconds; null where nobody knows how fast the service answers. */
  duration_seconds: number | null;
  duration_seconds_for_all: number | null;
  ends_at: string | null;
}

/** What the next run does. Times are ISO 8601 in UTC. */
export interface Forecast {
  planned_at: string;
  warehouse: string;
  sentence: string;
  younger_than_days: number;
  /** Null: unlimited. */
  max_reports: number | null;
  deadline_seconds: number;
  refresh_after_seconds: number;
  /** Of the schedule. */
  time_zone: string;
  /** A journal lies in the warehouse: a run is under way, or the next one goes on with it first. */
  unfinished_run: boolean;
  /** Requests that this plan itself cost. */
  requests_sent: number;
  websites: PlannedWebsite[];
  /** Websites of which neither a snapshot nor the service tells the pages. */
  unknown_websites: { website_id: string; website_name: string | null }[];
  keys: PlannedKey[];
  totals: {
    pages: number;
    listing_requests: number;
    requests: number;
    wanted: Reports;
    reached: Reports;
    not_reached: Reports;
    duration_seconds: number | null;
    duration_seconds_for_all: number | null;
    /** When a run that starts now ends. */
    ends_at: string | null;
    nights_until_young: number | null;
  };
  /** The next nightly-sync; null where it is switched off. It takes no flags, so `ends_at` is null where some are given. */
  next_nightly_sync: { starts_at: string; ends_at: string | null } | null;
}

/** What was worked out, before it is written down. */
export interface Planned {
  config: Config;
  now: number;
  youngDays: number;
  keys: KeyForecast[];
  requests: number;
  unknown: SelectedWebsite[];
  unfinished: boolean;
  next: Date | null;
  asScheduled: boolean;
  /** How many of the pages that come first to name. */
  first: number;
}

/** Reads pages of a website's plan, from one place to another, both included. */
export type ReadPages = (websiteId: string, from: number, to: number) => Promise<WantedPage[]>;

/** Writes the forecast down under the names of `plan --json`. */
export async function writtenForecast(planned: Planned, readPages: ReadPages): Promise<Forecast> {
  const { config, now, youngDays, keys, unknown, next } = planned;
  const { reports, schedule, warehouse } = config;
  const websites: PlannedWebsite[] = [];
  for (const key of keys) {
    for (const website of key.websites) websites.push(await writtenWebsite(key, website, planned, readPages));
  }
  const totals = totalsOf(websites, keys, now);
  const takes = totals.duration_seconds;
  return {
    planned_at: new Date(now).toISOString(),
    warehouse: warehouse.path,
    sentence: sentenceOf(keys, config),
    younger_than_days: youngDays,
    max_reports: Number.isFinite(reports.max_per_run) ? reports.max_per_run : null,
    deadline_seconds: reports.deadline / 1000,
    refresh_after_seconds: reports.refresh_after / 1000,
    time_zone: schedule.time_zone,
    unfinished_run: planned.unfinished,
    requests_sent: planned.requests,
    websites,
    unknown_websites: unknown.map(({ id, name }) => ({ website_id: id, website_name: name })),
    keys: keys.map((key) => writtenKey(key, now)),
    totals,
    next_nightly_sync: next && {
      starts_at: next.toISOString(),
      ends_at: planned.asScheduled && takes !== null ? isoAt(next.getTime(), takes) : null,
    },
  };
}

function sentenceOf(keys: readonly KeyForecast[], { api, reports }: Config): string {
  const costs = keys.map(({ websites, listingRequests }) => ({
    websites: websites.map(({ outlook }) => ({
      pages: outlook.pages,
      fetchable: Math.max(0, outlook.pages - outlook.neverFetched),
    })),
    listingRequests,
  }));
  const slowest = keys.map(({ rules }) => rules.measuredPerSecond);
  const measured = slowest.filter((rate) => rate !== null);
  return costSentence(costs, {
    requestsPerMinute: api.requests_per_minute,
    measuredPerSecond: measured.length === keys.length && measured.length > 0 ? Math.min(...measured) : null,
    deadline: reports.deadline,
    maxPerRun: reports.max_per_run,
  });
}

async function writtenWebsite(
  { key, capacity }: KeyForecast,
  forecast: WebsiteForecast,
  { config, youngDays, first }: Planned,
  readPages: ReadPages,
): Promise<PlannedWebsite> {
  const { outlook, reports, cut, limit, nights } = forecast;
  const { id } = outlook.website;
  const { max_per_run: maxPerRun, refresh_after: refreshAfter } = config.reports;
  const isKnown = outlook.basis !== 'service';
  const beyond = cut.knownReached + 1;
  const [notReached] = isKnown && limit !== null ? await readPages(id, beyond, beyond) : [];
  const rules = { capacity, maxPerRun, youngDays, refreshDays: refreshAfter / DAY_MS };
  return {
    website_id: id,
    website_name: outlook.name,
    key,
    basis: outlook.basis,
    snapshot_id: outlook.lastRun?.snapshotId ?? null,
    pages: outlook.pages,
    pages_never_fetched: outlook.neverFetched,
    pages_keep_failing: outlook.keepFailing,
    listing_requests: outlook.listingRequests,
    requests: outlook.listingRequests + reports,
    expected: outlook.expected,
    wanted: withTotal(wantedOf(outlook.plan)),
    reached: withTotal(cut.reached),
    not_reached: withTotal(cut.notReached),
    limit,
    first_pages: isKnown ? await readPages(id, 1, Math.min(first, cut.knownReached)) : [],
    first_not_reached: notReached ?? null,
    nights_until_young: nights.nights,
    never_young_because: whyNeverYoung(forecast, rules),
  };
}

function withTotal(counts: ByReason): Reports {
  return { ...counts, total: totalOf(counts) };
}

function writtenKey(forecast: KeyForecast, now: number): PlannedKey {
  const { key, websites, listingRequests, rules, measuredPerSecond, time, timeForAll } = forecast;
  const reached = sum(websites.map(({ reports }) => reports));
  const wanted = sum(websites.map(({ outlook }) => totalOf(wantedOf(outlook.plan))));
  const seconds = inSeconds(time);
  return {
    key,
    website_ids: websites.map(({ outlook }) => outlook.website.id),
    pages: sum(websites.map(({ outlook }) => outlook.pages)),
    listing_requests: listingRequests,
    requests: listingRequests + reached,
    wanted,
    reached,
    not_reached: wanted - reached,
    requests_per_minute: Number.isFinite(rules.requestsPerMinute) ? rules.requestsPerMinute : null,
    measured_requests_per_minute: measuredPerSecond === null ? null : Number((measuredPerSecond * 60).toPrecision(3)),
    duration_seconds: seconds,
    duration_seconds_for_all: inSeconds(timeForAll),
    ends_at: seconds === null ? null : isoAt(now, seconds),
  };
}

/** Keys work side by side: the slowest ends the run. */
function totalsOf(websites: readonly PlannedWebsite[], keys: readonly KeyForecast[], now: number): Forecast['totals'] {
  const seconds = longest(keys.map(({ time }) => time));
  const nights = websites.map((website) => website.nights_until_young);
  const reports = (of: (website: PlannedWebsite) => Reports) => withTotal(added(websites.map(of)));
  return {
    pages: sum(websites.map(({ pages }) => pages)),
    listing_requests: sum(websites.map(({ listing_requests }) => listing_requests)),
    requests: sum(websites.map(({ requests }) => requests)),
    wanted: reports(({ wanted }) => wanted),
    reached: reports(({ reached }) => reached),
    not_reached: reports(({ not_reached }) => not_reached),
    duration_seconds: seconds,
    duration_seconds_for_all: longest(keys.map(({ timeForAll }) => timeForAll)),
    ends_at: seconds === null ? null : isoAt(now, seconds),
    nights_until_young: nights.length === 0 || nights.includes(null) ? null : Math.max(...nights.map(Number)),
  };
}

function longest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length < times.length || times.length === 0 ? null : inSeconds(Math.max(...known));
}

function inSeconds(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms / 1000);
}

function isoAt(start: number, seconds: number): string {
  return new Date(start + seconds * 1000).toISOString();
}

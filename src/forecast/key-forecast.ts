import type { Config } from '../config/schema.js';
import { fairShares } from './fair-share.js';
import { type NightsToYoung, playNights } from './nights.js';
import type { Outlook } from './outlook.js';
import { totalOf } from './reasons.js';
import { type CostRules, reportsInTime, requestsPerMs } from './sentence.js';
import { sum } from './sum.js';
import { type Cut, cutPlan, wantedOf } from './tonight.js';

const DAY_MS = 86_400_000;

/** What ends a run before it has everything that it wants. */
export type Limit = 'deadline' | 'max_per_run';

/** One website's part of tonight's run. */
export interface WebsiteForecast {
  outlook: Outlook;
  /** Reports that it gets. */
  reports: number;
  cut: Cut;
  limit: Limit | null;
  nights: NightsToYoung;
}

/** Tonight's run with one API key. Its websites share the key's requests; different keys work side by side. */
export interface KeyForecast {
  key: string;
  websites: WebsiteForecast[];
  listingRequests: number;
  /** Reports until the deadline; Infinity where nothing bounds them. */
  capacity: number;
  rules: CostRules;
  /** Requests a second of the key's last run; null where none was measured. */
  measuredPerSecond: number | null;
  /** Milliseconds that tonight's run takes, and that everything wanted would take; null: nobody knows. */
  time: number | null;
  timeForAll: number | null;
}

/** Forecasts tonight's run of the websites of one key. */
export function forecastKey(
  key: string,
  outlooks: readonly Outlook[],
  { config, youngDays }: { config: Config; youngDays: number },
): KeyForecast {
  const { api, reports } = config;
  const measuredPerSecond = measuredPace(outlooks);
  const isUnlimited = !Number.isFinite(api.requests_per_minute);
  const rules: CostRules = {
    requestsPerMinute: api.requests_per_minute,
    measuredPerSecond: isUnlimited ? measuredPerSecond : null,
    deadline: reports.deadline,
    maxPerRun: reports.max_per_run,
  };
  const listing = sum(outlooks.map(({ listingRequests }) => listingRequests));
  const capacity = reportsInTime(listing, rules);
  const wanted = outlooks.map(({ plan }) => totalOf(wantedOf(plan)));
  const shares = fairShares(
    capacity,
    wanted.map((reports) => Math.min(reports, rules.maxPerRun)),
  );
  const nights = playNights(
    outlooks.map(({ nightly }) => nightly),
    { capacity, maxPerRun: rules.maxPerRun, youngDays, refreshDays: reports.refresh_after / DAY_MS },
  );
  const websites = outlooks.flatMap((outlook, at) => {
    const played = nights[at];
    return played ? [websiteForecast(outlook, shares[at] ?? 0, played, rules)] : [];
  });
  const timeOf = (requests: number) => timeAt(requests, rules);
  return {
    key,
    websites,
    listingRequests: listing,
    capacity,
    rules,
    measuredPerSecond,
    time: timeOf(listing + sum(shares)),
    timeForAll: timeOf(listing + sum(wanted)),
  };
}

function websiteForecast(outlook: Outlook, reports: number, nights: NightsToYoung, rules: CostRules): WebsiteForecast {
  const cut = cutPlan(outlook.plan, reports);
  const isCut = totalOf(cut.notReached) > 0;
  const limit = reports >= rules.maxPerRun ? 'max_per_run' : 'deadline';
  return { outlook, reports, cut, limit: isCut ? limit : null, nights };
}

function timeAt(requests: number, rules: CostRules): number | null {
  const rate = requestsPerMs(rules);
  return Number.isFinite(rate) ? requests / rate : null;
}

/** Requests a second of the newest run of a key's websites, where it went through uninterrupted. */
function measuredPace(outlooks: readonly Outlook[]): number | null {
  const runs = outlooks.flatMap(({ lastRun }) => (lastRun ? [lastRun] : []));
  const newest = runs
    .map(({ runId }) => runId)
    .sort()
    .at(-1);
  const times = runs.flatMap(({ runId, time }) => (runId === newest && time ? [time] : []));
  const started = Math.min(...times.map(({ startedMs }) => startedMs));
  const finished = Math.max(...times.map(({ finishedMs }) => finishedMs));
  const requests = sum(times.map((time) => time.requests));
  return requests > 0 && finished > started ? (requests * 1000) / (finished - started) : null;
}

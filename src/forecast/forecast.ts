import { nextTimes } from '../config/cron.js';
import type { Config } from '../config/schema.js';
import { unfinishedJournals } from '../journal/folder.js';
import { type Effects, realEffects } from '../source/effects.js';
import { DAY_MS } from '../time.js';
import type { DamagedFile } from '../warehouse/damage.js';
import type { StateOptions } from '../warehouse/state.js';
import type { ListingSize } from './ask-service.js';
import { type CostRules, costSentence, fairShares, reportsInTime, requestsPerMs } from './cost.js';
import { Known, type WantedPage } from './known.js';
import { reportsBy, sum } from './reports.js';
import { type Outlook, outlookOf, type PlannedWebsite, plannedWebsite, selectWebsites } from './website.js';

const YOUNG_MS = 30 * DAY_MS;

export interface ForecastEffects extends Effects {
  /** When a cron expression, as the configuration was checked to hold, comes next in a time zone. */
  nextTime(cron: string, timeZone: string): Date | null;
}

const realForecastEffects: ForecastEffects = {
  ...realEffects,
  nextTime: (cron, timeZone) => nextTimes(cron, timeZone, 1)[0] ?? null,
};

export interface ForecastInput extends Pick<StateOptions, 'onRebuilt'> {
  config: Config;
  /** Ids; all that are configured if empty. */
  websites: readonly string[];
  /** Whom to ask for the number of its pages: each website, those without a snapshot, or none. */
  ask: 'always' | 'unknown' | 'never';
  /** Milliseconds; left out: 30 days, or `refresh_after` where that is longer. */
  youngerThan?: number | undefined;
  /** How many of the pages that come first to name, for each website. */
  first: number;
  /** Whether the scheduled job would do the same: false where a flag overrides the configuration. */
  asScheduled: boolean;
  signal: AbortSignal;
  /** Told how many websites the service is asked about, which takes its time at the key's pace. */
  onAsk?: ((websites: number) => void) | undefined;
  /** Told of files that cannot be read: the plan is made without them. */
  onDamaged?: ((damaged: readonly DamagedFile[]) => void) | undefined;
  /** Takes every page that is known to be wanted, website by website, in the plan's order. */
  writeWanted?: ((pages: AsyncIterable<WantedOf>) => Promise<void>) | undefined;
  effects?: ForecastEffects;
}

/** A page that is wanted, and whether tonight's run reaches it. */
export interface WantedOf extends WantedPage {
  website_id: string;
  reached: boolean;
}

/** What the next run does, under the names of `plan --json`. Times are ISO 8601 in UTC. */
export type Forecast = Awaited<ReturnType<typeof forecast>>;

/**
 * Tells what the next run costs, when it ends and which pages it does not reach. Reads the warehouse and writes nothing
 * into it; asks the service for nothing but the number of pages, and only where that is allowed and not known.
 *
 * @throws WarehouseError; Failure where the service does not answer
 */
export async function forecast(input: ForecastInput) {
  const { config, effects = realForecastEffects } = input;
  const now = effects.now();
  const known = await Known.open(config, now, input.onRebuilt);
  try {
    const { selected, sizes, requests } = await askWhereNeeded(input, known, effects);
    const outlooks: Outlook[] = [];
    for (const website of selected) {
      const outlook = await outlookOf(website, known, sizes.get(website.id) ?? null, config.api.page_size);
      if (outlook) outlooks.push(outlook);
    }
    const keys: KeyPlan[] = [];
    for (const key of new Set(outlooks.map(({ website }) => website.key))) {
      const own = outlooks.filter(({ website }) => website.key === key);
      keys.push(await planKey(key, own, { known, input, now }));
    }
    const parts = keys.flatMap((key) => key.parts);
    await input.writeWanted?.(wantedPages(parts, known));
    if (known.damaged.length > 0) input.onDamaged?.(known.damaged);
    const found = new Set(outlooks.map(({ website }) => website.id));
    const websites = parts.map(({ written }) => written);
    const totals = totalsOf(websites, keys, now);
    return {
      planned_at: new Date(now).toISOString(),
      warehouse: config.warehouse.path,
      sentence: sentenceOf(keys),
      younger_than_days: youngDaysOf(input),
      max_reports: finite(config.reports.max_per_run),
      deadline_seconds: config.reports.deadline / 1000,
      refresh_after_seconds: config.reports.refresh_after / 1000,
      time_zone: config.schedule.time_zone,
      unfinished_run: (await unfinishedJournals(config.warehouse.path)).length > 0,
      requests_sent: requests,
      websites,
      unknown_websites: selected
        .filter(({ id }) => !found.has(id))
        .map(({ id, name }) => ({ website_id: id, website_name: name })),
      keys: keys.map(({ written }) => written),
      totals,
      next_nightly_sync: nextSync(input, effects, totals.duration_seconds),
    };
  } finally {
    known.close();
  }
}

async function askWhereNeeded(input: ForecastInput, known: Known, effects: Effects) {
  const { config, ask, websites, signal, onAsk } = input;
  const selected = selectWebsites(config, websites, [...known.websites.keys()]);
  const mustList = config.websites === 'all' && websites.length === 0 && (ask === 'always' || selected.length === 0);
  const mustAsk = ({ id }: { id: string }) => ask === 'always' || !known.websites.has(id);
  if (ask === 'never' || (!mustList && !selected.some(mustAsk))) {
    return { selected, sizes: new Map<string, ListingSize>(), requests: 0 };
  }
  // Loads the HTTP client, which only those need who ask.
  const { askService } = await import('./ask-service.js');
  const remedy = known.websites.size > 0 ? '. Or plan from the newest snapshots: indexhouse plan --offline' : '';
  return askService(config, { selected: mustList ? null : selected, mustAsk, remedy, effects, signal, onAsk });
}

type KeyPlan = Awaited<ReturnType<typeof planKey>>;

/** Tonight's run with one API key, whose websites share what it may ask until the deadline. */
async function planKey(
  key: string,
  outlooks: readonly Outlook[],
  { known, input, now }: { known: Known; input: ForecastInput; now: number },
) {
  const { api, reports } = input.config;
  const measuredPerSecond = measuredPace(outlooks);
  const rules: CostRules = {
    requestsPerMinute: api.requests_per_minute,
    measuredPerSecond: Number.isFinite(api.requests_per_minute) ? null : measuredPerSecond,
    deadline: reports.deadline,
    maxPerRun: reports.max_per_run,
  };
  const listing = sum(outlooks.map(({ listingRequests }) => listingRequests));
  const capacity = reportsInTime(listing, rules);
  const shared = (wanted: (outlook: Outlook) => number) =>
    fairShares(
      capacity,
      outlooks.map((outlook) => Math.min(wanted(outlook), rules.maxPerRun)),
    );
  const tonight = shared(({ wanted }) => wanted.total);
  const nightly = shared(({ fetchable }) => fetchable);
  const parts: (Awaited<ReturnType<typeof plannedWebsite>> & { outlook: Outlook })[] = [];
  for (const [at, outlook] of outlooks.entries()) {
    const share = { tonight: tonight[at] ?? 0, nightly: nightly[at] ?? 0, capacity };
    const young = { reports, youngDays: youngDaysOf(input), first: input.first };
    parts.push({ outlook, ...(await plannedWebsite(outlook, share, known, young)) });
  }
  const total = (of: 'wanted' | 'reached') => sum(parts.map(({ written }) => written[of].total));
  const takes = (requests: number) => finite(Math.ceil(requests / requestsPerMs(rules) / 1000), requestsPerMs(rules));
  const duration = takes(listing + total('reached'));
  const written = {
    /** Where its token stands in the configuration. */
    key,
    website_ids: outlooks.map(({ website }) => website.id),
    pages: sum(outlooks.map(({ pages }) => pages)),
    listing_requests: listing,
    requests: listing + total('reached'),
    wanted: total('wanted'),
    reached: total('reached'),
    not_reached: total('wanted') - total('reached'),
    requests_per_minute: finite(api.requests_per_minute),
    measured_requests_per_minute: measuredPerSecond === null ? null : Number((measuredPerSecond * 60).toPrecision(3)),
    duration_seconds: duration,
    duration_seconds_for_all: takes(listing + total('wanted')),
    ends_at: isoAfter(now, duration),
  };
  return { parts, rules, written };
}

function youngDaysOf({ config, youngerThan }: ForecastInput): number {
  return Math.ceil((youngerThan ?? Math.max(YOUNG_MS, config.reports.refresh_after)) / DAY_MS);
}

/** Requests a second of the newest run of a key's websites, where it was not interrupted. */
function measuredPace(outlooks: readonly Outlook[]): number | null {
  const runs = outlooks.flatMap(({ known }) => (known ? [known] : []));
  const newest = runs.reduce((last, { run_id }) => (run_id > last ? run_id : last), '');
  const measured = runs.filter(({ run_id, requests }) => run_id === newest && requests !== null);
  const started = Math.min(...measured.map(({ started_ms }) => started_ms ?? Number.NaN));
  const finished = Math.max(...measured.map(({ finished_ms }) => finished_ms ?? Number.NaN));
  const requests = sum(measured.map((run) => run.requests ?? 0));
  return requests > 0 && finished > started ? (requests * 1000) / (finished - started) : null;
}

async function* wantedPages(parts: KeyPlan['parts'], known: Known): AsyncGenerator<WantedOf> {
  for (const { outlook, knownReached } of parts) {
    const { id } = outlook.website;
    for await (const page of known.allWanted(id)) {
      yield { website_id: id, ...page, reached: page.place <= knownReached };
    }
  }
}

function sentenceOf(keys: readonly KeyPlan[]): string {
  const costs = keys.map(({ parts, written }) => ({
    websites: parts.map(({ outlook: { pages, fetchable } }) => ({ pages, fetchable })),
    listingRequests: written.listing_requests,
  }));
  const slowest = keys.map(({ rules }) => rules).sort((one, other) => requestsPerMs(one) - requestsPerMs(other));
  const [first] = slowest;
  const isMeasured = slowest.every(({ measuredPerSecond }) => measuredPerSecond !== null);
  return first ? costSentence(costs, isMeasured ? first : { ...first, measuredPerSecond: null }) : '';
}

/** Keys work side by side: the slowest ends the run. */
function totalsOf(websites: readonly PlannedWebsite[], keys: readonly KeyPlan[], now: number) {
  const total = (of: 'pages' | 'listing_requests' | 'requests') => sum(websites.map((website) => website[of]));
  const reports = (of: 'wanted' | 'reached' | 'not_reached') =>
    reportsBy((reason) => sum(websites.map((website) => website[of][reason])));
  const seconds = largest(keys.map(({ written }) => written.duration_seconds));
  return {
    pages: total('pages'),
    listing_requests: total('listing_requests'),
    requests: total('requests'),
    wanted: reports('wanted'),
    reached: reports('reached'),
    not_reached: reports('not_reached'),
    duration_seconds: seconds,
    duration_seconds_for_all: largest(keys.map(({ written }) => written.duration_seconds_for_all)),
    /** Of a run that starts now. */
    ends_at: isoAfter(now, seconds),
    nights_until_young: largest(websites.map((website) => website.nights_until_young)),
  };
}

/** Null where the job is switched off. It takes no flags, so it ends at another time where some are given. */
function nextSync(
  { config: { schedule }, asScheduled }: ForecastInput,
  effects: ForecastEffects,
  takes: number | null,
) {
  const cron = schedule['nightly-sync'];
  const starts = cron === false ? null : effects.nextTime(cron, schedule.time_zone);
  return starts && { starts_at: starts.toISOString(), ends_at: asScheduled ? isoAfter(starts.getTime(), takes) : null };
}

/** A number; null where it, or what it follows from, is unlimited. */
function finite(value: number, from = value): number | null {
  return Number.isFinite(from) ? value : null;
}

/** Null where any is, or there is none. */
function largest(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((each) => each !== null);
  return known.length === numbers.length && known.length > 0 ? Math.max(...known) : null;
}

function isoAfter(start: number, seconds: number | null): string | null {
  return seconds === null ? null : new Date(start + seconds * 1000).toISOString();
}

import type { Config } from '../config/schema.js';
import { unfinishedJournals } from '../journal/folder.js';
import { type Effects, realEffects } from '../source/effects.js';
import { DAY_MS } from '../time.js';
import type { DamagedFile } from '../warehouse/damage.js';
import type { StateOptions } from '../warehouse/state.js';
import type { ListingSize } from './ask-service.js';
import { type CostRules, costSentence, fairShares, reportsInTime, requestsPerMs } from './cost.js';
import type { Forecast, PlannedKey, PlannedWebsite, WantedPage } from './document.js';
import { Known } from './known.js';
import { nextTime } from './next-time.js';
import { reportsBy, sum } from './reports.js';
import { type SelectedWebsite, selectWebsites } from './selection.js';
import { type Outlook, outlookOf, plannedWebsite } from './website.js';

const YOUNG_MS = 30 * DAY_MS;

export interface ForecastEffects extends Effects {
  /** When a cron expression comes next in a time zone. */
  nextTime(cron: string, timeZone: string): Date | null;
}

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

/** One website's part of tonight's run. */
interface Part {
  outlook: Outlook;
  written: PlannedWebsite;
  /** How many of the pages that are known to be wanted are reached, from the first on. */
  knownReached: number;
}

/**
 * Tells what the next run costs, when it ends and which pages it does not reach. Reads the warehouse and writes nothing
 * into it; asks the service for nothing but the number of pages, and only where that is allowed and not known.
 *
 * @throws AskError, WarehouseError
 */
export async function forecast(input: ForecastInput): Promise<Forecast> {
  const { config, effects = { ...realEffects, nextTime } } = input;
  const now = effects.now();
  const known = await Known.open(config, now, input.onRebuilt);
  try {
    const { selected, sizes, requests } = await askWhereNeeded(input, known, effects);
    const outlooks: Outlook[] = [];
    for (const website of selected) {
      const outlook = await outlookOf(website, known, sizes.get(website.id) ?? null, config.api.page_size);
      if (outlook) outlooks.push(outlook);
    }
    const planned: KeyPlan[] = [];
    for (const [key, websites] of byKey(outlooks)) planned.push(await planKey(key, websites, known, input));
    await input.writeWanted?.(wantedOf(planned, known));
    if (known.damaged.length > 0) input.onDamaged?.(known.damaged);
    const found = new Set(outlooks.map(({ website }) => website.id));
    return document(input, planned, {
      now,
      requests,
      unknown: selected.filter(({ id }) => !found.has(id)),
      unfinished: (await unfinishedJournals(config.warehouse.path)).length > 0,
      next: nextSync(config, effects),
    });
  } finally {
    known.close();
  }
}

interface Asked {
  selected: SelectedWebsite[];
  sizes: ReadonlyMap<string, ListingSize>;
  /** What was asked of the service. */
  requests: number;
}

async function askWhereNeeded(input: ForecastInput, known: Known, effects: Effects): Promise<Asked> {
  const { config, ask, websites } = input;
  const selected = selectWebsites(config, websites, [...known.websites.keys()]);
  const mustList = config.websites === 'all' && websites.length === 0 && (ask === 'always' || selected.length === 0);
  const mustAsk = (all: SelectedWebsite[]) => all.filter(({ id }) => ask === 'always' || !known.websites.has(id));
  if (ask === 'never' || (!mustList && mustAsk(selected).length === 0)) {
    return { selected, sizes: new Map(), requests: 0 };
  }
  // Loads the HTTP client, which only those need who ask.
  const { ServiceQuestion } = await import('./ask-service.js');
  const remedy = known.websites.size > 0 ? '. Or plan from the newest snapshots: indexhouse plan --offline' : '';
  const question = new ServiceQuestion(config, { effects, signal: input.signal, remedy });
  try {
    const all = mustList ? await question.websites() : selected;
    const asked = mustAsk(all);
    input.onAsk?.(asked.length);
    const sizes = await Promise.all(asked.map(async (one) => [one.id, await question.listingSize(one)] as const));
    return { selected: all, sizes: new Map(sizes), requests: question.requests };
  } finally {
    await question.close();
  }
}

function byKey(outlooks: readonly Outlook[]): Map<string, Outlook[]> {
  const keys = new Map<string, Outlook[]>();
  for (const outlook of outlooks) keys.set(outlook.website.key, [...(keys.get(outlook.website.key) ?? []), outlook]);
  return keys;
}

/** Tonight's run with one API key. */
interface KeyPlan {
  key: string;
  parts: Part[];
  rules: CostRules;
  /** Requests a second of its last run; null where none was measured. */
  measuredPerSecond: number | null;
}

/** Websites of one key share what it may ask until the deadline. */
async function planKey(key: string, outlooks: Outlook[], known: Known, input: ForecastInput): Promise<KeyPlan> {
  const { api, reports } = input.config;
  const measuredPerSecond = measuredPace(outlooks);
  const rules: CostRules = {
    requestsPerMinute: api.requests_per_minute,
    measuredPerSecond: Number.isFinite(api.requests_per_minute) ? null : measuredPerSecond,
    deadline: reports.deadline,
    maxPerRun: reports.max_per_run,
  };
  const capacity = reportsInTime(sum(outlooks.map(({ listingRequests }) => listingRequests)), rules);
  const shared = (wanted: (outlook: Outlook) => number) =>
    fairShares(
      capacity,
      outlooks.map((outlook) => Math.min(wanted(outlook), rules.maxPerRun)),
    );
  const tonight = shared(({ wanted }) => wanted.total);
  const nightly = shared(({ fetchable }) => fetchable);
  const youngDays = youngDaysOf(input);
  const parts: Part[] = [];
  for (const [at, outlook] of outlooks.entries()) {
    const share = { tonight: tonight[at] ?? 0, nightly: nightly[at] ?? 0, capacity };
    parts.push({
      outlook,
      ...(await plannedWebsite(outlook, share, known, { reports, youngDays, first: input.first })),
    });
  }
  return { key, parts, rules, measuredPerSecond };
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

/** Null where the job is switched off. */
function nextSync({ schedule }: Config, effects: ForecastEffects): Date | null {
  const cron = schedule['nightly-sync'];
  return cron === false ? null : effects.nextTime(cron, schedule.time_zone);
}

async function* wantedOf(keys: readonly KeyPlan[], known: Known): AsyncGenerator<WantedOf> {
  for (const { outlook, knownReached } of keys.flatMap(({ parts }) => parts)) {
    const { id } = outlook.website;
    for await (const page of known.allWanted(id)) {
      yield { website_id: id, ...page, reached: page.place <= knownReached };
    }
  }
}

interface Facts {
  now: number;
  requests: number;
  unknown: SelectedWebsite[];
  unfinished: boolean;
  next: Date | null;
}

function document(input: ForecastInput, planned: readonly KeyPlan[], facts: Facts): Forecast {
  const { reports, schedule, warehouse } = input.config;
  const keys = planned.map((key) => plannedKey(key, facts.now));
  const websites = planned.flatMap(({ parts }) => parts.map(({ written }) => written));
  const totals = totalsOf(websites, keys, facts.now);
  return {
    planned_at: new Date(facts.now).toISOString(),
    warehouse: warehouse.path,
    sentence: sentenceOf(planned),
    younger_than_days: youngDaysOf(input),
    max_reports: Number.isFinite(reports.max_per_run) ? reports.max_per_run : null,
    deadline_seconds: reports.deadline / 1000,
    refresh_after_seconds: reports.refresh_after / 1000,
    time_zone: schedule.time_zone,
    unfinished_run: facts.unfinished,
    requests_sent: facts.requests,
    websites,
    unknown_websites: facts.unknown.map(({ id, name }) => ({ website_id: id, website_name: name })),
    keys,
    totals,
    next_nightly_sync: facts.next && {
      starts_at: facts.next.toISOString(),
      ends_at: input.asScheduled ? isoAfter(facts.next.getTime(), totals.duration_seconds) : null,
    },
  };
}

function sentenceOf(keys: readonly KeyPlan[]): string {
  const costs = keys.map(({ parts }) => ({
    websites: parts.map(({ outlook: { pages, fetchable } }) => ({ pages, fetchable })),
    listingRequests: sum(parts.map(({ outlook }) => outlook.listingRequests)),
  }));
  const slowest = [...keys].sort((one, other) => requestsPerMs(one.rules) - requestsPerMs(other.rules));
  const [first] = slowest;
  const isMeasured = slowest.every(({ rules }) => rules.measuredPerSecond !== null);
  return first ? costSentence(costs, isMeasured ? first.rules : { ...first.rules, measuredPerSecond: null }) : '';
}

function plannedKey({ key, parts, rules, measuredPerSecond }: KeyPlan, now: number): PlannedKey {
  const total = (of: (website: PlannedWebsite) => number) => sum(parts.map(({ written }) => of(written)));
  const listing = total(({ listing_requests }) => listing_requests);
  const [wanted, reached] = [total((website) => website.wanted.total), total((website) => website.reached.total)];
  const seconds = (requests: number) => {
    const rate = requestsPerMs(rules);
    return Number.isFinite(rate) ? Math.ceil(requests / rate / 1000) : null;
  };
  const takes = seconds(listing + reached);
  return {
    key,
    website_ids: parts.map(({ written }) => written.website_id),
    pages: total(({ pages }) => pages),
    listing_requests: listing,
    requests: listing + reached,
    wanted,
    reached,
    not_reached: wanted - reached,
    requests_per_minute: Number.isFinite(rules.requestsPerMinute) ? rules.requestsPerMinute : null,
    measured_requests_per_minute: measuredPerSecond === null ? null : Number((measuredPerSecond * 60).toPrecision(3)),
    duration_seconds: takes,
    duration_seconds_for_all: seconds(listing + wanted),
    ends_at: isoAfter(now, takes),
  };
}

/** Keys work side by side: the slowest ends the run. */
function totalsOf(websites: readonly PlannedWebsite[], keys: readonly PlannedKey[], now: number): Forecast['totals'] {
  const total = (of: 'pages' | 'listing_requests' | 'requests') => sum(websites.map((website) => website[of]));
  const reports = (of: 'wanted' | 'reached' | 'not_reached') =>
    reportsBy((reason) => sum(websites.map((website) => website[of][reason])));
  const seconds = largest(keys.map((key) => key.duration_seconds));
  return {
    pages: total('pages'),
    listing_requests: total('listing_requests'),
    requests: total('requests'),
    wanted: reports('wanted'),
    reached: reports('reached'),
    not_reached: reports('not_reached'),
    duration_seconds: seconds,
    duration_seconds_for_all: largest(keys.map((key) => key.duration_seconds_for_all)),
    ends_at: isoAfter(now, seconds),
    nights_until_young: largest(websites.map((website) => website.nights_until_young)),
  };
}

/** Null where any is, or there is none. */
function largest(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((each) => each !== null);
  return known.length === numbers.length && known.length > 0 ? Math.max(...known) : null;
}

function isoAfter(start: number, seconds: number | null): string | null {
  return seconds === null ? null : new Date(start + seconds * 1000).toISOString();
}

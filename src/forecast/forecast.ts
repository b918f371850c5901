import { nextTimes } from '../config/cron.js';
import type { Config } from '../config/schema.js';
import { unfinishedJournals } from '../journal/folder.js';
import { type Effects, realEffects } from '../source/effects.js';
import { DAY_MS, MINUTE_MS } from '../time.js';
import type { StateOptions } from '../warehouse/state.js';
import type { ListingSize } from './ask-service.js';
import { type CostRules, costSentence, fairShares, paceOf, reportsInTime } from './cost.js';
import { type Known, openKnown, type WantedPage } from './known.js';
import { reportsBy, sum } from './reports.js';
import {
  type Outlook,
  outlookOf,
  type PlannedWebsite,
  plannedWebsite,
  type Rules,
  type SelectedWebsite,
  selectWebsites,
} from './website.js';

const YOUNG_MS = 30 * DAY_MS;

export interface ForecastEffects extends Effects {
  /** When a valid cron expression comes next in a time zone. */
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
  /** Whose number of pages to ask the service for: of all websites, of those without a snapshot, or of none. */
  ask: 'always' | 'unknown' | 'never';
  /** Milliseconds; by default 30 days, or `refresh_after` if that is longer. */
  youngerThan?: number | undefined;
  /** How many of the first pages in the plan to name, for each website. */
  first: number;
  /** Whether the scheduled job would do the same: false where a flag overrides the configuration. */
  asScheduled: boolean;
  signal: AbortSignal;
  /** Called with the number of websites that the service will be asked about, which may take minutes. */
  onAsk?: ((websites: number) => void) | undefined;
  /** Writes every page that is known to be wanted, website by website, in the plan's order. */
  writeWanted?: ((pages: AsyncIterable<WantedOf>) => Promise<void>) | undefined;
  effects?: ForecastEffects;
}

/** A page that is wanted, and whether tonight's run reaches it. */
export interface WantedOf extends WantedPage {
  website_id: string;
  reached: boolean;
}

/** Websites whose listings are walked to find their pages, and the requests that this takes. */
interface Walking {
  selected: readonly SelectedWebsite[];
  requests: number;
}

/** What the next run does, under the names of `plan --json`. Times are ISO 8601 in UTC. */
export type Forecast = Awaited<ReturnType<typeof forecast>>['planned'];

/**
 * Plans the next run: what it costs, when it ends and which pages it does not reach. Does not write to the warehouse.
 * Sends requests only if `ask` allows it: for unknown numbers of pages, and for the listing of a website without a
 * snapshot if its pages are to be written.
 *
 * @returns the plan, and the damaged files that it ignores
 * @throws WarehouseError; Failure if the service does not answer
 */
export async function forecast(input: ForecastInput) {
  const { config, youngerThan, effects = realForecastEffects } = input;
  const { reports, schedule, warehouse } = config;
  const now = effects.now();
  const youngDays = Math.ceil((youngerThan ?? Math.max(YOUNG_MS, reports.refresh_after)) / DAY_MS);
  const known = await openKnown(config, now, input.onRebuilt);
  try {
    const { selected, sizes, requests } = await askWhereNeeded(input, known, effects);
    const rules = { ...config, youngDays, first: input.first };
    const starts = nextNightlySync(input, effects);
    // By then more reports are due than now.
    const nightly = starts && input.asScheduled ? await planKeys(selected, sizes, known, starts.getTime(), rules) : [];
    const plans = await planKeys(selected, sizes, known, now, rules);
    const walking = { selected, requests: 0 };
    const websites = plans.flatMap((plan) => plan.websites);
    await input.writeWanted?.(wantedPages(websites, known, { ...input, effects, walking }));
    const planned = {
      planned_at: new Date(now).toISOString(),
      warehouse: warehouse.path,
      sentence: sentenceOf(plans, config),
      younger_than_days: youngDays,
      max_reports: finite(reports.max_per_run),
      deadline_seconds: reports.deadline / 1000,
      refresh_after_seconds: reports.refresh_after / 1000,
      time_zone: schedule.time_zone,
      unfinished_run: (await unfinishedJournals(warehouse.path)).length > 0,
      requests_sent: requests + walking.requests,
      websites,
      unknown_websites: selected
        .filter(({ id }) => !websites.some(({ website_id }) => website_id === id))
        .map(({ id, name }) => ({ website_id: id, website_name: name })),
      keys: plans.map(({ key }) => key),
      totals: endOf(plans, now),
      /** Null if the job is switched off. The job takes no flags, so its end is unknown where flags are given. */
      next_nightly_sync: starts && {
        starts_at: starts.toISOString(),
        ends_at: endOf(nightly, starts.getTime()).ends_at,
      },
    };
    return { planned, damaged: known.damaged() };
  } finally {
    known.close();
  }
}

type KeyPlan = Awaited<ReturnType<typeof planKey>>;

function sentenceOf(plans: readonly KeyPlan[], { api, reports }: Config): string {
  if (plans.length === 0) return '';
  const slowest = Math.min(...plans.map(({ key }) => key.measured_requests_per_minute ?? Number.NaN));
  const rules = { ...api, ...reports, measured_requests_per_minute: slowest || null };
  return costSentence(
    plans.map((plan) => plan.websites),
    rules,
  );
}

/** What all keys spend together, and when the run ends. Keys run side by side, so the slowest one decides. */
function endOf(plans: readonly KeyPlan[], start: number) {
  const websites = plans.flatMap((plan) => plan.websites);
  const seconds = largest(plans.map(({ key }) => key.duration_seconds));
  return {
    ...totalsOf(websites),
    duration_seconds: seconds,
    duration_seconds_for_all: largest(plans.map(({ key }) => key.duration_seconds_for_all)),
    ends_at: isoAfter(start, seconds),
    nights_until_young: largest(websites.map((website) => website.nights_until_young)),
  };
}

function nextNightlySync({ config }: ForecastInput, effects: ForecastEffects): Date | null {
  const { 'nightly-sync': cron, time_zone } = config.schedule;
  return cron === false ? null : effects.nextTime(cron, time_zone);
}

async function askWhereNeeded(input: ForecastInput, known: Known, effects: Effects) {
  const { config, ask, websites } = input;
  const selected = selectWebsites(config, websites, [...known.websites.keys()]);
  const mustList = config.websites === 'all' && websites.length === 0 && (ask === 'always' || selected.length === 0);
  const asked = selected.filter(({ id }) => ask === 'always' || !known.websites.has(id));
  if (ask === 'never' || (!mustList && asked.length === 0)) {
    return { selected, sizes: new Map<string, ListingSize>(), requests: 0 };
  }
  // Loaded here, because only this case needs the HTTP client.
  const { askService } = await import('./ask-service.js');
  const remedy = known.websites.size > 0 ? '. Or plan from the newest snapshots: indexhouse plan --offline' : '';
  const answer = await askService(input, { named: mustList ? null : asked, remedy, effects });
  return { ...answer, selected: mustList ? answer.websites : selected };
}

/** A run that starts at this time, in milliseconds since 1970, by API key. */
async function planKeys(
  selected: readonly SelectedWebsite[],
  sizes: ReadonlyMap<string, ListingSize>,
  known: Known,
  start: number,
  rules: Rules & Pick<Config, 'api'>,
) {
  await known.planAt(start);
  const outlooks: Outlook[] = [];
  for (const website of selected) {
    const outlook = await outlookOf(website, known, sizes.get(website.id) ?? null, rules.api.page_size);
    if (outlook) outlooks.push(outlook);
  }
  const plans: KeyPlan[] = [];
  for (const key of new Set(outlooks.map(({ website }) => website.key))) {
    const own = outlooks.filter(({ website }) => website.key === key);
    plans.push(await planKey(own, known, start, rules));
  }
  return plans;
}

/** Tonight's run with one API key, whose websites share the requests that it may send until the deadline. */
async function planKey(outlooks: readonly Outlook[], known: Known, now: number, rules: Rules & Pick<Config, 'api'>) {
  const { api, reports } = rules;
  const cost: CostRules = { ...api, ...reports, measured_requests_per_minute: measuredPace(outlooks) };
  const capacity = reportsInTime(sum(outlooks.map(({ written }) => written.listing_requests)), cost);
  const shares = (demand: (written: Outlook['written']) => number) =>
    fairShares(
      capacity,
      outlooks.map(({ written }) => Math.min(demand(written), reports.max_per_run)),
    );
  const tonight = shares(({ wanted }) => wanted.total);
  const nightly = shares(({ pages, pages_never_fetched }) => pages - pages_never_fetched);
  const websites: PlannedWebsite[] = [];
  for (const [at, outlook] of outlooks.entries()) {
    const share = { tonight: tonight[at] ?? 0, nightly: nightly[at] ?? 0 };
    websites.push(await plannedWebsite(outlook, share, known, rules));
  }
  const { wanted, reached, not_reached, ...totals } = totalsOf(websites);
  const takes = (requests: number) => finite(Math.ceil((requests * 60) / paceOf(cost)), paceOf(cost));
  const duration = takes(totals.requests);
  const key = {
    /** The configuration key of its token. */
    key: outlooks[0]?.website.key ?? '',
    website_ids: websites.map(({ website_id }) => website_id),
    ...totals,
    wanted: wanted.total,
    reached: reached.total,
    not_reached: not_reached.total,
    requests_per_minute: finite(api.requests_per_minute),
    measured_requests_per_minute: cost.measured_requests_per_minute,
    duration_seconds: duration,
    duration_seconds_for_all: takes(totals.listing_requests + wanted.total),
    ends_at: isoAfter(now, duration),
  };
  return { websites, key };
}

/** Requests per minute of the newest run of a key's websites, if it was not interrupted. */
function measuredPace(outlooks: readonly Outlook[]): number | null {
  const known = outlooks.flatMap((outlook) => outlook.known ?? []);
  const newest = known
    .map(({ run_id }) => run_id)
    .sort()
    .at(-1);
  const runs = known.flatMap(({ run_id, run }) => (run_id === newest && run ? run : []));
  const ms =
    Math.max(...runs.map(({ finished_ms }) => finished_ms)) - Math.min(...runs.map(({ started_ms }) => started_ms));
  const requests = sum(runs.map((run) => run.requests));
  return requests > 0 && ms > 0 ? Number(((requests * MINUTE_MS) / ms).toPrecision(3)) : null;
}

/** Every page that is known to be wanted. For a website without a snapshot, only its listing tells them. */
async function* wantedPages(
  websites: readonly PlannedWebsite[],
  known: Known,
  { config, signal, effects, walking }: ForecastInput & { effects: Effects; walking: Walking },
): AsyncGenerator<WantedOf> {
  const onAnswer = () => {
    walking.requests += 1;
  };
  for (const { website_id, basis, reached, first_not_reached: end } of websites) {
    const website = walking.selected.find(({ id }) => id === website_id);
    if (basis === 'service' && website) {
      const { listedPages } = await import('./listed.js');
      for await (const page of listedPages(website, config, { effects, signal, onAnswer })) {
        yield { website_id, ...page, reached: page.place <= reached.total };
      }
      continue;
    }
    for await (const page of known.wanted(website_id)) {
      yield { website_id, ...page, reached: end === null || page.place < end.place };
    }
  }
}

function totalsOf(websites: readonly PlannedWebsite[]) {
  const total = (of: 'pages' | 'listing_requests' | 'requests') => sum(websites.map((website) => website[of]));
  const reports = (of: 'wanted' | 'reached' | 'not_reached') =>
    reportsBy((reason) => sum(websites.map((website) => website[of][reason])));
  return {
    pages: total('pages'),
    listing_requests: total('listing_requests'),
    requests: total('requests'),
    wanted: reports('wanted'),
    reached: reports('reached'),
    not_reached: reports('not_reached'),
  };
}

/** A number; null if it, or what it follows from, is unlimited. */
function finite(value: number, from = value): number | null {
  return Number.isFinite(from) ? value : null;
}

/** The largest number; null if any is null, or there is none. */
function largest(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((each) => each !== null);
  return known.length === numbers.length && known.length > 0 ? Math.max(...known) : null;
}

function isoAfter(start: number, seconds: number | null): string | null {
  return seconds === null ? null : new Date(start + seconds * 1000).toISOString();
}

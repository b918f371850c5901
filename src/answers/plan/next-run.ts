import { z } from 'zod';
import { nextTimes } from '../../base/config/cron.js';
import type { Config } from '../../base/config/schema.js';
import { isExcepted, keyLabel, namedWebsites, websiteOf } from '../../base/config/websites.js';
import { sql } from '../../base/storage/sql.js';
import { DAY_MS, SECOND_MS } from '../../base/time.js';
import { unfinishedJournals } from '../../warehouse/journal/folder.js';
import { byReason, REASONS, type Reason } from '../../warehouse/journal/plan.js';
import { setPlanOrder } from '../../warehouse/journal/plan-order.js';
import { checkIdentity } from '../../warehouse/log/folder/prepare.js';
import type { StateOptions } from '../../warehouse/log/state.js';
import { Reader } from '../query/reader.js';
import { listingRequests, reportsInTime, sharesOf } from './cost.js';
import { inspectionPlans } from './inspections.js';

/** Beyond this many nights, no date is computed. */
const MOST_NIGHTS_DATED = 1000;

const knownRow = z.object({
  website_id: z.string(),
  website_name: z.string().nullable(),
  snapshot_id: z.string(),
});
type Known = z.infer<typeof knownRow>;

const countRow = z.object({
  reason: z.enum(REASONS),
  pages: z.int(),
  wanted: z.int(),
  never_fetched: z.int(),
  keep_failing: z.int(),
});

const plannedPage = z.object({
  /** In its website's plan, from 1. */
  place: z.coerce.number(),
  url: z.string(),
  reason: z.enum(REASONS),
  /** Whole days; null without a report. */
  report_age_days: z.int().nullable(),
});
/** A page whose report is wanted. */
export type PlannedPage = z.infer<typeof plannedPage>;

export interface NextRunInput extends Pick<StateOptions, 'onRebuilt'> {
  config: Config;
  /** Ids; all that are configured if empty. */
  websites: readonly string[];
  /** How many of the first pages to name, for each website. */
  first: number;
  /** Milliseconds since 1970. */
  now: number;
}

/** What the next run does, under the names of `plan --json`. Times are ISO 8601 in UTC. */
export type NextRun = Awaited<ReturnType<typeof nextRun>>;
export type NextRunOfWebsite = NextRun['websites'][number];

/**
 * What a run that starts now costs and reaches, from the newest states and the order in which `sync` plans reports.
 * Sends no request, and writes nothing into the warehouse except a missing state.
 *
 * @throws DamageError if a file that it needs cannot be read; WarehouseError if the warehouse does not belong to this
 *   configuration
 */
export async function nextRun(input: NextRunInput) {
  const { config, now, onRebuilt } = input;
  const { path, time_zone, memory_limit: memoryLimit } = config.warehouse;
  const reader = (await checkIdentity(path, time_zone))
    ? await Reader.open({ warehouse: path, memoryLimit, onRebuilt })
    : null;
  try {
    const known = reader ? await openPlan(reader, input) : [];
    const ids = idsOf(config, input.websites, known);
    const counted: Counted[] = [];
    const ofService = (id: string) => websiteOf(config, id).google === null;
    for (const one of known.filter(({ website_id: id }) => ids.includes(id) && ofService(id))) {
      if (reader) counted.push(await countedWebsite(reader, one, input));
    }
    const keys = [...new Set(counted.map(({ key }) => key))];
    const ofKey = (key: string) => counted.filter((website) => website.key === key);
    const plans = keys.map((key) => planOfKey(ofKey(key), config));
    const websites = plans.flatMap((plan) => plan.websites);
    return {
      planned_at: new Date(now).toISOString(),
      warehouse: path,
      requests_per_minute: finite(config.api.requests_per_minute),
      max_reports: finite(config.reports.max_per_run),
      deadline_seconds: config.reports.deadline / SECOND_MS,
      refresh_after_seconds: config.reports.refresh_after / SECOND_MS,
      unfinished_run: (await unfinishedJournals(path)).length > 0,
      websites,
      properties: reader ? await inspectionPlans(reader, ids, config) : [],
      unknown_websites: ids
        .filter((id) => !known.some((one) => one.website_id === id))
        .map((id) => ({ website_id: id, website_name: websiteOf(config, id).name })),
      totals: totalsOf(plans, config, now),
    };
  } finally {
    reader?.close();
  }
}

/** The only website that is asked for, whose files are read then; null: several are. */
function onlyOf({ websites }: NextRunInput): string | null {
  return websites.length === 1 ? (websites[0] ?? null) : null;
}

/** Views the plan of `sync` over the newest states, and returns the websites that have one. */
async function openPlan(reader: Reader, input: NextRunInput): Promise<Known[]> {
  const { engine } = reader;
  const website = onlyOf(input);
  const { config, now } = input;
  await setPlanOrder(engine, { ...config.reports, max_per_run: Number.POSITIVE_INFINITY }, now);
  await reader.withTables(() => engine.run(sql('answers/plan/known_candidates')), website);
  await engine.view('report_plan', sql('warehouse/plan/report_plan'));
  return reader.rows(knownRow, sql('answers/plan/planned_websites'), {}, website);
}

/** Where the configuration says `all`, the websites with a snapshot. */
function idsOf(config: Config, asked: readonly string[], known: readonly Known[]): readonly string[] {
  if (asked.length > 0) return asked;
  const all = known.map(({ website_id }) => website_id).filter((id) => !isExcepted(config, id));
  return namedWebsites(config)?.map(({ id }) => id) ?? all;
}

type Counted = Awaited<ReturnType<typeof countedWebsite>>;

/** How many pages a website has and wants, and which come first. */
async function countedWebsite(reader: Reader, known: Known, input: NextRunInput) {
  const { config, first } = input;
  const { website_id, website_name } = known;
  const website = websiteOf(config, website_id);
  await reader.engine.set({ website_id });
  const counts = await reader.rows(countRow, sql('answers/plan/planned_counts'), {}, website_id);
  const total = (of: 'pages' | 'wanted' | 'never_fetched' | 'keep_failing') => sum(counts.map((row) => row[of]));
  const wantedFor = (reason: Reason) => sum(counts.filter((row) => row.reason === reason).map((row) => row.wanted));
  await reader.engine.set({ first });
  return {
    key: keyLabel(website),
    written: {
      website_id,
      website_name: website.name ?? website_name,
      snapshot_id: known.snapshot_id,
      pages: total('pages'),
      pages_never_fetched: total('never_fetched'),
      pages_keep_failing: total('keep_failing'),
      listing_requests: listingRequests(total('pages'), config.api.page_size),
      wanted: { ...byReason(wantedFor), total: total('wanted') },
      first_pages: await reader.rows(plannedPage, sql('answers/plan/planned_pages'), {}, website_id),
    },
  };
}

/** A run with one API key, whose websites share the requests that it may send until the deadline. */
function planOfKey(counted: readonly Counted[], { api, reports }: Config) {
  const listing = sum(counted.map(({ written }) => written.listing_requests));
  const shares = sharesOf(
    reportsInTime(listing, { ...api, ...reports }),
    counted.map(({ written }) => Math.min(written.wanted.total, reports.max_per_run)),
  );
  const websites = counted.map(({ key, written }, at) => {
    const reached = shares[at] ?? 0;
    const { wanted, pages, pages_never_fetched: never } = written;
    const cutBy = reached >= reports.max_per_run ? ('max_per_run' as const) : ('deadline' as const);
    return {
      ...written,
      key,
      requests: written.listing_requests + reached,
      reached,
      limit: reached < wanted.total ? cutBy : null,
      nights_until_fresh: nightsUntilFresh(wanted.total, reached, (pages - never) / refreshDays(reports)),
    };
  });
  const requests = sum(websites.map((website) => website.requests));
  const pace = api.requests_per_minute;
  return { websites, seconds: Number.isFinite(pace) ? Math.ceil((requests * 60) / pace) : null };
}

function refreshDays({ refresh_after }: Config['reports']): number {
  return Math.max(1, refresh_after / DAY_MS);
}

/**
 * Nights like this one until everything that is wanted now is fetched; 0: nothing is; null: never, because a night
 * reaches less than what comes due.
 *
 * @param dueANight reports that come due in an average night if no page changes
 */
function nightsUntilFresh(wanted: number, reached: number, dueANight: number): number | null {
  if (wanted === 0) return 0;
  if (reached === wanted) return 1;
  return reached === 0 || reached < dueANight ? null : Math.ceil(wanted / reached);
}

/** What all keys spend together. They run side by side, so the slowest one decides when the run ends. */
function totalsOf(plans: readonly ReturnType<typeof planOfKey>[], { schedule, warehouse }: Config, now: number) {
  const websites = plans.flatMap((plan) => plan.websites);
  const seconds = largest(plans.map((plan) => plan.seconds));
  const nights = largest(websites.map((website) => website.nights_until_fresh));
  const cron = schedule['nightly-sync'];
  const starts =
    cron && nights !== null && nights > 0 && nights <= MOST_NIGHTS_DATED
      ? nextTimes(cron, warehouse.time_zone, nights, new Date(now)).at(-1)
      : undefined;
  return {
    pages: sum(websites.map((website) => website.pages)),
    listing_requests: sum(websites.map((website) => website.listing_requests)),
    wanted: sum(websites.map((website) => website.wanted.total)),
    reached: sum(websites.map((website) => website.reached)),
    requests: sum(websites.map((website) => website.requests)),
    duration_seconds: seconds,
    ends_at: seconds === null ? null : new Date(now + seconds * SECOND_MS).toISOString(),
    nights_until_fresh: nights,
    /** When the last of these nights begins by the schedule. */
    fresh_after: starts?.toISOString() ?? null,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** The largest number; null if any is null, or there is none. */
function largest(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((each) => each !== null);
  return known.length === numbers.length && known.length > 0 ? Math.max(...known) : null;
}

import { z } from 'zod';
import { scopeOf } from '../base/config/google.js';
import type { Config } from '../base/config/schema.js';
import { isExcepted, namedWebsites, perDayOf, type Website, websiteOf } from '../base/config/websites.js';
import { withEngine } from '../base/storage/engine.js';
import { sql } from '../base/storage/sql.js';
import { withTemporary } from '../base/storage/temporary.js';
import { MINUTE_MS, SECOND_MS } from '../base/time.js';
import { jsonOf } from '../base/validate.js';
import { uncounted } from '../source/client.js';
import { InspectionDay } from '../source/search-console/account.js';
import { covers } from '../source/search-console/property.js';
import { GOOGLE_AT_ONCE } from '../source/source.js';
import { WINDOW_ENTRIES } from '../source/walk/walk-state.js';
import { type JournalFolder, journalFolder, unfinishedJournals } from '../warehouse/journal/folder.js';
import { byReason, type PlannedPage, quotaSchema, readPlan } from '../warehouse/journal/plan.js';
import { checkIdentity } from '../warehouse/log/folder/prepare.js';
import { knownWebsites, openLog } from '../warehouse/log/log.js';
import { filesOf } from '../warehouse/log/markers.js';
import { previousState } from '../warehouse/log/stage/comparison.js';
import { readStates, type StateOptions } from '../warehouse/log/state.js';
import { beforeOf } from './commit-snapshot.js';
import { engineOptions, type RunEffects } from './context.js';
import { countInspected } from './inspected-today.js';
import { plan } from './plan-reports.js';
import { JournalEngine } from './stage/journal-views.js';

/** How many of the first pages are named. */
const FIRST_PAGES = 5;
/** What an inspection takes: with fewer at a time, fewer are answered in a minute than may be requested. */
const INSPECTION_MS = 6 * SECOND_MS;

const snapshotRow = z.object({
  website_name: z.string().nullable(),
  quotas: z.preprocess((text) => jsonOf(String(text)), z.array(quotaSchema).nullable()),
  search_days_left: z.int().nullable(),
});

export interface DryRunOptions extends Pick<StateOptions, 'onRebuilt'> {
  config: Config;
  /** Ids; all that are configured if empty. */
  websites: readonly string[];
  effects: RunEffects;
}

/** What a sync would do now, under the names of `sync --dry-run --json`. */
export type DryRun = Awaited<ReturnType<typeof dryRun>>;

/**
 * Plans a sync that finds the pages of each website as their newest state has them. Sends no request, takes no lock, and
 * writes nothing into the warehouse except a missing state.
 *
 * @throws DamageError if a file that it needs cannot be read; WarehouseError if the warehouse does not belong to this
 *   configuration
 */
export async function dryRun(options: DryRunOptions) {
  const { config, effects, websites } = options;
  const { path: warehouse, time_zone, memory_limit } = config.warehouse;
  const isThere = await checkIdentity(warehouse, time_zone);
  const known = async () => (isThere ? await knownWebsites(warehouse, memory_limit) : []);
  const named = namedWebsites(config) ?? (await known()).filter(({ id }) => !isExcepted(config, id));
  const ids = websites.length > 0 ? websites : named.map(({ id }) => id);
  const all = [...new Set(ids)].map((id) => websiteOf(config, id));
  const unfinished = await unfinishedJournals(warehouse);
  const day = new InspectionDay(effects.now);
  if (isThere && all.some(({ google }) => google))
    await countInspected({ warehouse, config, effects }, unfinished, day);
  const planned: PlannedWebsite[] = [];
  const unknown: string[] = [];
  for (const website of all) {
    const found = isThere ? await plannedWebsite(website, options, day) : null;
    if (found) planned.push(found);
    else unknown.push(website.id);
  }
  return {
    planned_at: new Date(effects.now()).toISOString(),
    unfinished_run: unfinished.length > 0,
    ...costOf(planned, options),
    unknown_websites: unknown,
  };
}

type PlannedWebsite = NonNullable<Awaited<ReturnType<typeof plannedWebsite>>>;

/** The plan of a website, made by the code of a night in a folder of its own; null without a snapshot. */
function plannedWebsite(website: Website, options: DryRunOptions, day: InspectionDay) {
  const { config, effects } = options;
  const { reports } = config;
  return withTemporary('dry-run', async (temporary) => {
    const folder = journalFolder(temporary, 'dry-run', website.id);
    const written = await writeListing(website, folder, options);
    if (written === null) return null;
    const { before, snapshot, pages } = written;
    const journal = new JournalEngine(folder, engineOptions(config, folder.temporary));
    const quotas = quotasOf(website, snapshot.quotas, { config, day });
    const source = { byInspection: quotas !== null, quotas: async () => quotas };
    const header = { snapshot_id: folder.runId, website_id: website.id };
    const requests = uncounted().counts;
    const run = { website, folder, header, journal, source, config, effects, requests };
    const listed = { walk: 1, complete: true, startedAt: effects.now() };
    const { planned, wanted } = await plan(run, listed, before).finally(() => journal.close());
    const { by_reason, first_pages } = await readPages(planned === 0 ? [] : readPlan(folder.plan), (url) => {
      // Another website may share the property.
      const used = quotas?.findLast((quota) => covers(quota.scope, url) && day.left(quota) > 0);
      if (used) day.count(used.property);
    });
    const listing = quotas ? null : listingRequests(pages, WINDOW_ENTRIES);
    const cutBy = planned === reports.max_per_run ? ('max_per_run' as const) : ('quota' as const);
    return {
      website_id: website.id,
      website_name: website.name ?? snapshot.website_name,
      key: quotas ? website.id : website.places.token,
      pages,
      reports: { planned, by_reason, left: wanted === null ? null : wanted - planned },
      listing_requests: listing,
      requests: planned + (listing ?? 0),
      search_days_left: snapshot.search_days_left,
      limit: planned === wanted ? null : cutBy,
      first_pages,
    };
  });
}

/** The quotas of the newest snapshot, and what is left of them today; null for a website of the service. */
function quotasOf(
  { id, google }: Website,
  known: z.output<typeof snapshotRow>['quotas'],
  { config, day }: { config: Config; day: InspectionDay },
) {
  if (google === null) return null;
  return (known ?? [{ property: id, scope: scopeOf(id) ?? '' }]).map(({ property, scope }) => {
    const quota = { property, scope, perDay: perDayOf(config, property, google) };
    return { ...quota, left: day.left(quota) };
  });
}

async function readPages(pages: AsyncIterable<PlannedPage> | readonly PlannedPage[], use: (url: string) => void) {
  const by_reason = byReason(() => 0);
  const first_pages: Pick<PlannedPage, 'url' | 'reason'>[] = [];
  for await (const { url, reason } of pages) {
    by_reason[reason]++;
    if (first_pages.length < FIRST_PAGES) first_pages.push({ url, reason });
    use(url);
  }
  return { by_reason, first_pages };
}

/** Writes a listing that finds what the newest state has; null without a snapshot. */
function writeListing(website: Website, folder: JournalFolder, { config, effects, onRebuilt }: DryRunOptions) {
  const { path: warehouse, memory_limit: memoryLimit } = config.warehouse;
  const options = { memoryLimit, temporary: folder.temporary, onRebuilt };
  return withEngine(options, async (engine) => {
    const log = await openLog(engine, warehouse, { ...options, websites: [website.id], whole: true });
    const newest = log.markers.at(-1);
    if (!newest) return null;
    const [state = null] = await readStates(engine, log, options);
    const row = `select website_name, quotas::varchar as quotas, search_days_left from (${log.query('snapshots', [newest.path])})`;
    const [snapshot] = await engine.rows(snapshotRow, row);
    if (!snapshot) return null;
    await engine.views(previousState(state));
    const listings = website.google ? filesOf(warehouse, log.markers, 'coverage').slice(-1) : [];
    await engine.view('newest_listing', log.query('coverage', listings));
    await engine.set({ planned_at: new Date(effects.now()) });
    const write = () => engine.copy(sql('sync/plan/unchanged_listing'), folder.listing, 'format json');
    // The last line is that of the window.
    const pages = (await log.needing('coverage', listings, write)) - 1;
    return { before: beforeOf(warehouse, log.markers, state), snapshot, pages };
  });
}

/** How many requests list this many pages: each window of the listing starts one entry early. */
export function listingRequests(pages: number, window: number): number {
  return pages <= window ? 1 : Math.ceil((pages - 1) / Math.max(1, window - 1));
}

/** What the websites take. Those of a key share its pace, and keys work side by side. */
function costOf(planned: readonly PlannedWebsite[], { config, effects }: DryRunOptions) {
  const { api, google, reports } = config;
  const inspections = Math.min(google.requests_per_minute, (GOOGLE_AT_ONCE * MINUTE_MS) / INSPECTION_MS);
  const sum = (of: (website: PlannedWebsite) => number) => planned.reduce((all, one) => all + of(one), 0);
  const websites = planned.map(({ key, limit, ...website }) => {
    const requests = sum((one) => (one.key === key ? one.requests : 0));
    const pace = website.listing_requests === null ? inspections : api.requests_per_minute;
    const ms = Number.isFinite(pace) ? (requests * MINUTE_MS) / pace : null;
    const isCut = ms !== null && ms > reports.deadline;
    const duration_seconds = ms === null ? null : Math.ceil(ms / SECOND_MS);
    return { ...website, duration_seconds, limit: isCut ? ('deadline' as const) : limit };
  });
  const all = websites.map(({ duration_seconds }) => duration_seconds);
  const seconds = all.length === 0 || all.includes(null) ? null : Math.max(...all.map(Number));
  const ends = seconds === null ? null : effects.now() + Math.min(seconds * SECOND_MS, reports.deadline);
  return {
    websites,
    totals: {
      pages: sum(({ pages }) => pages),
      reports: sum((website) => website.reports.planned),
      requests: sum(({ requests }) => requests),
      duration_seconds: seconds,
      ends_at: ends === null ? null : new Date(ends).toISOString(),
    },
  };
}

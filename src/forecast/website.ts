import type { Config } from '../config/schema.js';
import { keyLabel, namedWebsites, type Website, websiteOf } from '../config/websites.js';
import { count, counted } from '../observe/format.js';
import { DAY_MS } from '../time.js';
import type { ListingSize } from './ask-service.js';
import { listingRequests } from './cost.js';
import type { Known, PageGroup, WantedPage } from './known.js';
import { nightsUntilYoung, pagesOf, planOf, reachedOf, reportsBy, wantedOf } from './reports.js';

const NOTHING = { missing: 0, changed: 0, new: 0, recrawled: 0 };

/** A website to plan for, with the name of its API key. */
export interface SelectedWebsite extends Website {
  key: string;
}

export function withKey(website: Website): SelectedWebsite {
  return { ...website, key: keyLabel(website) };
}

/**
 * The websites to plan for that are known without a request: where the configuration says `all`, those with a snapshot.
 *
 * @param asked ids; all that are configured if empty. Where the configuration says `all`, any id is allowed.
 * @param known ids of websites with a snapshot
 */
export function selectWebsites(config: Config, asked: readonly string[], known: readonly string[]): SelectedWebsite[] {
  const named = namedWebsites(config)?.map(({ id }) => id);
  const ids = named?.filter((id) => asked.length === 0 || asked.includes(id)) ?? (asked.length > 0 ? asked : known);
  return ids.map((id) => websiteOf(config, id)).map(withKey);
}

/** One website before its next run. */
export type Outlook = NonNullable<Awaited<ReturnType<typeof outlookOf>>>;

/** Combines what is known of a website with what the service says; null if neither tells how many pages it has. */
export async function outlookOf(website: SelectedWebsite, all: Known, asked: ListingSize | null, pageSize: number) {
  const known = all.websites.get(website.id) ?? null;
  if (!known && asked?.pages == null) return null;
  const monitored = await all.groups(website.id);
  const groups = monitored.filter(({ is_never_fetched }) => !is_never_fetched);
  const pages = asked?.pages ?? pagesOf(monitored);
  // Pages that the service counts beyond the known ones are new tonight, whatever other nights brought.
  const unknown = Math.max(0, pages - pagesOf(monitored));
  const arrivals = known?.expected ?? NOTHING;
  const plan = planOf(groups, { ...arrivals, new: Math.max(arrivals.new, unknown) });
  const unread = { keeps_failing: false, goes_first: false, is_never_fetched: false, reason: 'new' } as const;
  const keepFailing = groups.filter(({ keeps_failing }) => keeps_failing);
  return {
    website,
    known,
    plan,
    /** Pages whose reports may be fetched and do not keep failing. */
    groups: [
      ...groups.filter(({ keeps_failing }) => !keeps_failing),
      { ...unread, is_wanted: true, age_days: null, pages: unknown },
    ],
    /** As `plan --json` writes it. */
    written: {
      website_id: website.id,
      website_name: website.name ?? known?.website_name ?? null,
      key: website.key,
      /** Where the number of pages comes from. */
      basis: asked?.pages == null ? 'snapshot' : known ? 'snapshot_and_service' : 'service',
      snapshot_id: known?.snapshot_id ?? null,
      pages,
      pages_never_fetched: Math.min(pages, pagesOf(monitored) - pagesOf(groups)),
      pages_keep_failing: pagesOf(keepFailing),
      listing_requests: listingRequests(pages, asked?.window ?? pageSize, known?.walk),
      expected: known?.expected ?? null,
      wanted: wantedOf(plan),
    },
  };
}

/** Reports that a website gets tonight, and on any night. */
interface Share {
  tonight: number;
  nightly: number;
}

export interface Rules {
  reports: Config['reports'];
  youngDays: number;
  /** How many of the first pages in the plan to name. */
  first: number;
}

export type PlannedWebsite = Awaited<ReturnType<typeof plannedWebsite>>;

/** What a run with this share of reports does for a website, as `plan --json` writes it. */
export async function plannedWebsite(
  { written, plan, known, groups }: Outlook,
  share: Share,
  all: Known,
  rules: Rules,
) {
  const { wanted } = written;
  const { reached, knownReached } = reachedOf(plan, share.tonight);
  const isCut = wanted.total > reached.total;
  const first = Math.min(rules.first, knownReached);
  const named: WantedPage[] = [];
  for await (const page of all.wanted(written.website_id, first, isCut ? knownReached + 1 : 0)) named.push(page);
  return {
    ...written,
    requests: written.listing_requests + share.tonight,
    reached,
    not_reached: reportsBy((reason) => wanted[reason] - reached[reason]),
    limit: isCut ? (share.tonight >= rules.reports.max_per_run ? 'max_per_run' : 'deadline') : null,
    first_pages: named.slice(0, first),
    first_not_reached: named[first] ?? null,
    ...youngOf(groups, known?.expected ?? NOTHING, share, rules),
  };
}

/** The number of nights until all reports are young, or why they never will be and what would help. */
function youngOf(groups: PageGroup[], expected: typeof NOTHING, { nightly }: Share, rules: Rules) {
  const { reports, youngDays } = rules;
  // Changed, recrawled and new pages come before the oldest, every night.
  const reached = Math.max(0, nightly - expected.changed - expected.recrawled - expected.new);
  const nights = nightsUntilYoung(groups, reached, youngDays);
  const never = (because: string) => ({ nights_until_young: null, never_young_because: because });
  const age = counted(youngDays, 'day');
  const refreshDays = Math.ceil(reports.refresh_after / DAY_MS);
  if (nights === 0) return { nights_until_young: nights, never_young_because: null };
  if (reports.max_per_run === 0) return never('no report is fetched while reports.max_per_run is 0');
  if (nightly === 0) {
    return never('the listing takes all the time until reports.deadline: raise that, or api.requests_per_minute');
  }
  if (refreshDays > youngDays) {
    return never(
      `reports.refresh_after keeps the report of an unchanged page for up to ${counted(refreshDays, 'day')}, longer than ${age}: lower it, or raise --younger-than`,
    );
  }
  if (nights !== null) return { nights_until_young: nights, never_young_because: null };
  const limit = nightly >= reports.max_per_run ? 'reports.max_per_run' : 'reports.deadline';
  const pages = pagesOf(groups);
  const longer = reached > 0 ? `, or use --younger-than ${Math.ceil(pages / reached) + 1}d` : '';
  return never(
    `each night reaches ${count(reached)} of the ${count(Math.ceil(pages / youngDays))} reports that turn ${age} old: raise ${limit}${longer}`,
  );
}

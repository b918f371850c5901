import type { Config } from '../config/schema.js';
import { namedWebsites, tokenPlace, type Website, websiteOf } from '../config/websites.js';
import { count, counted } from '../observe/format.js';
import { DAY_MS } from '../time.js';
import type { ListingSize } from './ask-service.js';
import { listingRequests } from './cost.js';
import type { Known } from './known.js';
import { nightsUntilYoung, type PageGroup, planOf, reachedOf, reportsBy, sum, wantedOf } from './reports.js';

const NOTHING = { missing: 0, changed: 0, new: 0, recrawled: 0 };

/** A website to plan for, and where the token of its API key stands in the configuration. */
export interface SelectedWebsite extends Website {
  key: string;
}

/**
 * The websites to plan for, as far as they can be told without a request: where the configuration says `all`, those
 * that are known.
 *
 * @param asked ids; all that are configured if empty. Where the configuration says `all`, any id may be asked for.
 * @param known ids of websites with a snapshot
 */
export function selectWebsites(config: Config, asked: readonly string[], known: readonly string[]): SelectedWebsite[] {
  const named = namedWebsites(config)?.map(({ id }) => id);
  const ids = named?.filter((id) => asked.length === 0 || asked.includes(id)) ?? (asked.length > 0 ? asked : known);
  const websites = ids.map((id) => websiteOf(config, id));
  return websites.map((website) => ({ ...website, key: tokenPlace(website.token, config) }));
}

/** One website before its next run. */
export type Outlook = NonNullable<Awaited<ReturnType<typeof outlookOf>>>;

/**
 * Puts together what is known of a website and what the service says; null where neither tells its pages.
 *
 * @param pageSize entries that are asked for at once
 */
export async function outlookOf(
  website: SelectedWebsite,
  knowledge: Known,
  asked: ListingSize | null,
  pageSize: number,
) {
  const known = knowledge.websites.get(website.id) ?? null;
  if (!known && asked?.pages == null) return null;
  const all = await knowledge.groups(website.id);
  const groups = all.filter(({ is_never_fetched }) => !is_never_fetched);
  const monitored = pagesOf(all);
  const pages = asked?.pages ?? monitored;
  // What the service counts beyond what is known is new tonight, whatever other nights brought.
  const unknown = Math.max(0, pages - monitored);
  const arrivals = known?.expected ?? NOTHING;
  const plan = planOf(groups, { ...arrivals, new: Math.max(arrivals.new, unknown) });
  const unread = { keeps_failing: false, goes_first: false, reason: 'new', is_wanted: true, age_days: null } as const;
  return {
    website,
    known,
    /** What tells the number of its pages. */
    basis: asked?.pages == null ? 'snapshot' : known ? 'snapshot_and_service' : 'service',
    pages,
    /** Pages whose report may be fetched. */
    fetchable: Math.max(0, pages - (monitored - pagesOf(groups))),
    keepFailing: pagesOf(groups.filter(({ keeps_failing }) => keeps_failing)),
    listingRequests: listingRequests(pages, asked?.window ?? pageSize, known?.walk),
    /** Of the pages whose reports may be fetched and do not keep failing. */
    groups: [...groups.filter(({ keeps_failing }) => !keeps_failing), { ...unread, pages: unknown }],
    plan,
    wanted: wantedOf(plan),
  };
}

function pagesOf(groups: readonly PageGroup[]): number {
  return sum(groups.map(({ pages }) => pages));
}

/** Reports that a website gets tonight and on any night, of `capacity` that its key has. */
interface Share {
  tonight: number;
  nightly: number;
  capacity: number;
}

interface Rules {
  reports: Config['reports'];
  youngDays: number;
  /** How many of the pages that come first to name. */
  first: number;
}

export type PlannedWebsite = Awaited<ReturnType<typeof plannedWebsite>>['written'];

/** What a run with so many reports makes of a website: as `plan --json` writes it, and how many known pages it reaches. */
export async function plannedWebsite(outlook: Outlook, share: Share, knowledge: Known, rules: Rules) {
  const { website, known, plan, wanted, pages } = outlook;
  const { reached, knownReached } = reachedOf(plan, share.tonight);
  const isCut = wanted.total > reached.total;
  const beyond = knownReached + 1;
  const [notReached = null] = isCut ? await knowledge.wanted(website.id, beyond, beyond) : [];
  const written = {
    website_id: website.id,
    website_name: website.name ?? known?.website_name ?? null,
    key: website.key,
    basis: outlook.basis,
    snapshot_id: known?.snapshot_id ?? null,
    pages,
    pages_never_fetched: pages - outlook.fetchable,
    pages_keep_failing: outlook.keepFailing,
    listing_requests: outlook.listingRequests,
    requests: outlook.listingRequests + share.tonight,
    expected: known?.expected ?? null,
    wanted,
    reached,
    not_reached: reportsBy((reason) => wanted[reason] - reached[reason]),
    limit: isCut ? (share.tonight >= rules.reports.max_per_run ? 'max_per_run' : 'deadline') : null,
    first_pages: await knowledge.wanted(website.id, 1, Math.min(rules.first, knownReached)),
    first_not_reached: notReached,
    ...youngOf(outlook, share, rules),
  };
  return { written, knownReached };
}

/** After how many nights all reports are young; or why they never are, and what would help. */
function youngOf({ known, groups }: Outlook, share: Share, rules: Rules) {
  // Changed, recrawled and new pages come before the oldest, every night.
  const { changed, recrawled, new: joining } = known?.expected ?? NOTHING;
  const reached = Math.max(0, share.nightly - changed - recrawled - joining);
  const nights = nightsUntilYoung(groups, reached, rules.youngDays);
  const because = nights === 0 ? null : whyNever({ nights, reached, pages: pagesOf(groups) }, share, rules);
  return { nights_until_young: because === null ? nights : null, never_young_because: because };
}

/** Null where they are all young after some nights. @param reached of the oldest of so many pages, each night */
function whyNever(
  { nights, reached, pages }: { nights: number | null; reached: number; pages: number },
  share: Share,
  { reports, youngDays }: Rules,
): string | null {
  if (reports.max_per_run === 0) return 'no report is fetched while reports.max_per_run is 0';
  if (share.capacity === 0) {
    return 'the listing takes all the time until reports.deadline: raise that, or api.requests_per_minute';
  }
  const refreshDays = Math.ceil(reports.refresh_after / DAY_MS);
  const age = counted(youngDays, 'day');
  if (refreshDays > youngDays) {
    return `reports.refresh_after keeps the report of an unchanged page for ${counted(refreshDays, 'day')}, longer than ${age}: lower it, or raise --younger-than`;
  }
  if (nights !== null) return null;
  const limit = share.nightly >= reports.max_per_run ? 'reports.max_per_run' : 'reports.deadline';
  const longer = reached > 0 ? `, or use --younger-than ${Math.ceil(pages / reached) + 1}d` : '';
  return `each night reaches ${count(reached)} of the ${count(Math.ceil(pages / youngDays))} reports that turn ${age} old: raise ${limit}${longer}`;
}

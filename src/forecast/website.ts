import type { Config } from '../config/schema.js';
import { count } from '../observe/format.js';
import { DAY_MS } from '../time.js';
import type { ListingSize } from './ask-service.js';
import { listingRequests, many } from './cost.js';
import type { PlannedWebsite, Reports } from './document.js';
import type { Known, KnownWebsite } from './known.js';
import {
  nightsUntilYoung,
  type PageGroup,
  planOf,
  reachedOf,
  reportsBy,
  type Stretch,
  sum,
  wantedOf,
} from './reports.js';
import type { SelectedWebsite } from './selection.js';

const NOTHING = { missing: 0, changed: 0, new: 0, recrawled: 0 };

/** One website before its next run. */
export interface Outlook {
  website: SelectedWebsite;
  /** Null before the first snapshot. */
  known: KnownWebsite | null;
  basis: PlannedWebsite['basis'];
  pages: number;
  /** Pages whose report may be fetched. */
  fetchable: number;
  keepFailing: number;
  listingRequests: number;
  /** Of the pages whose reports may be fetched and do not keep failing. */
  groups: PageGroup[];
  plan: Stretch[];
  wanted: Reports;
}

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
): Promise<Outlook | null> {
  const known = knowledge.websites.get(website.id) ?? null;
  if (!known && asked?.pages == null) return null;
  const all = await knowledge.groups(website.id);
  const groups = all.filter(({ is_never_fetched }) => !is_never_fetched);
  const monitored = pagesOf(all);
  const pages = asked?.pages ?? monitored;
  // What the service counts beyond what is known is new tonight, whatever other nights brought.
  const unknown = Math.max(0, pages - monitored);
  const arrivals = { ...NOTHING, ...known?.expected };
  const plan = planOf(groups, { ...arrivals, new: Math.max(arrivals.new, unknown) });
  const unread = { keeps_failing: false, goes_first: false, reason: 'new', is_wanted: true, age_days: null } as const;
  return {
    website,
    known,
    basis: asked?.pages == null ? 'snapshot' : known ? 'snapshot_and_service' : 'service',
    pages,
    fetchable: Math.max(0, pages - (monitored - pagesOf(groups))),
    keepFailing: pagesOf(groups.filter(({ keeps_failing }) => keeps_failing)),
    listingRequests: listingRequests(pages, asked?.window ?? pageSize, known?.walk),
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

/** What a run with so many reports makes of a website. */
export async function plannedWebsite(
  outlook: Outlook,
  share: Share,
  knowledge: Known,
  rules: Rules,
): Promise<{ written: PlannedWebsite; knownReached: number }> {
  const { website, known, plan, wanted, pages } = outlook;
  const { reached, knownReached } = reachedOf(plan, share.tonight);
  const isCut = wanted.total > reached.total;
  const read = (from: number, to: number) => knowledge.wanted(website.id, from, to);
  const beyond = knownReached + 1;
  const [notReached] = isCut ? await read(beyond, beyond) : [];
  const young = whenYoung(outlook, share, rules);
  const written: PlannedWebsite = {
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
    first_pages: await read(1, Math.min(rules.first, knownReached)),
    first_not_reached: notReached ?? null,
    nights_until_young: young.nights,
    never_young_because: young.because,
  };
  return { written, knownReached };
}

/** After how many nights all reports are young; where that is never, why, and what would help. */
function whenYoung(
  { groups, known }: Outlook,
  { nightly, capacity }: Share,
  { reports, youngDays }: Rules,
): { nights: number | null; because: string | null } {
  const { changed, recrawled, new: joining } = { ...NOTHING, ...known?.expected };
  // Comes before the oldest, every night.
  const reached = Math.max(0, nightly - changed - recrawled - joining);
  const refreshDays = Math.ceil(reports.refresh_after / DAY_MS);
  const age = many(youngDays, 'day');
  const nights = nightsUntilYoung(groups, reached, youngDays);
  if (nights === 0) return { nights, because: null };
  if (reports.max_per_run === 0) return never('no report is fetched while reports.max_per_run is 0');
  if (capacity === 0) {
    return never('the listing takes all the time until reports.deadline: raise that, or api.requests_per_minute');
  }
  if (refreshDays > youngDays) {
    return never(
      `reports.refresh_after keeps the report of an unchanged page for ${many(refreshDays, 'day')}, longer than ${age}: lower it, or raise --younger-than`,
    );
  }
  if (nights !== null) return { nights, because: null };
  const pages = pagesOf(groups);
  const limit = nightly >= reports.max_per_run ? 'reports.max_per_run' : 'reports.deadline';
  const longer = reached > 0 ? `, or use --younger-than ${Math.ceil(pages / reached) + 1}d` : '';
  return never(
    `each night reaches ${count(reached)} of the ${count(Math.ceil(pages / youngDays))} reports that turn ${age} old: raise ${limit}${longer}`,
  );
}

function never(because: string): { nights: null; because: string } {
  return { nights: null, because };
}

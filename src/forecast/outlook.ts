import type { Config } from '../config/schema.js';
import type { ListingSize } from './ask-service.js';
import type { Expected, Known, KnownPages } from './known.js';
import type { LastRun } from './last-runs.js';
import { listingRequests } from './listing-requests.js';
import type { NightlyWebsite } from './nights.js';
import type { SelectedWebsite } from './selection.js';
import { type Arrivals, type PageGroup, type PlannedGroup, planOf } from './tonight.js';

/** Where the number of a website's pages comes from. */
export type Basis = 'snapshot' | 'service' | 'snapshot_and_service';

/** One website before its next run. */
export interface Outlook {
  website: SelectedWebsite;
  name: string | null;
  basis: Basis;
  lastRun: LastRun | null;
  /** Monitored pages; of these, how many are never fetched and how many keep failing. */
  pages: number;
  neverFetched: number;
  keepFailing: number;
  listingRequests: number;
  expected: Expected | null;
  /** What tonight's run wants to fetch, in order. */
  plan: PlannedGroup[];
  nightly: NightlyWebsite;
}

const NOTHING: Arrivals = { missing: 0, changed: 0, new: 0, recrawled: 0 };
const NO_PAGES: KnownPages = { monitored: 0, neverFetched: 0, keepFailing: 0, groups: [], ages: [], expected: null };

/** Puts together what is known of a website and what the service says; null where neither tells its pages. */
export async function outlookOf(
  website: SelectedWebsite,
  { known, asked, api }: { known: Known; asked: ListingSize | null; api: Config['api'] },
): Promise<Outlook | null> {
  const lastRun = known.lastRun(website.id);
  if (lastRun === null && asked?.pages == null) return null;
  const found = lastRun === null ? NO_PAGES : await known.pages(website.id);
  const pages = asked?.pages ?? found.monitored;
  const expected = found.expected ?? NOTHING;
  // What the service counts beyond what is known is new tonight, whatever other nights brought.
  const unknown = Math.max(0, pages - found.monitored);
  const arrivals = { ...expected, new: Math.max(expected.new, unknown) };
  return {
    website,
    name: website.name ?? lastRun?.websiteName ?? null,
    basis: basisOf(lastRun, asked),
    lastRun,
    pages,
    neverFetched: found.neverFetched,
    keepFailing: found.keepFailing,
    listingRequests: listingRequests(pages, asked?.window ?? api.page_size, lastRun?.walk),
    expected: found.expected,
    plan: planOf(found.groups, arrivals),
    nightly: {
      ages: [...found.ages, { days: null, pages: arrivals.new - expected.new }],
      waiting: waitingOf(found.groups),
      nightly: expected,
    },
  };
}

function basisOf(lastRun: LastRun | null, asked: ListingSize | null): Basis {
  if (asked?.pages == null) return 'snapshot';
  return lastRun === null ? 'service' : 'snapshot_and_service';
}

function waitingOf(groups: readonly PageGroup[]): NightlyWebsite['waiting'] {
  const pages = (...reasons: PageGroup['reason'][]) =>
    groups.reduce((sum, group) => sum + (!group.keepsFailing && reasons.includes(group.reason) ? group.pages : 0), 0);
  return { changed: pages('missing', 'changed'), recrawled: pages('recrawled') };
}

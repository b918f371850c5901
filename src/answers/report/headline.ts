import { type Figure, plus } from '../../base/observe/format.js';
import { estimateRow, NO_ESTIMATE, shareIndexed } from './estimate.js';
import type { Period } from './period.js';
import type { BalanceRow, ChangesRow, SnapshotRow, TrendRow, WebsiteRow } from './rows.js';

/** Counts of the newest complete listing, and of the one that it is compared with. */
const STOCKS = ['pages', 'indexed', 'without_data'] as const;
/** Pages that did this in the period, and in as many days right before it, if those are known, too. */
const MOVES = ['entered', 'fell_out', 'returned'] as const;
const CHANGES = ['appeared', 'disappeared', 'canonical_flips', 'robots_blocked', 'robots_unblocked'] as const;
/** Pages and clicks beside these. */
const PARTS = [
  'not_inspected',
  'first_inspected',
  'retired',
  'clicks_lost',
  'unconfirmed',
  'rich_results_failed',
] as const;

export const FIGURES = [...STOCKS, ...MOVES, ...CHANGES] as const;

/** Each figure and number is null if it is unknown. */
export type Headline = ReturnType<typeof headlineOf>;

/** What a website's pages did in a period; nothing without a change, or without two complete listings. */
export interface Flows {
  changes: ChangesRow | undefined;
  balance: BalanceRow | undefined;
}

/** What is known about one website before its section is read. */
export interface WebsiteFacts {
  website: WebsiteRow;
  /** Up to the end of the period. */
  trend: TrendRow[];
  /** Those that the trend shows, oldest first. */
  snapshots: SnapshotRow[];
  headline: Headline;
  balance: BalanceRow | undefined;
  /** How often selected and declared canonicals changed. */
  canonical_flip_times: number;
}

export function headlineOf(
  website: WebsiteRow,
  trend: readonly TrendRow[],
  flows: Record<'now' | 'before', Flows>,
  period: Period,
) {
  const countsOn = (date: string | null) => trend.find(({ snapshot_date }) => snapshot_date === date);
  const [now, before] = [countsOn(website.now_date), countsOn(website.before_date)];
  // The first listing has nothing to compare with, so a website's changes are known from its second one on.
  const knowsPrevious = website.first_date < period.previous.since;
  const flow = (pages: (flows: Flows) => number | null): Figure => ({
    now: pages(flows.now),
    before: knowsPrevious ? pages(flows.before) : null,
  });
  const { balance, changes } = flows.now;
  return {
    /** Date of the newest complete listing that the figures come from, the latest of several websites; null without one. */
    listed_on: website.now_date,
    /** Date of the listing that they are compared with, the earliest of several; null without one. */
    compared_with: website.before_date,
    /** Pages of Search Console that were never inspected. */
    not_inspected: now?.not_inspected ?? null,
    /** Pages of Search Console that were inspected for the first time in the period, and are indexed. */
    first_inspected: balance?.first_inspected ?? null,
    /** Pages of Search Console that were indexed, and left the listing because no source had named them for a long time. */
    retired: balance?.retired ?? null,
    /** The clicks in 28 days of the pages that fell out. */
    clicks_lost: balance ? (changes?.clicks_lost ?? 0) : null,
    /** Pages of Search Console that look as if they fell. */
    unconfirmed: website.unconfirmed as number | null,
    /** Pages of Search Console whose last inspection found errors in their rich results. */
    rich_results_failed: website.rich_results_failed as number | null,
    /** A clause, if hardly any page that fell out was crawled since the night before. */
    crawls: changes?.crawls ?? null,
    /** Of one website, and the share on the date that it is compared with. */
    estimate: estimateRow.parse(now ?? NO_ESTIMATE),
    share_before: shareIndexed(before ?? null),
    ...each(STOCKS, (key): Figure => ({ now: now?.[key] ?? null, before: before?.[key] ?? null })),
    // Pages that were inspected for the first time are no change, nor are those that are retired.
    indexed: {
      now: now?.indexed ?? null,
      before: before ? before.indexed + (balance?.first_inspected ?? 0) - (balance?.retired ?? 0) : null,
    },
    // Without a listing to compare with, what moved is unknown, and no change is known to be none.
    ...each(MOVES, (key) => flow((flows) => flows.balance?.[key] ?? null)),
    ...each(CHANGES, (key) => flow((flows) => flows.changes?.[key] ?? (flows.balance ? 0 : null))),
  };
}

/** The headline of several websites together: of those with a figure. It is compared only if each website's is. */
export function totalOf(headlines: readonly Headline[]): Headline {
  const dates = (key: 'listed_on' | 'compared_with') => headlines.flatMap((headline) => headline[key] ?? []).sort();
  const most = headlines.toSorted((one, other) => (other.fell_out.now ?? 0) - (one.fell_out.now ?? 0));
  return {
    listed_on: dates('listed_on').at(-1) ?? null,
    compared_with: dates('compared_with')[0] ?? null,
    ...each(PARTS, (key) => headlines.map((headline) => headline[key]).reduce(sumOfKnown, null)),
    crawls: most.find(({ crawls }) => crawls !== null)?.crawls ?? null,
    estimate: (headlines.length === 1 ? headlines[0]?.estimate : null) ?? NO_ESTIMATE,
    share_before: (headlines.length === 1 ? headlines[0]?.share_before : null) ?? null,
    ...each(FIGURES, (key) => headlines.map((headline) => headline[key]).reduce(added, NOTHING)),
  };
}

const NOTHING: Figure = { now: null, before: 0 };

function added({ now, before }: Figure, other: Figure): Figure {
  return { now: sumOfKnown(now, other.now), before: plus(before, other.before) };
}

function sumOfKnown(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : one + other;
}

function each<K extends string, V>(keys: readonly K[], of: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<K, V>;
}

import type { Figure } from '../../base/observe/format.js';
import { type Estimate, estimateRow, NO_ESTIMATE } from './estimate.js';
import type { Period } from './period.js';
import type { BalanceRow, ChangesRow, TrendRow, WebsiteRow } from './rows.js';

/** Counts of the newest complete listing, and of the one that it is compared with. */
const STOCKS = ['pages', 'indexed', 'without_data'] as const;
/** Pages that did this in the period, and in as many days right before it, if those are known, too. */
const MOVES = ['entered', 'fell_out', 'returned'] as const;
const CHANGES = ['appeared', 'disappeared', 'canonical_flips', 'robots_blocked', 'robots_unblocked'] as const;

export const FIGURES = [...STOCKS, ...MOVES, ...CHANGES] as const;

export interface Headline extends Record<(typeof FIGURES)[number], Figure> {
  /** Date of the newest complete listing that the figures come from, the latest of several websites; null without one. */
  listed_on: string | null;
  /** Date of the listing that they are compared with, the earliest of several; null without one. */
  compared_with: string | null;
  /** Pages of Search Console that were never inspected. */
  not_inspected: number;
  /** Pages of Search Console that were inspected for the first time in the period, and are indexed. */
  first_inspected: number;
  /** Pages of Search Console that were indexed, and left the listing because no source had named them for a long time. */
  retired: number;
  /** The clicks in 28 days of the pages that fell out. */
  clicks_lost: number;
  /** A clause, if hardly any page that fell out was crawled since the night before. */
  crawls: string | null;
  /** Of one website. */
  estimate: Estimate;
}

/** What a website's pages did in a period; nothing without a change, or without two complete listings. */
export interface Flows {
  changes: ChangesRow | undefined;
  balance: BalanceRow | undefined;
}

export function headlineOf(
  website: WebsiteRow,
  trend: readonly TrendRow[],
  flows: Record<'now' | 'before', Flows>,
  period: Period,
): Headline {
  const countsOn = (date: string | null) => trend.find(({ snapshot_date }) => snapshot_date === date);
  const [now, before] = [countsOn(website.now_date), countsOn(website.before_date)];
  // The first listing has nothing to compare with, so a website's changes are known from its second one on.
  const knowsPrevious = website.first_date < period.previous.since;
  const flow = (pages: (flows: Flows) => number | undefined) => ({
    now: pages(flows.now) ?? 0,
    before: knowsPrevious ? (pages(flows.before) ?? 0) : null,
  });
  const { balance } = flows.now;
  return {
    listed_on: website.now_date,
    compared_with: website.before_date,
    not_inspected: now?.not_inspected ?? 0,
    first_inspected: balance?.first_inspected ?? 0,
    retired: balance?.retired ?? 0,
    clicks_lost: flows.now.changes?.clicks_lost ?? 0,
    crawls: flows.now.changes?.crawls ?? null,
    estimate: estimateRow.parse(now ?? NO_ESTIMATE),
    ...each(STOCKS, (key) => ({ now: now?.[key] ?? 0, before: before?.[key] ?? null })),
    // Pages that were inspected for the first time are no change, nor are those that are retired.
    indexed: {
      now: now?.indexed ?? 0,
      before: before ? before.indexed + (balance?.first_inspected ?? 0) - (balance?.retired ?? 0) : null,
    },
    ...each(MOVES, (key) => flow(({ balance }) => balance?.[key])),
    ...each(CHANGES, (key) => flow(({ changes }) => changes?.[key])),
  };
}

/** The headline of several websites together. A figure is compared only if each website's is. */
export function totalOf(headlines: readonly Headline[]): Headline {
  const dates = (key: 'listed_on' | 'compared_with') => headlines.flatMap((headline) => headline[key] ?? []).sort();
  const most = headlines.toSorted((one, other) => other.fell_out.now - one.fell_out.now);
  const sumOf = (key: 'not_inspected' | 'first_inspected' | 'retired' | 'clicks_lost') =>
    headlines.reduce((sum, headline) => sum + headline[key], 0);
  return {
    listed_on: dates('listed_on').at(-1) ?? null,
    compared_with: dates('compared_with')[0] ?? null,
    not_inspected: sumOf('not_inspected'),
    first_inspected: sumOf('first_inspected'),
    retired: sumOf('retired'),
    clicks_lost: sumOf('clicks_lost'),
    crawls: most.find(({ crawls }) => crawls !== null)?.crawls ?? null,
    estimate: (headlines.length === 1 ? headlines[0]?.estimate : null) ?? NO_ESTIMATE,
    ...each(FIGURES, (key) => headlines.map((headline) => headline[key]).reduce(added, NOTHING)),
  };
}

const NOTHING: Figure = { now: 0, before: 0 };

function added({ now, before }: Figure, other: Figure): Figure {
  return { now: now + other.now, before: before === null || other.before === null ? null : before + other.before };
}

function each<K extends string>(keys: readonly K[], figureOf: (key: K) => Figure): Record<K, Figure> {
  return Object.fromEntries(keys.map((key) => [key, figureOf(key)])) as Record<K, Figure>;
}

import type { Counts } from '../html/charts/trend-chart.js';
import type { Figure } from '../html/figures.js';
import type { Period } from './period.js';
import type { ChangesRow, ListingsRow, TrendRow, WebsiteRow } from './rows.js';

export interface Headline {
  /** Date of the newest complete listing that the figures rest on, the latest of several websites; null without one. */
  listed_on: string | null;
  /** Date of the listing that they are compared with, the earliest of several; null without one. */
  compared_with: string | null;
  pages: Figure;
  indexed: Figure;
  without_data: Figure;
  /** Pages that did so in the period; `before`: in as many days right before it, where those are known too. */
  newly_indexed: Figure;
  deindexed: Figure;
  appeared: Figure;
  disappeared: Figure;
  canonical_flips: Figure;
  robots_blocked: Figure;
  robots_unblocked: Figure;
}

/** The two listings of a website that a report compares. */
export interface Compared {
  now: { id: string; date: string };
  before: { id: string; date: string } | null;
}

/** What the newest listing is compared with: the one before the period, or else the first. */
export function comparedOf(listings: ListingsRow, { since }: Period): Compared {
  const { now_id, now_date, before_id, before_date, first_id, first_date } = listings;
  const now = { id: now_id, date: now_date };
  // A listing from before the period says nothing about it.
  if (now_date < since) return { now, before: null };
  if (before_id !== null && before_date !== null) return { now, before: { id: before_id, date: before_date } };
  return { now, before: first_id === now_id ? null : { id: first_id, date: first_date } };
}

/** All that the headline of one website needs. */
export interface HeadlineInput {
  website: WebsiteRow;
  compared: Compared | null;
  trend: readonly TrendRow[];
  changes: ChangesRow | undefined;
  previous: ChangesRow | undefined;
  period: Period;
}

export function headlineOf(input: HeadlineInput): Headline {
  const { website, compared, trend, changes, previous, period } = input;
  const countsOn = (date: string | undefined) => trend.find(({ snapshot_date }) => snapshot_date === date);
  const now = countsOn(compared?.now.date);
  const before = countsOn(compared?.before?.date);
  // The first listing has nothing to be compared with, so a website's changes are known from its second one on.
  const knowsPrevious = website.first_date < period.previous.since;
  const stock = (key: keyof Counts): Figure => ({ now: now?.[key] ?? 0, before: before?.[key] ?? null });
  const flow = (key: Exclude<keyof ChangesRow, 'website_id'>): Figure => ({
    now: changes?.[key] ?? 0,
    before: knowsPrevious ? (previous?.[key] ?? 0) : null,
  });
  return {
    listed_on: compared?.now.date ?? null,
    compared_with: compared?.before?.date ?? null,
    pages: stock('pages'),
    indexed: stock('indexed'),
    without_data: stock('without_data'),
    newly_indexed: flow('indexed'),
    deindexed: flow('deindexed'),
    appeared: flow('appeared'),
    disappeared: flow('disappeared'),
    canonical_flips: flow('canonical_flips'),
    robots_blocked: flow('robots_blocked'),
    robots_unblocked: flow('robots_unblocked'),
  };
}

/** The headline of several websites together. A figure is compared only where each website's is. */
export function totalOf(headlines: readonly Headline[]): Headline {
  const total = (key: Exclude<keyof Headline, 'listed_on' | 'compared_with'>): Figure => {
    const figures = headlines.map((headline) => headline[key]);
    const before = figures.map((figure) => figure.before);
    return {
      now: figures.reduce((added, { now }) => added + now, 0),
      before: before.reduce<number | null>((added, one) => (added === null || one === null ? null : added + one), 0),
    };
  };
  const dates = (key: 'listed_on' | 'compared_with') => headlines.flatMap((headline) => headline[key] ?? []).sort();
  return {
    listed_on: dates('listed_on').at(-1) ?? null,
    compared_with: dates('compared_with')[0] ?? null,
    pages: total('pages'),
    indexed: total('indexed'),
    without_data: total('without_data'),
    newly_indexed: total('newly_indexed'),
    deindexed: total('deindexed'),
    appeared: total('appeared'),
    disappeared: total('disappeared'),
    canonical_flips: total('canonical_flips'),
    robots_blocked: total('robots_blocked'),
    robots_unblocked: total('robots_unblocked'),
  };
}

import { byReason, REASONS, type Reason } from '../journal/plan.js';
import type { PageGroup } from './known.js';

/** Numbers of reports by the reason for fetching them. */
export type Reports = Record<Reason | 'total', number>;

/** A stretch of tonight's plan: the pages that the state puts here, and how many are expected after the listing. */
interface Stretch extends Pick<PageGroup, 'keeps_failing' | 'goes_first' | 'reason'> {
  known: number;
  expected: number;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

export function pagesOf(groups: readonly PageGroup[]): number {
  return sum(groups.map(({ pages }) => pages));
}

/** Counts by reason, with their sum. */
export function reportsBy(count: (reason: Reason) => number): Reports {
  return { ...byReason(count), total: sum(REASONS.map(count)) };
}

/**
 * Tonight's plan, in order: what the newest state wants, and what the listing is expected to add. Pages that the
 * listing moves forward are taken from all later stretches in proportion.
 */
export function planOf(groups: readonly PageGroup[], arrivals: Partial<Record<Reason, number>>): Stretch[] {
  const all = pagesOf(groups);
  const rank = (reason: Reason) => REASONS.indexOf(reason);
  const moved = (to: Reason, { reason, pages }: PageGroup) =>
    to !== 'new' && rank(to) < rank(reason) ? (Math.min(arrivals[to] ?? 0, all) * pages) / all : 0;
  const known = groups
    .filter(({ is_wanted }) => is_wanted)
    .map((group) => {
      const leaving = Math.round(sum(REASONS.map((to) => moved(to, group))));
      return { ...group, known: group.pages, expected: Math.max(0, group.pages - leaving) };
    });
  const arriving = REASONS.map((reason) => {
    const pages = reason === 'new' ? (arrivals.new ?? 0) : sum(groups.map((group) => moved(reason, group)));
    return { keeps_failing: false, goes_first: false, reason, known: 0, expected: Math.round(pages) };
  });
  return [...known, ...arriving].sort(
    (one, other) =>
      Number(one.keeps_failing) - Number(other.keeps_failing) ||
      Number(other.goes_first) - Number(one.goes_first) ||
      rank(one.reason) - rank(other.reason),
  );
}

export function wantedOf(plan: readonly Stretch[]): Reports {
  return reachedOf(plan, Number.POSITIVE_INFINITY).reached;
}

/** What this many reports reach, and how many of the pages that are known to be wanted are among them. */
export function reachedOf(plan: readonly Stretch[], reports: number): { reached: Reports; knownReached: number } {
  const reached = byReason(() => 0);
  let left = reports;
  let knownReached = 0;
  for (const { reason, known, expected } of plan) {
    const share = Math.min(expected, left);
    const isWhole = share === expected && left > 0;
    left -= share;
    reached[reason] += share;
    knownReached += isWhole ? known : Math.min(known, Math.floor((share * known) / Math.max(1, expected)));
  }
  return { reached: reportsBy((reason) => reached[reason]), knownReached };
}

/**
 * The number of nights, tonight included, until every report is younger than `days`; 0: they are already; null: never.
 * A night reaches the oldest reports first, and what it reaches stays young for `days`. So this is the first number of
 * nights that suffices for all reports that are too old by the last of them.
 */
export function nightsUntilYoung(groups: readonly PageGroup[], reportsANight: number, days: number): number | null {
  const olderThan = (age: number) => pagesOf(groups.filter(({ age_days }) => age_days === null || age_days >= age));
  if (olderThan(days) === 0) return 0;
  const nights = Array.from({ length: days }, (_, at) => at + 1);
  return nights.find((night) => olderThan(days - night + 1) <= night * reportsANight) ?? null;
}

import { z } from 'zod';
import { byReason, REASONS, type Reason } from '../journal/plan.js';

/** Reports by the reason why they are wanted. */
export type Reports = Record<Reason | 'total', number>;

/** Pages of a website that the plan treats alike, as the newest state knows them. */
export const pageGroup = z.object({
  keeps_failing: z.boolean(),
  goes_first: z.boolean(),
  reason: z.enum(REASONS),
  /** False: the report is too young to be fetched again without a change. */
  is_wanted: z.boolean(),
  /** Age of the report in whole days; null: none yet. */
  age_days: z.int().nullable(),
  pages: z.int(),
});
export type PageGroup = z.infer<typeof pageGroup>;

/** What the next listing is expected to bring, in pages. */
export type Arrivals = Record<Exclude<Reason, 'oldest'>, number>;

/** A stretch of tonight's plan: pages that the state puts here, and how many the listing is expected to leave here. */
export interface Stretch extends Pick<PageGroup, 'keeps_failing' | 'goes_first' | 'reason'> {
  known: number;
  expected: number;
}

export function sum(numbers: Iterable<number>): number {
  let all = 0;
  for (const each of numbers) all += each;
  return all;
}

/** Counts by reason, with their sum. */
export function reportsBy(count: (reason: Reason) => number): Reports {
  return { ...byReason(count), total: sum(REASONS.map(count)) };
}

/**
 * Tonight's plan, in order: what the newest state wants, and what the listing is expected to bring. Pages that the
 * listing moves come from all later stretches alike.
 */
export function planOf(groups: readonly PageGroup[], arrivals: Arrivals): Stretch[] {
  const all = sum(groups.map(({ pages }) => pages));
  const moved = (to: Reason, { reason, pages }: PageGroup) =>
    to !== 'new' && to !== 'oldest' && rank(to) < rank(reason) ? (Math.min(arrivals[to], all) * pages) / all : 0;
  const known = groups
    .filter(({ is_wanted }) => is_wanted)
    .map((group) => {
      const leaving = Math.round(sum(REASONS.map((to) => moved(to, group))));
      return { ...group, known: group.pages, expected: Math.max(0, group.pages - leaving) };
    });
  const arriving = REASONS.map((reason) => {
    const pages = reason === 'new' ? arrivals.new : Math.round(sum(groups.map((group) => moved(reason, group))));
    return { keeps_failing: false, goes_first: false, reason, known: 0, expected: pages };
  });
  return [...known, ...arriving].sort(
    (one, other) =>
      Number(one.keeps_failing) - Number(other.keeps_failing) ||
      Number(other.goes_first) - Number(one.goes_first) ||
      rank(one.reason) - rank(other.reason),
  );
}

function rank(reason: Reason): number {
  return REASONS.indexOf(reason);
}

export function wantedOf(plan: readonly Stretch[]): Reports {
  return reportsBy((reason) => sum(plan.filter((one) => one.reason === reason).map(({ expected }) => expected)));
}

/** What so many reports reach, and how many of the pages that are known to be wanted are among them. */
export function reachedOf(plan: readonly Stretch[], reports: number): { reached: Reports; knownReached: number } {
  let left = reports;
  let knownReached = 0;
  const reached = plan.map(({ reason, known, expected }) => {
    const share = Math.min(expected, left);
    const isCut = share < expected || left === 0;
    left -= share;
    knownReached += isCut ? Math.min(known, Math.floor((share * known) / Math.max(1, expected))) : known;
    return { reason, share };
  });
  const count = (wanted: Reason) => sum(reached.map(({ reason, share }) => (reason === wanted ? share : 0)));
  return { reached: reportsBy(count), knownReached };
}

/**
 * After how many nights, tonight the first, every report is younger than so many days; 0: they are; null: never.
 * A night reaches the oldest reports first, and what it reaches is young for as long. So it is the first number of
 * nights that is enough for all reports that are too old by the last of them.
 */
export function nightsUntilYoung(groups: readonly PageGroup[], reportsANight: number, days: number): number | null {
  const olderThan = (age: number) =>
    sum(groups.map(({ age_days, pages }) => (age_days === null || age_days >= age ? pages : 0)));
  if (olderThan(days) === 0) return 0;
  const nights = Array.from({ length: days }, (_, at) => at + 1);
  return nights.find((night) => olderThan(days - night + 1) <= night * reportsANight) ?? null;
}

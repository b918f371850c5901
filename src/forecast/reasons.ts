/** Why a report is wanted, the most informative first: the order of `sql/plan/report_plan`. */
export const REASONS = ['missing', 'changed', 'new', 'recrawled', 'oldest'] as const;
export type Reason = (typeof REASONS)[number];

/** A count for each reason. */
export type ByReason = Record<Reason, number>;

export function byReason(count: (reason: Reason) => number): ByReason {
  return {
    missing: count('missing'),
    changed: count('changed'),
    new: count('new'),
    recrawled: count('recrawled'),
    oldest: count('oldest'),
  };
}

export function totalOf(counts: ByReason): number {
  return REASONS.reduce((sum, reason) => sum + counts[reason], 0);
}

export function added(all: readonly ByReason[]): ByReason {
  return byReason((reason) => all.reduce((sum, counts) => sum + counts[reason], 0));
}

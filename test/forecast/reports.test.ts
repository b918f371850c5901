import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PageGroup } from '../../src/forecast/known.js';
import { nightsUntilYoung, planOf, reachedOf, wantedOf } from '../../src/forecast/reports.js';
import { REASONS } from '../../src/journal/plan.js';

const NOTHING = { missing: 0, changed: 0, new: 0, recrawled: 0 };

function group(reason: PageGroup['reason'], pages: number, rest: Partial<PageGroup> = {}): PageGroup {
  const usual = { keeps_failing: false, goes_first: false, is_never_fetched: false, is_wanted: true };
  return { ...usual, age_days: 0, reason, pages, ...rest };
}

describe("tonight's plan", () => {
  test('takes what the listing is expected to bring from everywhere, evenly, and only ever ahead', () => {
    const groups = [group('changed', 10), group('oldest', 80), group('oldest', 10, { is_wanted: false })];
    const plan = planOf(groups, { ...NOTHING, changed: 20, recrawled: 10, new: 5 });
    // Of 20 changed pages 2 were so before; of 18 others 2 had too young a report to be wanted.
    expect(wantedOf(plan)).toEqual({ missing: 0, changed: 28, new: 5, recrawled: 9, oldest: 56, total: 98 });
  });

  test('is cut in its order: first, the usual reasons, what keeps failing', () => {
    const groups = [
      group('new', 5, { keeps_failing: true }),
      group('oldest', 5),
      group('new', 5),
      group('oldest', 5, { goes_first: true }),
    ];
    const plan = planOf(groups, NOTHING);
    const reached = [5, 10, 15, 17].map((reports) => reachedOf(plan, reports).reached);
    expect(reached.map((counts) => [counts.new, counts.oldest])).toEqual([
      [0, 5],
      [5, 5],
      [5, 10],
      [7, 10],
    ]);
  });

  test('reaches pages that leave the oldest in passing', () => {
    const plan = planOf([group('oldest', 100)], { ...NOTHING, changed: 50 });
    // 50 changed ones come first; 25 of the 50 that stay oldest are every other one of the first 50.
    expect(reachedOf(plan, 75)).toMatchObject({ reached: { changed: 50, oldest: 25 }, knownReached: 50 });
  });

  test('loses and invents no page, whatever is cut', () => {
    const groups = fc.array(
      fc.record({
        keeps_failing: fc.boolean(),
        goes_first: fc.boolean(),
        is_never_fetched: fc.constant(false),
        is_wanted: fc.boolean(),
        reason: fc.constantFrom(...REASONS),
        age_days: fc.option(fc.nat(40)),
        pages: fc.integer({ min: 1, max: 500 }),
      }),
      { maxLength: 8 },
    );
    const arrivals = fc.record({ missing: fc.nat(50), changed: fc.nat(50), new: fc.nat(50), recrawled: fc.nat(50) });
    fc.assert(
      fc.property(groups, arrivals, fc.nat(4000), (found, brought, reports) => {
        const plan = planOf(found, brought);
        const { reached, knownReached } = reachedOf(plan, reports);
        const wanted = wantedOf(plan);
        const known = found.reduce((sum, { is_wanted, pages }) => sum + (is_wanted ? pages : 0), 0);
        expect(reached.total).toBe(Math.min(reports, wanted.total));
        for (const reason of REASONS) expect(wanted[reason]).toBeGreaterThanOrEqual(reached[reason]);
        expect(Math.min(...Object.values(reached))).toBeGreaterThanOrEqual(0);
        expect(knownReached).toBeLessThanOrEqual(known);
        if (reports > wanted.total) expect(knownReached).toBe(known);
      }),
    );
  });
});

describe('the nights until every report is young', () => {
  const aged = (age_days: number | null, pages: number) => group('oldest', pages, { age_days });

  test.each([
    ['none is old', [aged(3, 100)], 10, 30, 0],
    ['there is nothing', [], 0, 30, 0],
    ['a backlog', [aged(null, 90)], 30, 30, 3],
    ['what grows old meanwhile', [aged(30, 20), aged(29, 10), aged(28, 10), aged(5, 10)], 14, 30, 3],
    ['fewer than grow old', [aged(null, 90)], 30, 2, null],
    ['no reports', [aged(30, 1)], 0, 30, null],
    ['no limit', [aged(null, 1_000_000)], Number.POSITIVE_INFINITY, 30, 1],
  ])('%s', (_, groups, reportsANight, days, nights) => {
    expect(nightsUntilYoung(groups, reportsANight, days)).toBe(nights);
  });

  test('agree with nights that are played through, the oldest first', () => {
    const ages = fc.array(fc.record({ age: fc.option(fc.nat(20)), pages: fc.integer({ min: 1, max: 30 }) }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(ages, fc.nat(40), fc.integer({ min: 1, max: 12 }), (found, reports, days) => {
        const groups = found.map(({ age, pages }) => aged(age, pages));
        expect(nightsUntilYoung(groups, reports, days)).toBe(playedNights(groups, reports, days));
      }),
    );
  });
});

/** The first night after which every page has a report that is young; null where a round of all ages brings none. */
function playedNights(groups: readonly PageGroup[], reports: number, days: number): number | null {
  let ages = groups.flatMap(({ age_days, pages }) => Array.from({ length: pages }, () => age_days ?? 1000));
  if (ages.every((age) => age < days)) return 0;
  for (let night = 1; night <= days; night++) {
    if (night > 1) ages = ages.map((age) => age + 1);
    ages = ages.sort((one, other) => other - one).map((age, at) => (at < reports ? 0 : age));
    if (ages.every((age) => age < days)) return night;
  }
  return null;
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REASONS, totalOf } from '../../src/forecast/reasons.js';
import { cutPlan, type PageGroup, planOf, wantedOf } from '../../src/forecast/tonight.js';

const NOTHING = { missing: 0, changed: 0, new: 0, recrawled: 0 };

function group(reason: PageGroup['reason'], pages: number, rest: Partial<PageGroup> = {}): PageGroup {
  return { keepsFailing: false, goesFirst: false, wanted: true, reason, pages, ...rest };
}

describe("tonight's plan", () => {
  test('takes what the listing is expected to bring from everywhere, evenly, and only ever ahead', () => {
    const groups = [group('changed', 10), group('oldest', 80), group('oldest', 10, { wanted: false })];
    const plan = planOf(groups, { ...NOTHING, changed: 20, recrawled: 10, new: 5 });
    // Of 20 changed pages 2 were so before; of 18 others 2 had too young a report to be wanted.
    expect(wantedOf(plan)).toEqual({ missing: 0, changed: 28, new: 5, recrawled: 9, oldest: 56 });
  });

  test('is cut in its order: first, the usual reasons, what keeps failing', () => {
    const groups = [
      group('new', 5, { keepsFailing: true }),
      group('oldest', 5),
      group('new', 5),
      group('oldest', 5, { goesFirst: true }),
    ];
    const plan = planOf(groups, NOTHING);
    const reached = [5, 10, 15, 17].map((reports) => cutPlan(plan, reports).reached);
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
    expect(cutPlan(plan, 75)).toMatchObject({ reached: { changed: 50, oldest: 25 }, knownReached: 50 });
  });

  test('loses and invents no page, whatever is cut', () => {
    const groups = fc.array(
      fc.record({
        keepsFailing: fc.boolean(),
        goesFirst: fc.boolean(),
        wanted: fc.boolean(),
        reason: fc.constantFrom(...REASONS),
        pages: fc.integer({ min: 1, max: 500 }),
      }),
      { maxLength: 8 },
    );
    const arrivals = fc.record({ missing: fc.nat(50), changed: fc.nat(50), new: fc.nat(50), recrawled: fc.nat(50) });
    fc.assert(
      fc.property(groups, arrivals, fc.nat(4000), (found, brought, reports) => {
        const plan = planOf(found, brought);
        const { reached, notReached, knownReached } = cutPlan(plan, reports);
        const wanted = totalOf(wantedOf(plan));
        const known = found.reduce((sum, { wanted: is, pages }) => sum + (is ? pages : 0), 0);
        expect(totalOf(reached)).toBe(Math.min(reports, wanted));
        expect(totalOf(reached) + totalOf(notReached)).toBe(wanted);
        expect(Math.min(...Object.values(reached), ...Object.values(notReached))).toBeGreaterThanOrEqual(0);
        expect(knownReached).toBeLessThanOrEqual(known);
        if (reports >= wanted) expect(knownReached).toBe(known);
      }),
    );
  });
});

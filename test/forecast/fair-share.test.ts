import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fairShares } from '../../src/forecast/cost.js';

const demand = fc.nat(1000);

test.each([
  [10, [], []],
  [0, [5, 5], [0, 0]],
  [10, [2, 3], [2, 3]],
  [10, [100, 2, 100], [4, 2, 4]],
  [5, [10, 10], [2, 3]],
  [Number.POSITIVE_INFINITY, [7, 0], [7, 0]],
])('%s among %j: %j', (capacity, demands, shares) => {
  expect(fairShares(capacity, demands)).toEqual(shares);
});

test('nothing is left while somebody wants more, and nobody who wants more gets less than another', () => {
  fc.assert(
    fc.property(fc.nat(5000), fc.array(demand, { maxLength: 12 }), (capacity, demands) => {
      const shares = fairShares(capacity, demands);
      const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);
      expect(sum(shares)).toBe(Math.min(capacity, sum(demands)));
      const most = Math.max(0, ...shares);
      for (const [at, share] of shares.entries()) {
        expect(share).toBeLessThanOrEqual(demands[at] ?? 0);
        // To within one: shares are whole numbers.
        if (share < (demands[at] ?? 0)) expect(share).toBeGreaterThanOrEqual(most - 1);
      }
    }),
  );
});

test('who wants more never gets less, whatever the others want', () => {
  fc.assert(
    fc.property(
      fc.nat(5000),
      fc.array(demand, { maxLength: 8 }),
      demand,
      fc.nat(500),
      (capacity, others, own, more) => {
        const [before = 0] = fairShares(capacity, [own, ...others]);
        const [after = 0] = fairShares(capacity, [own + more, ...others]);
        expect(after).toBeGreaterThanOrEqual(Math.min(before, own) - 1);
      },
    ),
  );
});

import { expect, test } from 'vitest';
import { age, ago, size } from '../../../src/base/observe/format.js';

test('no age is negative, whatever the clock says', () => {
  expect([age(-1), ago(-86_400_000), age(0), ago(65_000)]).toEqual(['just now', 'just now', '0ms', '1m 5s ago']);
});

test('bytes have a unit, and never more than 999 of it', () => {
  const sizes = [0, 1, 999, 1000, 999_001, 1e6, 999_499_999, 999_500_000, 12e9].map(size);
  expect(sizes).toEqual(['0 kB', '1 kB', '1 kB', '1 kB', '1 MB', '1 MB', '999 MB', '1.0 GB', '12.0 GB']);
});

import { beforeAll, expect, test } from 'vitest';
import { type MadeChange, type MadeNight, MadeNights } from './made-nights.js';

let warehouse: MadeNights;

beforeAll(async () => {
  warehouse = await MadeNights.open();
});
const DAY_MS = 86_400_000;
const FIRST = Date.parse('2025-01-06');
const dateOf = (day: number) => new Date(FIRST + day * DAY_MS).toISOString().slice(0, 10);

/** Nights of so many days; each page appears on the second one, a Tuesday, and is indexed so many days later, if ever. */
function nights(days: number, waits: (number | null)[]): MadeNight[] {
  return Array.from({ length: days }, (_, day) => ({
    date: dateOf(day),
    changes: waits.flatMap((wait, page): MadeChange[] => {
      const url = `https://w.example/${page}`;
      if (day === 1) return [{ url, change: 'appeared', from: null, to: wait === 0 ? 'Indexed' : 'Not Indexed' }];
      return wait !== null && day === 1 + wait ? [{ url, change: 'indexed', from: 'Not Indexed', to: 'Indexed' }] : [];
    }),
  }));
}

async function funnel(days: number, waits: (number | null)[]) {
  const [row] = await warehouse.ask(nights(days, waits), 'index_funnel', { since: '2025-01-01' });
  return row;
}

const waiting = (number: number) => Array<null>(number).fill(null);

test('the median wait is unknown until half of the pages are indexed', async () => {
  expect(await funnel(20, [5, ...waiting(18)])).toMatchObject({ indexed: 1, median_days_to_index: null });
  const nine = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  expect(await funnel(20, [...nine, ...waiting(10)])).toMatchObject({ indexed: 9, median_days_to_index: null });
  expect(await funnel(20, [...nine, 12, ...waiting(9)])).toMatchObject({ indexed: 10, median_days_to_index: 12 });
});

test('shares are of all pages, and known once the whole week is old enough', async () => {
  const waits = [0, 6, 7, 13, 14, 27, 28, ...waiting(3)];
  const known = { indexed_in_7_days: 0.3, indexed_in_14_days: 0.5, indexed_in_28_days: 0.7 };
  expect(await funnel(36, waits)).toMatchObject(known);
  expect(await funnel(22, waits)).toMatchObject({ ...known, indexed_in_28_days: null });
  expect(await funnel(13, waits)).toMatchObject({ indexed: 3, indexed_in_7_days: null, indexed_in_14_days: null });
});

test('pages that are still being watched count for as long as they were', async () => {
  // Known truth: half of them wait for at most ten days, whenever the watching ends.
  const waits = Array.from({ length: 400 }, (_, page) => Math.floor(-10 * Math.log2(1 - (page + 0.5) / 400)));
  for (const days of [14, 20, 40]) expect(await funnel(days, waits)).toMatchObject({ median_days_to_index: 9 });
  expect(await funnel(10, waits)).toMatchObject({ median_days_to_index: null });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type SearchConsole, startSearchConsole } from '../../../../src/app/demo/search-console/search-console.js';
import { addDays } from '../../../../src/base/time.js';

const DOMAIN = 'sc-domain:example.com';
const NIGHTS = 20;
/** In California it is the evening before. */
const TODAY = '2026-01-20';
const FINAL = '2026-01-10';

const rowSchema = z.object({
  keys: z.array(z.string()),
  clicks: z.int(),
  impressions: z.int().positive(),
  ctr: z.number(),
  position: z.number().min(1).optional(),
});
const answerSchema = z.looseObject({
  rows: z.array(rowSchema).default([]),
  metadata: z.strictObject({ first_incomplete_date: z.iso.date() }).optional(),
});
type Row = z.infer<typeof rowSchema>;

const now = Date.parse('2026-01-21T02:00:00Z');
let google: SearchConsole;
beforeAll(async () => {
  google = await start();
});
afterAll(() => google.close());

function start() {
  return startSearchConsole({
    clock: () => now,
    websites: [{ id: 'w', pages: 1500 }],
    nights: NIGHTS,
    token: 'given',
    queriesPerMinute: 1e6,
  });
}

async function ask(body: object, of = google) {
  const headers = { authorization: 'Bearer given', 'content-type': 'application/json' };
  const path = `/webmasters/v3/sites/${encodeURIComponent(DOMAIN)}/searchAnalytics/query`;
  const answer = await fetch(of.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, ...answerSchema.parse(await answer.json()) };
}

/** Everything of the days, by page and by other keys if they say so. */
const rows = async (startDate: string, endDate = startDate, more = {}) =>
  (await ask({ startDate, endDate, dimensions: ['page'], rowLimit: 25_000, ...more })).rows;
const pagesOf = (list: readonly Row[]) => list.map(({ keys }) => keys.at(-1) ?? '');
const sumOf = (list: readonly Row[], of: 'clicks' | 'impressions' = 'impressions') =>
  list.reduce((sum, row) => sum + row[of], 0);

describe('a day', () => {
  it('is the same whenever it is asked for once it is final', async () => {
    const before = await rows(FINAL);
    expect(before.length).toBeGreaterThan(50);
    const young = await start();
    young.advance(30);
    const later = { startDate: FINAL, endDate: FINAL, dimensions: ['page'], rowLimit: 25_000, dataState: 'all' };
    expect((await ask(later, young)).rows).toEqual(before);
    const byDate = await rows(FINAL, FINAL, { dimensions: ['date', 'page'] });
    expect(byDate).toEqual(before.map((row) => ({ ...row, keys: [FINAL, ...row.keys] })));
    await young.close();
  });

  it('adds up: pages to the date, days to the range, windows to the whole', async () => {
    const [startDate, endDate] = ['2025-12-01', FINAL];
    const dates = { dimensions: ['date'], aggregationType: 'byPage' };
    const days = await rows(startDate, endDate, dates);
    const each = await rows(startDate, endDate, { dimensions: ['date', 'page'] });
    for (const day of days) {
      const ofDay = each.filter(({ keys }) => keys[0] === day.keys[0]);
      expect([sumOf(ofDay), sumOf(ofDay, 'clicks')]).toEqual([day.impressions, day.clicks]);
    }
    const range = await rows(startDate, endDate);
    expect(sumOf(range)).toBe(sumOf(days));
    expect(new Set(pagesOf(range))).toEqual(new Set(pagesOf(each)));
    const size = Math.ceil(each.length / 3);
    const windows = [0, size, 2 * size].map((startRow) =>
      rows(startDate, endDate, { dimensions: ['date', 'page'], rowLimit: size, startRow }),
    );
    expect((await Promise.all(windows)).flat()).toEqual(each);
  });
});

describe('what is incomplete', () => {
  it('is marked, left out of final data, and grows every night until it is final', async () => {
    const young = await start();
    const day = addDays(TODAY, 3);
    const counts: number[] = [];
    for (let night = 0; night < 8; night++) {
      const today = addDays(TODAY, night);
      const query = { startDate: FINAL, endDate: today, dimensions: ['date'], rowLimit: 25_000 };
      const [all, final] = [await ask({ ...query, dataState: 'all' }, young), await ask(query, young)];
      const incomplete = all.metadata?.first_incomplete_date ?? '';
      expect(all.rows.at(-1)?.keys).toEqual([today]);
      expect(final).toMatchObject({ rows: all.rows.filter(({ keys: [date = ''] }) => date < incomplete) });
      counts.push(sumOf(all.rows.filter(({ keys: [date] }) => date === day)));
      young.advance();
    }
    expect(counts.slice(0, 3)).toEqual([0, 0, 0]);
    expect(counts.slice(3)).toEqual(counts.slice(3).toSorted((a, b) => a - b));
    expect(counts[6]).toBe(counts[7]);
    await young.close();
  });
});

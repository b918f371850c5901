import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type SearchConsole, startSearchConsole } from '../../../../src/app/demo/search-console/search-console.js';
import { addDays, MINUTE_MS } from '../../../../src/base/time.js';
import { SEARCH_TYPES } from '../../../../src/source/source.js';

const DOMAIN = 'sc-domain:example.com';
const NEWS = 'sc-domain:site-2.example';
const BLOG = 'https://www.example.com/blog/';
const FEW_ROWS = 'https://www.example.com/products/';
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
  responseAggregationType: z.enum(['byPage', 'byProperty']).optional(),
  error: z.looseObject({ errors: z.array(z.looseObject({ reason: z.string() })).default([]) }).optional(),
});
type Row = z.infer<typeof rowSchema>;

let now = Date.parse('2026-01-21T02:00:00Z');
let google: SearchConsole;
beforeAll(async () => {
  google = await start();
});
afterAll(() => google.close());

function start() {
  return startSearchConsole({
    clock: () => now,
    websites: [
      { id: 'w', pages: 3000 },
      { id: 'n', pages: 500, news: true },
    ],
    nights: NIGHTS,
    token: 'given',
    queriesPerMinute: 1e6,
    properties: [
      { siteUrl: BLOG, queriesPerMinute: 5 },
      { siteUrl: FEW_ROWS, rowsPerDay: 20 },
    ],
  });
}

async function ask(body: object, property = DOMAIN, of = google) {
  const headers = { authorization: 'Bearer given', 'content-type': 'application/json' };
  const path = `/webmasters/v3/sites/${encodeURIComponent(property)}/searchAnalytics/query`;
  const answer = await fetch(of.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, ...answerSchema.parse(await answer.json()) };
}

/** Everything of the days, by page and by other keys if they say so. */
const rows = async (startDate: string, endDate = startDate, more = {}, property = DOMAIN) =>
  (await ask({ startDate, endDate, dimensions: ['page'], rowLimit: 25_000, ...more }, property)).rows;
const pagesOf = (list: readonly Row[]) => list.map(({ keys }) => keys.at(-1) ?? '');
const sumOf = (list: readonly Row[], of: 'clicks' | 'impressions' = 'impressions') =>
  list.reduce((sum, row) => sum + row[of], 0);

describe('a day', () => {
  it('is the same whenever it is asked for once it is final', async () => {
    const young = await start();
    const before = await ask(
      { startDate: FINAL, endDate: FINAL, dimensions: ['page'], rowLimit: 25_000 },
      DOMAIN,
      young,
    );
    expect(before.rows.length).toBeGreaterThan(50);
    young.advance(30);
    const query = { startDate: FINAL, endDate: FINAL, dimensions: ['page'], rowLimit: 25_000, dataState: 'all' };
    expect((await ask(query, DOMAIN, young)).rows).toEqual(before.rows);
    expect(await rows(FINAL)).toEqual(before.rows);
    const byDate = await rows(FINAL, FINAL, { dimensions: ['date', 'page'] });
    expect(byDate).toEqual(before.rows.map((row) => ({ ...row, keys: [FINAL, ...row.keys] })));
    await young.close();
  });

  it.each(SEARCH_TYPES)('adds up for %s: pages to the date, days to the range, windows to the whole', async (type) => {
    const [startDate, endDate] = ['2025-12-01', FINAL];
    const dates = { dimensions: ['date'], aggregationType: 'byPage', type };
    for (const property of [DOMAIN, NEWS]) {
      const days = await rows(startDate, endDate, dates, property);
      const each = await rows(startDate, endDate, { dimensions: ['date', 'page'], type }, property);
      for (const day of days) {
        const ofDay = each.filter(({ keys }) => keys[0] === day.keys[0]);
        expect([sumOf(ofDay), sumOf(ofDay, 'clicks')]).toEqual([day.impressions, day.clicks]);
      }
      const range = await rows(startDate, endDate, { type }, property);
      expect(sumOf(range)).toBe(sumOf(days));
      expect(new Set(pagesOf(range))).toEqual(new Set(pagesOf(each)));
      const size = Math.ceil(each.length / 3);
      const query = { startDate, endDate, dimensions: ['date', 'page'], type, rowLimit: Math.max(1, size) };
      const windows = [0, size, 2 * size, 3 * size].map(
        async (startRow) => (await ask({ ...query, startRow }, property)).rows,
      );
      expect((await Promise.all(windows)).slice(0, size === 0 ? 1 : 4).flat()).toEqual(each);
      const total = await rows(startDate, endDate, { dimensions: [], aggregationType: 'byPage', type }, property);
      expect(sumOf(total)).toBe(sumOf(days));
    }
  });

  it('is cut at the most clicked rows, and its total counts all', async () => {
    const blank = { dimensions: ['date'], aggregationType: 'byPage' };
    const [cut, whole] = [await rows(FINAL, FINAL, {}, FEW_ROWS), await rows(FINAL)];
    const inDirectory = whole.filter(({ keys: [url] }) => url?.startsWith(FEW_ROWS));
    expect(cut).toEqual(inDirectory.slice(0, 20));
    expect(sumOf(await rows(FINAL, FINAL, blank, FEW_ROWS))).toBe(sumOf(inDirectory));
    const days = await rows('2026-01-08', FINAL, { dimensions: ['date', 'page'] }, FEW_ROWS);
    expect(days.length).toBe(60);
    expect((await rows('2026-01-08', FINAL, {}, FEW_ROWS)).length).toBeLessThanOrEqual(60);
  });
});

describe('what is incomplete', () => {
  it('is marked, left out of final data, and grows every night until it is final', async () => {
    const young = await start();
    const lags = new Set<number>();
    const day = addDays(TODAY, 3);
    const counts: number[] = [];
    for (let night = 0; night < 8; night++) {
      const today = addDays(TODAY, night);
      const query = { startDate: FINAL, endDate: today, dimensions: ['date'], rowLimit: 25_000 };
      const [all, final] = [await ask({ ...query, dataState: 'all' }, DOMAIN, young), await ask(query, DOMAIN, young)];
      const incomplete = all.metadata?.first_incomplete_date ?? '';
      lags.add((Date.parse(today) - Date.parse(incomplete)) / 86_400_000);
      expect(all.rows.at(-1)?.keys).toEqual([today]);
      expect(final).toMatchObject({ rows: all.rows.filter(({ keys: [date = ''] }) => date < incomplete) });
      expect(final.metadata).toBeUndefined();
      counts.push(sumOf(all.rows.filter(({ keys: [date] }) => date === day)));
      young.advance();
    }
    expect(lags).toEqual(new Set([1, 2]));
    expect(counts.slice(0, 3)).toEqual([0, 0, 0]);
    expect(counts[4]).toBeGreaterThan(2 * (counts[3] ?? 0));
    expect(counts.slice(3)).toEqual(counts.slice(3).toSorted((a, b) => a - b));
    expect(counts[6]).toBe(counts[7]);
    await young.close();
  });
});

describe('refusals', () => {
  const query = { startDate: FINAL, endDate: FINAL };

  it('begin with the query that is too many for a minute, and end with it', async () => {
    const minute = () => Promise.all(Array.from({ length: 9 }, () => ask(query, BLOG)));
    const answers = await minute();
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 403, 403, 429, 429]);
    const reasons = answers.flatMap(({ error }) => error?.errors ?? []).map(({ reason }) => reason);
    expect(new Set(reasons)).toEqual(new Set(['quotaExceeded', 'rateLimitExceeded']));
    now += MINUTE_MS;
    expect((await minute()).filter(({ status }) => status === 200)).toHaveLength(5);
  });
});

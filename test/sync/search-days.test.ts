import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { findAnalysis } from '../../src/answers/query/catalog.js';
import { valuesOf } from '../../src/answers/query/parameters.js';
import { periodNote } from '../../src/answers/query/period-note.js';
import { readSearch } from '../../src/answers/report/search.js';
import { readStatus } from '../../src/answers/status/status.js';
import { unreadText } from '../../src/answers/status/website-status.js';
import type { SearchConsole } from '../../src/app/demo/search-console/search-console.js';
import { watchCrashPoints } from '../../src/base/storage/crash-point.js';
import { MemoryError } from '../../src/base/storage/engine.js';
import { addDays, DAY_MS } from '../../src/base/time.js';
import { analysisRows, openReader, type Row, rowsOf } from '../answers/query/given.js';
import { testAtLength } from '../given/at-length.js';
import { givenProperty, PROPERTY as SIMULATED } from './given-property.js';
import { PROPERTY, SHOP, scriptedProperty } from './scripted-property.js';

/** The date of the first night; its last final day is three days before. */
const FIRST_NIGHT = '2026-03-01';
const LAST_FINAL = '2026-02-26';
const HISTORY = [{ history: '30d' }, { searchDays: 10 }] as const;

const heldAnswer = z.object({
  rows: z
    .array(
      z.object({
        keys: z.tuple([z.string()]),
        clicks: z.int(),
        impressions: z.int(),
        position: z.number().default(Number.NaN),
      }),
    )
    .default([]),
});

/** What the simulated Search Console answers. */
async function held({ url }: SearchConsole, query: object) {
  const body = { rowLimit: 25_000, ...query };
  const path = `/webmasters/v3/sites/${encodeURIComponent(SIMULATED)}/searchAnalytics/query`;
  const headers = { authorization: 'Bearer given', 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return heldAnswer.parse(await answer.json()).rows;
}

/** What it answers about a day, by page. */
async function heldRows(service: SearchConsole, date: string, type: string) {
  const rows = await held(service, { startDate: date, endDate: date, dimensions: ['page'], type });
  return rows
    .map(({ keys: [page], clicks, impressions, position }) => {
      return { date, type, url: page, clicks, impressions, position: Number.isNaN(position) ? null : position };
    })
    .sort((one, other) => (one.url < other.url ? -1 : 1));
}

type Shown = (date: string, type: string) => readonly (readonly [string, number, number, number])[];

/** Two pages on each day from one on, in web search and, one of them, in image search. */
const shown =
  (from: string): Shown =>
  (date, type) => {
    if (date < from || (type !== 'web' && type !== 'image')) return [];
    const clicks = Number(date.slice(8));
    const pages = [
      [`${SHOP}/a`, clicks, 100, 2],
      [`${SHOP}/b`, 0, clicks, 7],
    ] as const;
    return type === 'web' ? pages : pages.slice(1);
  };

const days = (from: string, number: number) => Array.from({ length: number }, (_, at) => addDays(from, -at));
const pagesOf = (searched: readonly string[], type = 'web') =>
  searched
    .flatMap((call) => (call.startsWith(`${type} page `) ? [call.slice(-10)] : []))
    .sort()
    .reverse();

test('days are fetched newest first, some a night, each once when it is final, until the history is whole', async () => {
  const { pass, calls, rows, wrong, warehouse } = await scriptedProperty(onTestFinished, {}, ...HISTORY);
  const search = shown('2026-02-05');
  const said = { sitemap: [`${SHOP}/a`], search };
  const preliminary = (night: number) => days(addDays(FIRST_NIGHT, night), 3);
  expect(await pass(said)).toMatchObject({ listing_status: 'complete', pages: { listed: 2 } });
  expect(pagesOf(calls.searched)).toEqual([...preliminary(0), ...days(LAST_FINAL, 10)]);
  // Where a type has no data, no day is asked for.
  expect(pagesOf(calls.searched, 'video')).toEqual([]);
  const input = { warehouse, memoryLimit: 256e6, maxAge: DAY_MS, websites: [], now: Date.now() };
  expect((await readStatus(input)).sources).toMatchObject([{ failed: 0, remarked: 0 }]);
  await pass(said);
  expect(pagesOf(calls.searched)).toEqual([...preliminary(1), '2026-02-27', ...days('2026-02-16', 9)]);
  await pass(said);
  expect(pagesOf(calls.searched)).toEqual([...preliminary(2), '2026-02-28', ...days('2026-02-07', 3)]);
  await pass(said);
  expect(pagesOf(calls.searched, 'image')).toEqual([...preliminary(3), '2026-03-01']);
  expect(await rows('select search_days_left as days from snapshots order by snapshot_id')).toEqual(
    [12, 3, 0, 0].map((days) => ({ days })),
  );
  const known = days(addDays(FIRST_NIGHT, 3), 28);
  const expected = ['image', 'web'].flatMap((type) =>
    known.flatMap((date) =>
      search(date, type).map(([url, clicks, impressions, position]) => {
        return { date, type, url, clicks, impressions, position, is_final: date <= '2026-03-01' };
      }),
    ),
  );
  const columns = '"date"::varchar as "date", "type", url, clicks::int as clicks, impressions::int as impressions';
  expect(
    await rows(`select ${columns}, "position", is_final from search_days order by "type", "date" desc, url`),
  ).toEqual(expected);
  const empty = `select distinct "type" from search_dates where pages = 0 order by 1`;
  expect((await rows(empty)).map(({ type }) => type)).toEqual(['discover', 'googleNews', 'news', 'video']);
  expect(await wrong()).toEqual([]);
});

test('a day that may still change is replaced each night', async () => {
  const { pass, rows } = await scriptedProperty(onTestFinished, {}, ...HISTORY);
  const growing = (impressions: number) => ({
    search: (date: string, type: string) =>
      type === 'web' && date === FIRST_NIGHT ? [[`${SHOP}/a`, 1, impressions, 2] as const] : [],
  });
  const figures = 'select impressions::int as impressions, is_final from search_days';
  const seen: unknown[] = [];
  for (const impressions of [10, 20, 30, 40]) {
    await pass(growing(impressions));
    seen.push(...(await rows(figures)));
  }
  expect(seen).toEqual([10, 20, 30, 40].map((impressions, at) => ({ impressions, is_final: at === 3 })));
});

test('a missing day is unknown, and no zero, until it was delivered or was empty for two weeks', async () => {
  const { pass, rows, warehouse } = await scriptedProperty(onTestFinished, {}, ...HISTORY);
  const gap = addDays(LAST_FINAL, -1);
  const usual = shown('2026-02-05');
  const lacking = (date: string, type: string) => (date === gap && type === 'web' ? [] : usual(date, type));
  const known = `select pages::int as pages, unknown from search_dates where "date" = '${gap}' and "type" = 'web'`;
  for (let night = 0; night < 3; night++) await pass({ search: lacking });
  expect(await rows(known)).toEqual([{ pages: null, unknown: 'missing' }]);
  const reader = await openReader(warehouse, onTestFinished);
  const sources = await analysisRows(reader, 'sources', { source: 'search analytics', since: '2026-01-01' });
  expect(sources.map(({ problem }) => problem)).toEqual(
    [null, 3, 12].map((left) =>
      expect.stringMatching(
        `^of ${gap} Google gives no.* again${left ? `; days of the history not read yet: ${left}` : ''}$`,
      ),
    ),
  );
  const weeks = await analysisRows(reader, 'search_presence', { since: '2026-02-20', until: LAST_FINAL, by: 'day' });
  expect(weeks.map(({ starts_on }) => starts_on)).toEqual(
    ['20', '21', '22', '23', '24', '26'].map((day) => `2026-02-${day}`),
  );
  const analysis = findAnalysis('search_presence');
  const parameters = valuesOf(analysis, new Map([['until', LAST_FINAL]]), reader.today);
  expect(await periodNote(reader, { ...analysis, parameters })).toMatch(/ 1 day is unknown, the last one 2026-02-25: /);
  const unread = '1 day of search analytics is unknown: Google gives no figures, or has corrected them';
  expect(await readSearch(reader, PROPERTY, '2026-03-03')).toMatchObject({ unread });
  const { websites } = await readStatus({
    warehouse,
    memoryLimit: 256e6,
    maxAge: DAY_MS,
    websites: [],
    now: Date.now(),
  });
  expect(unreadText(websites[0]?.last_snapshot)).toBe(unread);
  await pass({ search: usual });
  expect(await rows(known)).toEqual([{ pages: 2, unknown: null }]);
  const gone = await scriptedProperty(onTestFinished, {}, ...HISTORY);
  const ended = (date: string, type: string) => (date >= gap ? [] : usual(date, type));
  await gone.pass({ search: ended });
  await gone.pass({ search: ended }, undefined, 13);
  expect(await gone.rows(known)).toEqual([{ pages: null, unknown: 'missing' }]);
  await gone.pass({ search: ended });
  expect(await gone.rows(known)).toEqual([{ pages: 0, unknown: null }]);
});

test('late, missing and corrected days are unknown or right on every night, and right at last', async () => {
  const late = { from: -8, to: -3, until: 4, share: 0 };
  const missing = { type: 'web', from: -20, to: -19, until: 12, share: 0 } as const;
  const corrected = { type: 'web', from: -30, to: -21, until: 2, share: 0.5 } as const;
  const { home, service, pass } = await givenProperty(onTestFinished, {
    ...{ pages: 200, token: 'given', days: [late, missing, corrected] },
    ...{ entry: { inspections_per_day: 1 }, settings: { history: '40d' } },
  });
  const sums = `select "date"::varchar as "date", impressions::int as impressions from search_dates
    where is_final and "type" = 'web' order by "date"`;
  const unknown: string[][] = [];
  let known: Row[] = [];
  for (const later of [0, 1, 1, 1, 1, 8]) {
    if (later > 0) pass(later);
    expect(await home.syncOne({ follow: false })).toMatchObject({ status: 'committed', listing_status: 'complete' });
    known = await rowsOf(await openReader(home.warehouse, onTestFinished), sums);
    expect(known.filter(({ impressions }) => impressions === 0)).toEqual([]);
    unknown.push(known.filter(({ impressions }) => impressions === null).map(({ date }) => String(date)));
  }
  const missed = ['2025-12-12', '2025-12-13'];
  const isLate = [...missed, ...days('2025-12-29', 6).reverse()];
  expect(unknown).toEqual([isLate, isLate, isLate, isLate, missed, []]);
  const from = String(known[0]?.['date']);
  const query = { dimensions: ['date'], type: 'web', aggregationType: 'byPage' };
  const right = await held(service, { startDate: from, endDate: '2026-12-31', ...query });
  expect(known).toEqual(right.map(({ keys: [date], impressions }) => ({ date, impressions })));
});

test('days that Google corrected are read again, as many a night as new ones, and unknown until then', async () => {
  const { pass, rows, wrong } = await scriptedProperty(onTestFinished, {}, { history: '30d' }, { searchDays: 6 });
  const usual = shown('2026-02-16');
  const corrected = (date: string, type: string) =>
    date > LAST_FINAL
      ? usual(date, type)
      : usual(date, type).map(([page, clicks, , position]) => [page, clicks, 7, position] as const);
  const known = `select unknown is null as is_known, count(*)::int as days, sum(impressions)::int as impressions
    from search_dates where "type" = 'web' and "date" <= '${LAST_FINAL}' group by all order by all`;
  const shownOn = `select count(*)::int as pages from search_days where "type" = 'web' and "date" <= '${LAST_FINAL}'`;
  for (let night = 0; night < 2; night++) await pass({ search: usual });
  expect(await rows(known)).toMatchObject([{ is_known: true, days: 11 }]);
  await pass({ search: corrected });
  const half = { days: 6, impressions: 6 * 14 };
  expect(await rows(known)).toEqual([
    { is_known: false, days: 5, impressions: null },
    { is_known: true, ...half },
  ]);
  expect(await rows(shownOn)).toEqual([{ pages: 12 }]);
  await pass({ search: corrected });
  expect(await rows(known)).toEqual([{ is_known: true, days: 11, impressions: 11 * 14 }]);
  expect(await rows(shownOn)).toEqual([{ pages: 22 }]);
  expect(await rows('select search_days_unknown as days from snapshots order by snapshot_id')).toEqual(
    [0, 0, 5, 0].map((days) => ({ days })),
  );
  expect(await wrong()).toEqual([]);
});

test('a refused day leaves the listing partial, if it is recent, and is fetched the next night', async () => {
  const { pass, calls, rows } = await scriptedProperty(onTestFinished, {}, { history: '200d' }, { searchDays: 10 });
  const refusing = (refused: string) => (date: string, type: string) =>
    date === refused && type === 'web' ? 400 : shown('2025-11-01')(date, type);
  const sitemap = [`${SHOP}/a`];
  const refused = await pass({ sitemap, search: refusing('2026-02-20') });
  expect(refused).toMatchObject({ listing_status: 'partial', pages: { listed: 2 } });
  expect(refused.error).toMatch(/^search analytics of \S+ of 2026-02-20 cannot be read: Google answered 400/);
  expect(await pass({ sitemap, search: shown('2025-11-01') })).toMatchObject({ listing_status: 'complete' });
  expect(pagesOf(calls.searched)).toContain('2026-02-20');
  const old = await scriptedProperty(onTestFinished, {}, { history: '200d' }, { searchDays: 200 });
  expect(await old.pass({ sitemap, search: refusing('2025-11-10') })).toMatchObject({ listing_status: 'complete' });
  expect(await old.rows("select remark from listing_sources where source = 'search analytics'")).toEqual([
    { remark: expect.stringMatching(/^of 2025-11-10 cannot be read/) },
  ]);
  expect(await rows('from search_days where "date" = \'2026-02-20\' and "type" = \'web\'')).toHaveLength(2);
});

test('a day that is not known is no absence: nothing came or went around it', async () => {
  const { pass, rows, warehouse } = await scriptedProperty(
    onTestFinished,
    {},
    { history: '150d' },
    { searchDays: 200 },
  );
  const search = (date: string, type: string) =>
    type === 'web' && date === '2026-01-07' ? 400 : shown('2025-10-01')(date, type);
  await pass({ sitemap: [`${SHOP}/a`], search });
  expect(await rows('select count(*)::int as types from search_dates where "date" = \'2026-01-07\'')).toEqual([
    { types: 5 },
  ]);
  const reader = await openReader(warehouse, onTestFinished);
  const given = { since: '2025-11-24', until: '2026-02-15' };
  const weeks = await analysisRows(reader, 'search_presence', given);
  const told = weeks.map(
    ({ starts_on, days, entered, left_search }) => `${starts_on} ${days} ${entered} ${left_search}`,
  );
  expect(told).toEqual([
    ...['2025-11-24 7 0 0', '2025-12-01 7 0 0', '2025-12-08 7 0 null', '2025-12-15 7 0 null', '2025-12-22 7 0 null'],
    ...[
      '2025-12-29 7 0 null',
      '2026-01-05 6 0 0',
      '2026-01-12 7 null 0',
      '2026-01-19 7 null 0',
      '2026-01-26 7 null null',
    ],
    ...['2026-02-02 7 null null', '2026-02-09 7 0 null'],
  ]);
});

test('a type that cannot be read is named, and costs no other its days', async () => {
  const { pass, rows } = await scriptedProperty(onTestFinished, {}, ...HISTORY);
  const refusing = { refusedType: 'discover' } as const;
  const night = await pass({ sitemap: [`${SHOP}/a`], search: shown('2026-02-05'), ...refusing });
  expect(night).toMatchObject({ listing_status: 'partial', pages: { listed: 2 } });
  expect(night.error).toMatch(
    /^search analytics of \S+ \(its days of type discover\) cannot be read: Google answered 400/,
  );
  expect(await rows('select count(distinct "type")::int as types from search_dates')).toEqual([{ types: 5 }]);
  expect(await pass({ sitemap: [`${SHOP}/a`], search: shown('2026-02-05') })).toMatchObject({
    listing_status: 'complete',
  });
  expect(await rows('select count(distinct "type")::int as types from search_dates')).toEqual([{ types: 6 }]);
});

test('a run that is killed between two days fetches none of the journaled days again', async () => {
  const { pass, calls, rows, wrong } = await scriptedProperty(onTestFinished, {}, ...HISTORY);
  const said = { search: shown('2026-01-01') };
  const killed = watchCrashPoints((step) => {
    if (step === 'searched 2026-02-20 web') throw new Error('killed');
  });
  expect(await pass(said)).toMatchObject({ status: 'failed' });
  killed();
  const before = pagesOf(calls.searched);
  expect(await pass(said, undefined, 0)).toMatchObject({ status: 'committed', resumed: true });
  const after = pagesOf(calls.searched);
  expect(after).not.toContain('2026-02-20');
  // A day that was under way when the process ended may be fetched twice.
  expect(before.filter((date) => after.includes(date)).length).toBeLessThanOrEqual(4);
  expect(await rows('select count(*)::int as rows from search_days where "type" = \'web\'')).toEqual([{ rows: 26 }]);
  expect(await wrong()).toEqual([]);
});

test('a run that is resumed after its deadline commits what it had read, and the next one fetches the rest', async () => {
  const { pass, rows } = await scriptedProperty(onTestFinished, {}, ...HISTORY);
  const said = { sitemap: [`${SHOP}/a`], search: shown('2026-01-01') };
  const killed = watchCrashPoints((step) => {
    if (step === 'searched 2026-02-20 web') throw new Error('killed');
  });
  await pass(said);
  killed();
  expect(await pass(said)).toMatchObject({ status: 'committed', resumed: true, listing_status: 'partial' });
  expect(await rows('select count(*)::int as rows from search_final')).not.toEqual([{ rows: 0 }]);
  expect(await pass(said)).toMatchObject({ status: 'committed', resumed: false, listing_status: 'complete' });
});

test.each([
  ['wrote the plan', 'search analytics is left out: needs more memory', 1],
  ['staged search_fresh', 'search analytics is not stored: needs more memory', 0],
])('memory that runs out for search (%s) costs no snapshot, and the run says so', async (at, error, days) => {
  const { pass, rows, wrong } = await scriptedProperty(onTestFinished, {}, ...HISTORY);
  let isShort = true;
  const ended = watchCrashPoints((step) => {
    if (step !== at || !isShort) return;
    isShort = false;
    throw new MemoryError('needs more memory', {}, {});
  });
  const night = await pass({ sitemap: [`${SHOP}/a`], search: shown('2026-02-05') });
  ended();
  expect(night).toMatchObject({
    status: 'committed',
    listing_status: 'complete',
    reports_status: 'interrupted',
    error,
  });
  expect(night.inspected).toEqual([`${SHOP}/a`, `${SHOP}/b`]);
  expect(await rows('select count(*) > 0 as is_stored from search_dates')).toEqual([{ is_stored: days === 1 }]);
  expect(await pass({ sitemap: [`${SHOP}/a`], search: shown('2026-02-05') })).toMatchObject({
    reports_status: 'complete',
  });
  expect(await rows('select count(*)::int as rows from search_days where "type" = \'web\' and is_final')).not.toEqual([
    { rows: 0 },
  ]);
  expect(await wrong()).toEqual([]);
});

testAtLength('a day with 50,000 pages is marked as cut', async () => {
  const { pass, calls, rows } = await scriptedProperty(onTestFinished, { inspections_per_day: 1 }, ...HISTORY);
  const all = Array.from({ length: 60_000 }, (_, at) => [`${SHOP}/${at}`, 0, 1, 9] as const);
  const cut = (date: string, type: string) => (date === LAST_FINAL && type === 'web' ? all : []);
  await pass({ search: cut });
  expect(pagesOf(calls.searched)).toHaveLength(2);
  expect(await rows('select pages, is_cut, impressions::int as impressions from search_dates where pages > 0')).toEqual(
    [{ pages: 50_000, is_cut: true, impressions: 60_000 }],
  );
});

test('the days of Discover and Google News, which know no position, equal what Search Console holds, day by day', async () => {
  const { home, service, pass } = await givenProperty(onTestFinished, {
    websites: [{ id: 'w', pages: 300, news: true }],
    token: 'given',
  });
  for (let night = 0; night < 3; night++) {
    if (night > 0) pass();
    expect(await home.syncOne()).toMatchObject({ listing_status: 'complete' });
  }
  const reader = await openReader(home.warehouse);
  const rows = await rowsOf(
    reader,
    `select "date"::varchar as "date", "type", url, clicks::int as clicks,
    impressions::int as impressions, "position" from search_days where is_final order by "date", "type", url`,
  );
  const known = await rowsOf(
    reader,
    'select "date"::varchar as "date", "type" from search_dates where is_final order by all',
  );
  const held = [];
  for (const { date, type } of known) held.push(...(await heldRows(service, `${date}`, `${type}`)));
  expect(new Set(rows.map(({ type }) => type)).size).toBeGreaterThan(3);
  expect(rows).toEqual(held);
});

test('a property that search never shows has no figures', async () => {
  const { rows, pass } = await scriptedProperty(onTestFinished);
  await pass({ sitemap: [`${SHOP}/a`], search: () => [] });
  expect(await rows('select search_days_left from snapshots')).toEqual([{ search_days_left: 0 }]);
  expect(await rows('select clicks, evidence, is_contradicted from pages')).toEqual([
    { clicks: null, evidence: null, is_contradicted: false },
  ]);
});

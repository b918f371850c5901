import { expect, onTestFinished, test } from 'vitest';
import { watchCrashPoints } from '../../src/base/storage/crash-point.js';
import { MemoryError } from '../../src/base/storage/engine.js';
import { addDays } from '../../src/base/time.js';
import { SHOP, scriptedProperty } from './scripted-property.js';

/** The date of the first night; its last final day is three days before. */
const FIRST_NIGHT = '2026-03-01';
const LAST_FINAL = '2026-02-26';
const [A, B] = [`${SHOP}/a`, `${SHOP}/b`];

const days = (from: string, number: number) => Array.from({ length: number }, (_, at) => addDays(from, -at));
const pagesOf = (searched: readonly string[], type = 'web') =>
  searched
    .flatMap((call) => (call.startsWith(`${type} page `) ? [call.slice(-10)] : []))
    .sort()
    .reverse();

/** Two pages on each day from one on, in web search and, one of them, in other types. */
const shown =
  (from: string, types = ['web', 'image']) =>
  (date: string, type: string): (readonly [string, number, number, number])[] => {
    if (date < from || !types.includes(type)) return [];
    const clicks = Number(date.slice(8));
    const other = [B, 0, clicks, 7] as const;
    return type === 'web' ? [[A, clicks, 100, 2], other] : [other];
  };

test('days are fetched newest first, some a night, each once when it is final; what is missing or corrected is unknown until then', async () => {
  const limits = [{ history: '30d' }, { searchDays: 15 }] as const;
  const { pass, calls, rows, wrong } = await scriptedProperty(onTestFinished, {}, ...limits);
  const gap = addDays(LAST_FINAL, -1);
  const usual = shown('2026-02-05', ['web', 'image', 'news', 'googleNews', 'discover']);
  /** What Google holds in the nights 0, 1, 3, and 15. */
  const search = (night: number) => (date: string, type: string) => {
    if (date > addDays(FIRST_NIGHT, night)) return [];
    // Delivered late; and never again.
    if ((type === 'news' && date === gap && night < 3) || (type === 'googleNews' && date >= gap)) return [];
    const all = usual(date, type);
    if (type === 'discover') return all.map(([url, clicks, impressions]) => [url, clicks, impressions] as const);
    // A day that grows, and days that are corrected afterwards.
    if (type === 'web' && date === FIRST_NIGHT) return [[A, 1, 10 + 10 * Math.min(night, 3), 2] as const];
    const isCorrected = type === 'web' && night >= 3 && date <= LAST_FINAL;
    return isCorrected ? all.map(([url, clicks]) => [url, clicks, 7, 2] as const) : all;
  };
  const said = (night: number) => ({ sitemap: [A], search: search(night) });
  const preliminary = (night: number) => days(addDays(FIRST_NIGHT, night), 3);
  const growing = `select sum(impressions)::int as shown, bool_and(is_final) as is_final from search_days
    where "date" = '${FIRST_NIGHT}' and "type" = 'web'`;
  const day = (type: string) =>
    rows(`select pages::int as pages, unknown from search_dates where "date" = '${gap}' and "type" = '${type}'`);

  expect(await pass(said(0))).toMatchObject({ listing_status: 'complete', pages: { listed: 2 } });
  expect(pagesOf(calls.searched)).toEqual([...preliminary(0), ...days(LAST_FINAL, 15)]);
  // Where a type has no data, no day is asked for.
  expect(pagesOf(calls.searched, 'video')).toEqual([]);
  expect(await rows(growing)).toEqual([{ shown: 10, is_final: false }]);

  await pass(said(1));
  expect(pagesOf(calls.searched)).toEqual([...preliminary(1), '2026-02-27', ...days('2026-02-11', 7)]);
  expect(await rows(growing)).toEqual([{ shown: 20, is_final: false }]);
  expect(await day('news')).toEqual([{ pages: null, unknown: 'missing' }]);

  await pass(said(3), 2);
  // As many corrected days as new ones, the newest first.
  expect(pagesOf(calls.searched)).toEqual([...preliminary(3), FIRST_NIGHT, '2026-02-28', ...days(LAST_FINAL, 15)]);
  expect(pagesOf(calls.searched, 'image')).toEqual([...preliminary(3), FIRST_NIGHT, '2026-02-28']);
  expect(await rows(growing)).toEqual([{ shown: 40, is_final: true }]);
  expect(await day('news')).toEqual([{ pages: 1, unknown: null }]);
  const corrected = `select unknown, count(*)::int as days, sum(impressions)::int as impressions from search_dates
    where "type" = 'web' and "date" <= '${LAST_FINAL}' group by all order by all`;
  expect(await rows(corrected)).toEqual([
    { unknown: 'corrected', days: 7, impressions: null },
    { unknown: null, days: 15, impressions: 210 },
  ]);
  expect(await day('googleNews')).toEqual([{ pages: null, unknown: 'missing' }]);

  await pass(said(15), 12);
  expect(await day('googleNews')).toEqual([{ pages: 0, unknown: null }]);
  const left = 'select search_days_left as days, search_days_unknown as unknown from snapshots order by snapshot_id';
  expect(await rows(left)).toMatchObject([
    { days: 7, unknown: 2 },
    { days: 0, unknown: 3 },
    { days: 0, unknown: 12 },
    { days: 0 },
  ]);
  const rest = `select url, "type", clicks::int as clicks, impressions::int as impressions, "position" from search_days
    where "date" = '2026-02-27' and is_final order by "type", url`;
  expect(await rows(rest)).toEqual([
    { url: B, type: 'discover', clicks: 0, impressions: 27, position: null },
    { url: B, type: 'image', clicks: 0, impressions: 27, position: 7 },
    { url: B, type: 'news', clicks: 0, impressions: 27, position: 7 },
    { url: A, type: 'web', clicks: 27, impressions: 100, position: 2 },
    { url: B, type: 'web', clicks: 0, impressions: 27, position: 7 },
  ]);
  expect(await wrong()).toEqual([]);
});

test('what is refused, killed or too large for memory costs nothing else, and is fetched another night', async () => {
  const limits = [{ history: '95d' }, { searchDays: 200 }] as const;
  const { pass, calls, rows } = await scriptedProperty(onTestFinished, {}, ...limits);
  /** Throws behind a step, once. */
  const failing = (at: string, error: Error) => {
    const ended = watchCrashPoints((step) => {
      if (step !== at) return;
      ended();
      throw error;
    });
  };
  const usual = shown('2026-02-05');
  const [recent, old] = ['2026-02-12', '2025-11-30'];
  const search = (date: string, type: string) =>
    date === old && type === 'web' ? usual(LAST_FINAL, type) : usual(date, type);
  const said = { sitemap: [A], search };
  const refusing = {
    ...said,
    refusedType: 'discover',
    search: (date: string, type: string) => (type === 'web' && [recent, old].includes(date) ? 400 : search(date, type)),
  };
  failing('searched 2026-02-20 web', new Error('killed'));
  expect(await pass(refusing)).toMatchObject({ status: 'failed' });
  const before = pagesOf(calls.searched);
  const refused = await pass(refusing, 0);
  expect(refused).toMatchObject({
    status: 'committed',
    resumed: true,
    listing_status: 'partial',
    pages: { listed: 2 },
  });
  // A day that was under way when the process ended may be fetched twice.
  expect(pagesOf(calls.searched)).not.toContain('2026-02-20');
  expect(before.filter((date) => pagesOf(calls.searched).includes(date)).length).toBeLessThanOrEqual(4);
  expect(refused.error).toMatch(/ of 2026-02-12 cannot be read: Google answered 400/);
  expect(refused.error).toMatch(/ \(its days of type discover\) cannot be read: Google answered 400/);
  // What is older than the days whose pages are listed is only remarked.
  expect(await rows("select remark from listing_sources where source = 'search analytics'")).toEqual([
    { remark: expect.stringMatching(/^of 2025-11-30 cannot be read/) },
  ]);
  const types = 'select count(distinct "type")::int as types from search_dates';
  expect(await rows(types)).toEqual([{ types: 5 }]);

  failing('staged search_fresh', new MemoryError('needs more memory', {}, {}));
  expect(await pass(said)).toMatchObject({
    ...{ status: 'committed', listing_status: 'complete', reports_status: 'interrupted' },
    ...{ inspected: [A, B], error: 'search analytics is not stored: needs more memory' },
  });
  expect(await rows(types)).toEqual([{ types: 5 }]);
  expect(await pass(said)).toMatchObject({ listing_status: 'complete', reports_status: 'complete' });
  expect(await rows(types)).toEqual([{ types: 6 }]);
  expect(await rows(`from search_days where "date" in ('${recent}', '${old}') and "type" = 'web'`)).toHaveLength(4);
});

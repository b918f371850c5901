import { expect, onTestFinished, test } from 'vitest';
import { addDays } from '../../src/base/time.js';
import { SHOP, scriptedProperty } from '../sync/scripted-property.js';
import { analysisRows, openReader } from './query/given.js';

/** The last final day of the only night. */
const LAST = '2026-02-26';
const DAYS = 60;

/** The days on which each page is shown, counted back from the last one. */
const SHOWN: Record<string, (ago: number) => boolean> = {
  '/daily': () => true,
  '/gone/a': (ago) => ago > 20,
  '/gone/b': (ago) => ago > 19,
  '/weekly': (ago) => ago % 7 === 6,
  '/once': (ago) => ago === 30,
  '/left-and-back': (ago) => ago > 50 || ago < 10,
};

function search(date: string, type: string) {
  const ago = Array.from({ length: DAYS }, (_, at) => at).find((at) => addDays(LAST, -at) === date);
  if (ago === undefined || type !== 'web') return [];
  const pages = Object.entries(SHOWN).filter(([, isShown]) => isShown(ago));
  return pages.map(([path]) => [SHOP + path, 2, 10, 3] as const);
}

test('search_lost names pages whose silence is unlikely by their own rhythm, with the clicks they had', async () => {
  const { pass, warehouse } = await scriptedProperty(onTestFinished, {}, { history_days_per_night: 100 });
  await pass({ sitemap: [`${SHOP}/daily`], search });
  const reader = await openReader(warehouse, onTestFinished);
  const lost = await analysisRows(reader, 'search_lost', { until: '2026-03-01' });
  expect(
    lost.map(({ url, clicks, silent_days, days_shown, days, status }) => [
      url,
      clicks,
      silent_days,
      days_shown,
      days,
      status,
    ]),
  ).toEqual([
    [`${SHOP}/gone/b`, 56, 20, 40, 40, 'indexed'],
    [`${SHOP}/gone/a`, 56, 21, 39, 39, 'indexed'],
  ]);
  // As of an earlier day another page was silent, and these were shown.
  const earlier = await analysisRows(reader, 'search_lost', { until: '2026-02-05' });
  expect(earlier.map(({ url, last_shown }) => [url, last_shown])).toEqual([[`${SHOP}/left-and-back`, '2026-01-06']]);
});

test('search_presence counts the pages of each week, and those that came and went for 28 days', async () => {
  const { pass, warehouse } = await scriptedProperty(onTestFinished, {}, { history_days_per_night: 100 });
  await pass({ sitemap: [`${SHOP}/daily`], search });
  const reader = await openReader(warehouse, onTestFinished);
  const given = { since: '2025-12-01', until: '2026-03-01' };
  const weeks = await analysisRows(reader, 'search_presence', given);
  const counted = weeks.map(({ starts_on, pages, entered, left_search }) =>
    [starts_on, pages, entered, left_search].join(' '),
  );
  expect(counted.slice(0, 3)).toEqual(['2025-12-29 5  0', '2026-01-05 5  1', '2026-01-12 4  0']);
  // Back after 40 days; whether a page left in the last 28 days is not known yet.
  expect(counted.slice(-2)).toEqual(['2026-02-16 3 1 ', '2026-02-23 2 0 ']);
  const byDirectory = await analysisRows(reader, 'search_presence', { ...given, directories: 'true', by: 'month' });
  expect(byDirectory.filter(({ directory }) => directory === '/gone/').map(({ pages }) => pages)).toEqual([2, 2, 2]);
});

import { beforeAll, expect, test } from 'vitest';
import { questionOf } from '../../src/answers/query/ask-rows.js';
import { findAnalysis } from '../../src/answers/query/catalog.js';
import { periodNote, whyNoRows } from '../../src/answers/query/period-note.js';
import type { Reader } from '../../src/answers/query/reader.js';
import { addDays } from '../../src/base/time.js';
import { atFileEnd } from '../given/folder.js';
import { SHOP, scriptedProperty } from '../sync/scripted-property.js';
import { analysisRows, openReader } from './query/given.js';

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
  // Seven days after the first one are a rhythm, six are none.
  '/on-8-days': (ago) => ago >= 32 && ago < 40,
  '/on-7-days': (ago) => ago >= 32 && ago < 39,
};

/** A day that is not final yet shows the pages of the last one that is. */
const search = (date: string, type: string) => {
  const shown = date === '2026-02-27' ? LAST : date;
  const ago = Array.from({ length: DAYS }, (_, at) => at).find((at) => addDays(LAST, -at) === shown);
  if (ago === undefined || type !== 'web') return [];
  const pages = Object.entries(SHOWN).filter(([, isShown]) => isShown(ago));
  return pages.map(([path]) => [SHOP + path, 2, 10, 3] as const);
};

let reader: Reader;

beforeAll(async () => {
  const { pass, warehouse } = await scriptedProperty(atFileEnd);
  await pass({ sitemap: [`${SHOP}/daily`], search });
  reader = await openReader(warehouse, atFileEnd);
});

test('search_lost names pages whose silence is unlikely by their own rhythm, with the clicks they had', async () => {
  const lost = await analysisRows(reader, 'search_lost', { until: '2026-03-01' });
  const shown = ['url', 'clicks', 'silent_days', 'days_shown', 'days', 'status'];
  expect(lost.map((row) => shown.map((name) => row[name]))).toEqual([
    [`${SHOP}/gone/b`, 56, 20, 39, 39, 'indexed'],
    [`${SHOP}/gone/a`, 56, 21, 38, 38, 'indexed'],
    [`${SHOP}/on-8-days`, 16, 32, 7, 7, 'indexed'],
  ]);
  // As of an earlier day another page was silent, and these were shown.
  const earlier = await analysisRows(reader, 'search_lost', { until: '2026-02-05' });
  expect(earlier.map(({ url, last_shown }) => [url, last_shown])).toEqual([
    [`${SHOP}/left-and-back`, '2026-01-06'],
    [`${SHOP}/on-8-days`, '2026-01-25'],
  ]);
});

test('search_presence counts the pages of each week, and those that came and went for 28 days', async () => {
  const given = { since: '2025-12-01', until: '2026-03-01' };
  const weeks = await analysisRows(reader, 'search_presence', given);
  const counted = weeks.map(({ starts_on, pages, entered, left_search }) =>
    [starts_on, pages, entered, left_search].join(' '),
  );
  expect(counted.slice(0, 3)).toEqual(['2025-12-29 5  0', '2026-01-05 5  1', '2026-01-12 5  0']);
  // Back after 40 days; whether a page left in the last 28 days is not known yet.
  expect(counted.slice(-2)).toEqual(['2026-02-16 3 1 ', '2026-02-23 2 0 ']);
  const byDirectory = await analysisRows(reader, 'search_presence', { ...given, directories: 'true', by: 'month' });
  expect(byDirectory.filter(({ directory }) => directory === '/gone/').map(({ pages }) => pages)).toEqual([2, 2, 2]);
});

test('the notes of both analyses name the days of search analytics that they cover, or those that are known', async () => {
  const asked = (name: string, given: Record<string, string>) =>
    questionOf(reader, findAnalysis(name), new Map(Object.entries(given)));
  const note = async (name: string, given: Record<string, string>) => periodNote(reader, await asked(name, given));
  expect(await note('search_presence', { since: '2026-02-01' })).toBe(
    'Search analytics of 2026-02-02 to 2026-02-27, preliminary from 2026-02-27 on.',
  );
  const before = await asked('search_presence', { since: '2020-01-01', until: '2020-02-01' });
  expect(await whyNoRows(reader, before)).toEqual([
    expect.stringMatching(
      /^Search analytics are known from 202\d-\d\d-\d\d to 2026-02-2[67]; `google.history` sets how far back/,
    ),
  ]);
});

import { expect, onTestFinished, test } from 'vitest';
import { DAY_MS } from '../../src/base/time.js';
import { analysisRows } from '../answers/query/given.js';
import { SHOP, SITEMAP, scriptedProperty, urlset } from './scripted-property.js';

const NEWS = 'xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"';
const [PART, NEWS_MAP, FEED] = ['part', 'news', 'feed'].map(fileOf) as [string, string, string];

function fileOf(name: string): string {
  return `${SHOP}/${name}.xml`;
}

function pages(count: number, directory: string): string[] {
  return Array.from({ length: count }, (_, at) => `${SHOP}/${directory}/${at}`);
}

function newsOf(urls: readonly string[]): string {
  const entries = urlset(urls).replaceAll('</loc>', '</loc><n:news><n:title>T</n:title></n:news>');
  return entries.replace('<urlset', `<urlset ${NEWS}`);
}

/** The pages of the last two days; those of each leave the next night. */
function latest(night: number, name: string): string[] {
  return [night - 1, night].flatMap((day) => pages(6, `${name}-${day}`));
}

test('a page stays while its sitemap is gone, is retired when nothing names it for long, and ages out of news without an alarm', async () => {
  const limits = { forgetAfter: 1.5 * DAY_MS };
  const { pass, rows, reader, wrong } = await scriptedProperty(onTestFinished, {}, {}, limits);
  const [left, late] = pages(8, 'p') as [string, string];
  const unnamed: Record<number, string> = { 2: left, 3: `${left} ${late}`, 4: `${left} ${late}`, 5: late };
  const nights = [];
  for (let night = 1; night <= 5; night++) {
    const daily = [night - 1, night].map((day) => [fileOf(`day-${day}`), newsOf(pages(6, `day-${day}`))]);
    const listed = {
      [PART]: urlset(pages(8, 'p').filter((url) => !unnamed[night]?.split(' ').includes(url))),
      [NEWS_MAP]: newsOf(latest(night, 'news')),
      [FEED]: urlset(latest(night, 'feed')),
      ...Object.fromEntries(daily),
    };
    const files = {
      ...listed,
      ...(night === 2 || night === 3 ? { [SITEMAP]: 404 } : {}),
      ...(night === 5 ? { [`${SHOP}/robots.txt`]: 500 } : {}),
    };
    const sitemaps = Object.fromEntries(Object.keys(listed).map((file) => [file, []]));
    const traffic = [[`${SHOP}/a/0`, 1, 10, 3] as const];
    nights.push(await pass({ sitemap: pages(12, 'a'), sitemaps, files, traffic }));
  }
  const said = (source: string, before: number, left: number) =>
    `${source} named ${before} pages until now, and nothing names ${left} of them any more`;
  // That a feed always loses pages is known after two nights. What was said once is not said again.
  const feed = said(FEED, 12, 6);
  expect(nights.map(({ sources_quiet }) => sources_quiet)).toEqual([
    undefined,
    `${SITEMAP} and 1 more named 24 pages until now, and nothing names 17 of them any more; ${SITEMAP} answered 404`,
    `${feed}; ${SITEMAP} answered 404`,
    undefined,
    undefined,
  ]);
  // Looked at once, they wait for their turn.
  const missing = `select snapshot_date::varchar as night, count(*)::int as pages from url_reports
    where reason = 'missing' and url like '%/a/%' group by all`;
  expect(await rows(missing)).toEqual([{ night: '2026-03-02', pages: 11 }]);
  expect(nights.map(({ listing_status }) => listing_status)).toEqual([...Array(4).fill('complete'), 'partial']);
  expect(nights[4]?.error).toContain('robots.txt answered 500');
  const passing =
    "select source from listing_sources where is_passing and snapshot_date = '2026-03-05' order by source";
  expect(await rows(passing)).toEqual(
    ['day-3', 'day-4', 'day-5', 'feed', 'news'].map((name) => ({ source: fileOf(name) })),
  );

  const changes = `select url, change, snapshot_date::varchar as night from page_changes
    where url not similar to '.*/(news|feed|day)-.*' order by all`;
  expect(await rows(changes)).toEqual([
    { url: left, change: 'appeared', night: '2026-03-05' },
    { url: left, change: 'retired', night: '2026-03-04' },
  ]);
  // While a part of the listing cannot be read, nothing is forgotten.
  const listed = `select url from coverage where url = '${late}' and snapshot_date = '2026-03-05'`;
  expect(await rows(listed)).toEqual([{ url: late }]);
  const balance = await analysisRows(await reader(), 'index_balance', { since: '2026-01-01', until: '2026-12-31' });
  for (const { indexed_before, first_inspected, entered, fell_out, retired, indexed } of balance) {
    expect(Number(fell_out)).toBe(0);
    const sum = Number(indexed_before) + Number(first_inspected) + Number(entered) - Number(retired);
    expect(sum).toBe(Number(indexed));
  }
  expect(await wrong()).toEqual([]);
});

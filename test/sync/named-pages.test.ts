import { expect, onTestFinished, test } from 'vitest';
import type { Reader } from '../../src/answers/query/reader.js';
import { sendNotices } from '../../src/app/notify/notify.js';
import { DAY_MS } from '../../src/base/time.js';
import { analysisRows, openReader, rowsOf } from '../answers/query/given.js';
import { startReceiver, withChannels } from '../app/notify/given.js';
import { atLength, testAtLength } from '../given/at-length.js';
import { seededRandom } from '../given/random.js';
import { indexed, type ScriptedNight, SHOP, SITEMAP, scriptedProperty, urlset } from './scripted-property.js';

const pages = (count: number, directory = 'a') =>
  Array.from({ length: count }, (_, at) => `${SHOP}/${directory}/${at}`);
const shown = (...urls: string[]) => urls.map((url): [string, number, number, number] => [url, 1, 10, 3]);
const out = (url: string) => indexed(url, { verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed' });

async function sumsOf(reader: Reader) {
  const rows = await analysisRows(reader, 'index_balance', { since: '2026-01-01', until: '2026-12-31' });
  return rows.map(({ indexed_before, first_inspected, entered, fell_out, retired, indexed }) =>
    [indexed_before, first_inspected, entered, fell_out, retired, indexed].map(Number),
  );
}

test('a sitemap that answers 404 for a night takes no page away, and is named with both counts', async () => {
  const { warehouse, wrong, pass } = await scriptedProperty(onTestFinished);
  const all = pages(12);
  const dead: ScriptedNight = { files: { [SITEMAP]: 404 }, traffic: shown(`${SHOP}/a/0`) };
  const receiver = await startReceiver();
  const { config, logger } = withChannels(warehouse, [{ type: 'webhook', url: receiver.url }], {
    except: ['stale', 'overdue', 'drift'],
  });
  const told = async () => {
    await sendNotices({ config: { ...config, websites: 'all' }, logger });
    return receiver.take().flatMap(({ body }) => JSON.parse(body).notices.map(({ id }: { id: string }) => id));
  };
  await pass({ sitemap: all });
  await told();
  const night = await pass(dead);
  expect(await told()).toEqual([expect.stringMatching(/^quiet:/)]);
  expect(night).toMatchObject({
    listing_status: 'complete',
    pages: { listed: 12 },
    reports: { by_reason: { missing: 11 } },
    sources_quiet: `${SITEMAP} named 12 pages until now, and nothing names 11 of them any more; ${SITEMAP} answered 404`,
  });
  expect(night.inspected).toHaveLength(12);
  // Looked at once, they wait for their turn; and the same is said once.
  const next = await pass(dead);
  expect([next.reports.by_reason.missing, next.sources_quiet]).toEqual([0, undefined]);
  expect(await told()).toEqual([]);
  expect((await pass({ sitemap: all })).sources_quiet).toBeUndefined();
  expect(await told()).toEqual([expect.stringMatching(/^over:quiet:/)]);
  expect(await told()).toEqual([]);
  const reader = await openReader(warehouse);
  expect(await sumsOf(reader)).toEqual(Array(3).fill([12, 0, 0, 0, 0, 12]));
  expect(await analysisRows(reader, 'sources', { since: '2026-03-02', source: SITEMAP })).toMatchObject([
    { http_status: 200, pages: 12, pages_before: 0, problem: null },
    { http_status: 404, pages: 0, pages_before: 0, pages_unnamed: 0, is_missing_pages: false },
    { http_status: 404, pages: 0, pages_before: 12, pages_unnamed: 11, problem: expect.stringContaining('404') },
  ]);
  expect(await wrong()).toEqual([]);
});

testAtLength(
  'an index that is gone takes its sitemaps with it: each that goes quiet is named, a partial night says nothing',
  async () => {
    const { pass } = await scriptedProperty(onTestFinished);
    const part = (at: number) => `${SHOP}/part-${at}.xml`;
    const index = `<sitemapindex>${[1, 2].map((at) => `<sitemap><loc>${part(at)}</loc></sitemap>`).join('')}</sitemapindex>`;
    const parts = { [part(1)]: urlset(pages(5)), [part(2)]: urlset(pages(4, 'b')) };
    const traffic = shown(`${SHOP}/`);
    await pass({ files: { [SITEMAP]: index, ...parts }, traffic });
    const partial = await pass({ files: { [SITEMAP]: 403, ...parts }, traffic });
    expect([partial.listing_status, partial.pages.listed, partial.sources_quiet]).toEqual(['partial', 10, undefined]);
    const quiet = await pass({ files: { [SITEMAP]: 404, ...parts }, traffic });
    expect(quiet.sources_quiet).toBe(
      `${part(1)} named 5 pages until now, and nothing names 5 of them any more; ${SITEMAP} answered 404`,
    );
  },
);

test('a page that nothing names for long is retired, which is no fall, and may come back', async () => {
  const { warehouse, wrong, pass } = await scriptedProperty(onTestFinished, {}, {}, { forgetAfter: DAY_MS });
  const [gone, ...others] = pages(8);
  const nights = [pages(8), others, others, pages(8)];
  const listed: number[] = [];
  for (const sitemap of nights) listed.push((await pass({ sitemap })).pages.listed);
  expect(listed).toEqual([8, 8, 7, 8]);
  const reader = await openReader(warehouse);
  expect(await sumsOf(reader)).toEqual([
    [8, 0, 0, 0, 0, 8],
    [8, 0, 0, 0, 1, 7],
    [7, 0, 1, 0, 0, 8],
  ]);
  expect(
    await rowsOf(
      reader,
      `select change from page_changes where url = '${gone}' and change <> 'crawled' order by observed_at`,
    ),
  ).toEqual([{ change: 'retired' }, { change: 'appeared' }]);
  expect(await rowsOf(reader, `select status from pages_as_of('2026-03-03') where url = '${gone}'`)).toEqual([
    { status: 'retired' },
  ]);
  expect(await wrong()).toEqual([]);
});

testAtLength(
  'in thirty nights of sitemaps that come and go nothing falls out but by an inspection, and all adds up',
  async () => {
    const { warehouse, wrong, pass } = await scriptedProperty(onTestFinished, {}, {}, { forgetAfter: 6 * DAY_MS });
    const random = seededRandom(41);
    const chance = (share: number) => random() < share;
    const all = pages(60);
    const none = Object.fromEntries([0, 1, 2].map((at) => [`${SHOP}/${at}.xml`, []]));
    const sitemaps = [0, 1, 2].map((at) => `${SHOP}/${at}.xml`);
    /** What an independent reader of the same nights knows: when each page was last named, and what Google said of it. */
    const lastNamed = new Map<string, number>();
    const known = new Map<string, boolean>();
    const truth = new Map(all.map((url) => [url, true]));
    const expected: number[][] = [];
    for (let night = 0; night < atLength(5, 30); night++) {
      for (const url of all) if (chance(0.04)) truth.set(url, !truth.get(url));
      const lists = sitemaps.map((_, at) => all.filter((_, place) => place % 3 === at && chance(0.9)));
      const states = sitemaps.map(() => (chance(0.3) ? 404 : 200));
      const traffic = all.filter(() => chance(0.1));
      const bodies = sitemaps.map((file, at) => [file, states[at] === 200 ? urlset(lists[at] ?? []) : 404]);
      const files = { ...Object.fromEntries(bodies), [SITEMAP]: 404 };
      const seen = new Set([...traffic, ...lists.flatMap((list, at) => (states[at] === 200 ? list : []))]);
      const inspect = (url: string) => (truth.get(url) ? indexed(url) : out(url));
      const { listing_status, inspected } = await pass({ sitemaps: none, files, traffic: shown(...traffic), inspect });
      if (listing_status !== 'complete') continue;
      for (const url of seen) lastNamed.set(url, night);
      for (const url of inspected) known.set(url, truth.get(url) ?? false);
      // The first night without it is the first that says so.
      const listed = all.filter((url) => night - (lastNamed.get(url) ?? -7) < 7);
      expected.push([listed.length, listed.filter((url) => known.get(url)).length]);
    }
    const reader = await openReader(warehouse);
    const trend = await analysisRows(reader, 'indexing_trend', { since: '2026-01-01', until: '2026-12-31' });
    expect(trend.map(({ pages, indexed }) => [Number(pages), Number(indexed)])).toEqual(expected);
    for (const [before = 0, first = 0, entered = 0, fell = 0, retired = 0, after] of await sumsOf(reader)) {
      expect(before + first + entered - fell - retired).toBe(after);
    }
    const unfounded = `
    from page_versions as version
    anti join url_reports as report
      on report.snapshot_id = version.snapshot_id and report.url = version.url and report.index_summary <> 'Indexed'
    where status <> 'indexed' and was_status = 'indexed' and status <> 'retired'`;
    expect(await rowsOf(reader, unfounded)).toEqual([]);
    expect(await wrong()).toEqual([]);
  },
);

testAtLength('no page is forgotten while what named it cannot be read', async () => {
  const { warehouse, pass } = await scriptedProperty(onTestFinished, {}, {}, { forgetAfter: DAY_MS });
  const traffic = shown(`${SHOP}/`);
  await pass({ sitemap: pages(6), traffic });
  const listed: number[] = [];
  for (const status of [403, 403, 404, 403]) {
    listed.push((await pass({ files: { [SITEMAP]: status }, traffic })).pages.listed);
  }
  listed.push((await pass({ sitemap: pages(6), traffic })).pages.listed);
  expect(listed).toEqual([7, 7, 7, 7, 7]);
  expect(
    (await sumsOf(await openReader(warehouse))).every(([, , entered, fell, retired]) => !entered && !fell && !retired),
  ).toBe(true);
});

test('names that leave a sitemap by age are no alarm: news, files of days, and what always leaves', async () => {
  const { warehouse, pass } = await scriptedProperty(onTestFinished);
  const NEWS = 'xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"';
  const files = (name: string) => `${SHOP}/${name}.xml`;
  const newsOf = (urls: readonly string[]) =>
    urlset(urls)
      .replace('<urlset', `<urlset ${NEWS}`)
      .replaceAll('</loc>', '</loc><n:news><n:title>T</n:title></n:news>');
  /** The pages of the last two days; those of each leave the next night. */
  const latest = (night: number, name: string) => [night - 1, night].flatMap((day) => pages(6, `${name}-${day}`));
  const quiet: unknown[] = [];
  for (let night = 1; night <= 6; night++) {
    const days = [night - 1, night].map((day) => [files(`day-${day}`), newsOf(pages(6, `day-${day}`))]);
    const feed = night === 6 ? pages(1, 'feed-6') : latest(night, 'feed');
    const listed = {
      [files('news')]: newsOf(latest(night, 'news')),
      [files('feed')]: urlset(feed),
      ...Object.fromEntries(days),
    };
    const sitemaps = Object.fromEntries(Object.keys(listed).map((file) => [file, []]));
    const shop = night === 6 ? [] : pages(12, 'shop');
    quiet.push((await pass({ sitemap: [...shop, `${SHOP}/`], sitemaps, files: listed })).sources_quiet);
  }
  const said = (source: string, before: number, left: number) =>
    `${source} named ${before} pages until now, and nothing names ${left} of them any more`;
  // That a feed always loses pages is known after two nights.
  const feed = said(files('feed'), 12, 6);
  expect(quiet).toEqual([undefined, feed, feed, undefined, undefined, said(SITEMAP, 13, 12)]);
  const passing =
    "select source from listing_sources where is_passing and snapshot_date = '2026-03-06' order by source";
  expect(await rowsOf(await openReader(warehouse), passing)).toEqual(
    ['day-4', 'day-5', 'day-6', 'feed', 'news'].map((name) => ({ source: files(name) })),
  );
});

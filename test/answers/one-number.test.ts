import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askRows } from '../../src/answers/query/ask-rows.js';
import { FELL_OUT } from '../../src/answers/query/period-note.js';
import type { Reader } from '../../src/answers/query/reader.js';
import { reportMail } from '../../src/answers/report/mail.js';
import { reportPage } from '../../src/answers/report/page.js';
import { readReport } from '../../src/answers/report/report.js';
import { ofSnapshot, snapshotRow } from '../../src/app/notify/rules.js';
import { sql } from '../../src/base/storage/sql.js';
import { atLength, seeds } from '../given/at-length.js';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import { type Row, readTable } from '../given/parquet.js';
import { randomWarehouse } from '../given/random-world.js';
import { maintainAt } from '../given/thinned.js';
import { type BuiltWarehouse, configFor } from '../given/warehouse.js';
import { readWorkbook } from '../given/workbook.js';
import { asked, call } from '../serve/assistant/given.js';
import { SHOP_TOKEN, startDashboard } from '../serve/dashboard/given.js';
import { type Answer, rowsOf, shownText, Visitor } from '../serve/dashboard/visitor.js';
import { type IndexTruth, moved, movedIn, snapshotsOf } from './index-truth.js';
import { analysisRows, openReader } from './query/given.js';

/** The last seven dates, some in the middle, and all. */
const PERIODS = [
  [6, 0],
  [9, 4],
  [40, 0],
] as const;

/**
 * Worlds in which pages fall and return, leave the listing, lose their data and are rejected, with partial nights and two
 * snapshots on a date, and with thinned listings: every face says the same of a period, and what the bare files say.
 */
describe.each(
  atLength(
    [[1, 12]],
    seeds(0, 0.25).map((seed) => [seed, 20]),
  ),
)('in world %i of %i nights', (seed = 0, nights = 0) => {
  let warehouse: BuiltWarehouse;
  let snapshots: IndexTruth[];
  let reports: Row[];
  let reader: Reader;
  let visitor: Visitor;
  let client: Awaited<ReturnType<typeof asked>>;

  beforeAll(async () => {
    warehouse = await randomWarehouse(seed, nights);
    snapshots = await snapshotsOf(warehouse.path);
    reports = await readTable(warehouse.path, 'url_reports');
    const now = Date.parse(`${snapshots.at(-1)?.date}T23:00:00Z`);
    const { parquet } = await maintainAt(warehouse.path, { now });
    expect(parquet.length).toBeGreaterThan(0);
    reader = await openReader(warehouse.path);
    client = await asked(warehouse.path);
    const dashboard = await startDashboard(warehouse.path);
    visitor = new Visitor(dashboard.origin);
    await visitor.signIn(SHOP_TOKEN);
  });

  const truthOf = (from: number, to: number) => {
    const last = Date.parse(snapshots.at(-1)?.date ?? '');
    const [since = '', until = ''] = [from, to].map((days) =>
      new Date(last - days * 86_400_000).toISOString().slice(0, 10),
    );
    const truth = movedIn(snapshots, since, until);
    if (!truth) throw new Error(`nothing to compare from ${since} to ${until}`);
    return { since, until, ...truth };
  };

  test.each(atLength(PERIODS.slice(1, 2), [...PERIODS]))('%i to %i days ago', async (from, to) => {
    const { since, until, ...truth } = truthOf(from, to);
    const { fellOut, entered, returned, indexed, indexedBefore } = truth;
    expect([since, fellOut.length > 0, entered.length > 0]).toEqual([since, true, true]);
    const counts = {
      indexed_before: indexedBefore.length,
      entered: entered.length,
      fell_out: fellOut.length,
      indexed: indexed.length,
    };
    expect(counts.indexed_before + counts.entered - counts.fell_out).toBe(counts.indexed);
    const rows = (name: string, more: Record<string, string> = {}, dates: Record<string, string> = { since, until }) =>
      analysisRows(reader, name, { website: 'shop', ...dates, ...more });
    const urls = async (...asked: Parameters<typeof rows>) =>
      (await rows(...asked)).map(({ url }) => String(url)).sort();

    // The analyses, page by page.
    expect(await urls('deindexed_pages')).toEqual(fellOut);
    expect(await urls('deindexed_pages', { returned: 'true' })).toEqual(returned);
    expect(await urls('pages', { changed: 'entered' }, { from: since, to: until })).toEqual(entered);
    expect(await rows('index_balance', { total: 'true' })).toMatchObject([{ ...counts, returned: returned.length }]);
    const common = { min_pages: '1', min_share: '0', min_lift: '0', limit: 'none' };
    const depths = (await rows('deindexed_in_common', common)).filter(({ dimension }) => dimension === 'depth');
    expect(sum(depths, 'fell_out')).toBe(fellOut.length);
    const directories = await rows('deindexed_by_directory', { limit: 'none' });
    expect(directories.map(({ directory, ...row }) => [directory, pick(row, counts)]).sort()).toEqual(
      byPlace(truth, (url) => [directoryOf(url)]).filter(([, place]) => place.fell_out > 0),
    );
    const trend = await rows('indexing_trend');
    expect(trend.at(-1)).toMatchObject({ indexed: indexed.length, snapshot_date: truth.now.date });
    // Of thinned listings there are no pages to compare, and rejected records count on no side.
    const left = await rows('compare', { since: truth.before.date });
    const [compared = {}] = left.filter(({ figure }) => figure === 'Indexed');
    for (const [side, listing, urls] of [
      ['left', truth.before, indexedBefore],
      ['right', truth.now, indexed],
    ] as const)
      if (compared[`${side}_side`] === listing.date && !listing.hasRejects)
        expect([side, compared[`${side}_pages`]]).toEqual([side, urls.length]);

    // The report in its forms.
    const report = await readReport(reader, { website: 'shop', since, until, version: 'test', now: 0 });
    const stocks = {
      indexed: { now: indexed.length, before: indexedBefore.length },
      fell_out: { now: fellOut.length },
    };
    const more = { entered: { now: entered.length }, returned: { now: returned.length } };
    expect(report.total).toMatchObject({ ...stocks, ...more });
    const [section] = report.sections;
    const changes = section?.directories.flatMap(({ directory, indexed_change: change }) =>
      change ? [[directory, change]] : [],
    );
    expect(changes?.sort()).toEqual(
      byPlace(truth, (url) => [directoryOf(url)])
        .map(([name, place]) => [name, place.entered - place.fell_out])
        .filter(([, change]) => change !== 0),
    );
    const inSitemaps = (url: string) => sitemapsOf(reports, url, truth.now.snapshotId);
    expect(
      section?.sitemaps.map(({ sitemap, ...row }) => [sitemap, row.indexed, row.entered, row.fell_out]).sort(),
    ).toEqual(
      byPlace(truth, inSitemaps)
        .filter(([, place]) => place.fell_out + place.entered > 0)
        .map(([name, place]) => [name, place.indexed, place.entered, place.fell_out]),
    );
    expect(section?.fallen.samples.reduce((total, { url }) => total + Number(fellOut.includes(url)), 0)).toBe(
      section?.fallen.samples.length,
    );
    const sentence = `${pages(fellOut.length)} fell out of the index`;
    expect(section?.story[0]).toContain(sentence);
    if (section && section.news.length > 0) {
      const days = from - to + 1;
      const earlier = truthOf(from + days, from + 1);
      const back = earlier.fellOut.filter((url) => indexed.includes(url)).length;
      const fell = `Of the ${pages(earlier.fellOut.length)} that fell out in the ${days === 1 ? 'day' : `${days} days`} before`;
      if (earlier.fellOut.length === 0) expect(section.news).toHaveLength(1);
      else expect(section.news.at(-1)).toMatch(new RegExp(`^${fell}, ${back} (is|are) indexed again\\.$`));
    }
    for (const document of [reportPage(report), reportMail(report)]) expect(shownText(document)).toContain(sentence);

    // The dashboard: lists, their counts, and the kinds of changes.
    const shown = async (path: string) => visitor.get(`/dashboard/websites/shop/${path}&from=${since}&to=${until}`);
    for (const [changed, moves] of Object.entries({ fell_out: fellOut, entered, returned })) {
      const list = await shown(`pages?per=200&monitored=all&changed=${changed}`);
      expect([changed, urlsIn(list)]).toEqual([changed, moves]);
      const kinds = await shown(`changes?per=200&kind=${changed}`);
      const name = {
        fell_out: 'fell out of the index',
        entered: 'entered the index',
        returned: 'fell out and came back',
      };
      const option = `${name[changed as keyof typeof name]} (${moves.length})`;
      expect([changed, moves.length === 0 || kinds.text.includes(option)]).toEqual([changed, true]);
      expect([
        changed,
        rowsOf(kinds, 'changes')
          .map(([url = '']) => whole(url))
          .sort(),
      ]).toEqual([changed, moves]);
    }

    // The assistant.
    const parameters = { website: 'shop', since, until };
    const answer = await call(client, 'run_analysis', { name: 'deindexed_pages', parameters });
    expect(answer.content).toMatchObject({ total: fellOut.length });
    expect((await call(client, 'report', parameters)).content).toMatchObject({
      total: { figures: { ...stocks, ...more } },
    });
  });

  test('as the newest state, in a workbook, in the metrics and in a notice', async () => {
    const { since, until, fellOut, indexed, now } = truthOf(6, 0);
    const out = join(temporaryFolder(), 'fell.xlsx');
    const { code } = await run(['query', 'deindexed_pages', '--warehouse', warehouse.path, '--out', out]);
    expect(code).toBe(0);
    const { about, heads, rows, links } = await readWorkbook(readFileSync(out));
    expect([rows.length, links.length, about.get('Rows')]).toEqual([
      fellOut.length,
      fellOut.length,
      `${fellOut.length}`,
    ]);
    expect([heads.slice(0, 2), heads.at(-1)]).toEqual([['url', 'why'], 'website_id']);
    expect([about.get('Website'), about.get('Definition')]).toEqual(['https://shop.example', FELL_OUT]);
    expect(about.get('Period')).toMatch(/, compared with the listing of /);
    const overview = await visitor.get('/dashboard/websites/shop');
    expect(shownText(overview.text)).toContain(`${pages(fellOut.length)} fell out of the index`);
    expect(shownText(overview.text)).toContain(`${indexed.length} of `);
    // After a partial night, too, the age of the data, the figures and the lists behind them are of one listing.
    expect(atLength(snapshots.at(-1)?.isComplete, false)).toBe(false);
    expect(shownText(overview.text)).toContain(`As of ${now.date} `);
    const lists = [
      ...overview.text.matchAll(
        /<th scope="row"><a href="([^"]*)">[^<]*<.a><.th><td class="number" data-head="[^"]*">(\d+)</g,
      ),
    ];
    expect(lists.length).toBe(4);
    for (const [, address = '', figure] of lists) {
      const list = await visitor.get(address.replaceAll('&amp;', '&'));
      expect([address, /(\d+) pages?<\/p>/.exec(list.text)?.[1] ?? '0']).toEqual([address, figure]);
    }
    const terminal = await run(['report', '--warehouse', warehouse.path, '--out', join(temporaryFolder(), 'r.html')]);
    expect(terminal.stdout).toMatch(new RegExp(`fell out +${fellOut.length}\\b`));
    const websites = rowsOf(await visitor.get('/dashboard/'), 'websites');
    expect(websites.map(([name, , count]) => [name, count])).toContainEqual([
      'https://shop.example',
      `${indexed.length}`,
    ]);
    const { stdout: metrics } = await run(['status', '--metrics', '--warehouse', warehouse.path]);
    const series = metrics
      .split('\n')
      .filter((line) => /^indexhouse_pages\{website_id="shop".*verdict="Indexed"/.test(line));
    expect(series.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)).toBe(indexed.length);

    await reader.rows(z.unknown(), sql('app/notify/places_of'));
    const newest = await askRows(reader, 'app/notify/snapshots', snapshotRow, { newest: 50 });
    const complete = snapshots.filter(({ isComplete }) => isComplete);
    const found = [];
    for (const [at, listing] of complete.entries()) {
      const before = complete[at - 1];
      if (at < complete.length - atLength(4, complete.length)) continue;
      const row = newest.find(({ snapshot_id }) => snapshot_id === listing.snapshotId);
      if (!row || !before) continue;
      const night = moved(snapshots, before, listing);
      const rules = configFor({ baseUrl: 'http://127.0.0.1:1', warehouse: warehouse.path });
      const notify = { ...rules.notify, indexed_drop: { pages: 0 } };
      const notices = await ofSnapshot(reader, { ...row, website_name: 'shop' }, { ...rules, notify });
      const drop = notices.find(({ kind }) => kind === 'indexed_drop');
      const lost = night.indexedBefore.length - night.indexed.length;
      expect([listing.date, drop?.count ?? 0]).toEqual([listing.date, Math.max(0, lost)]);
      if (drop) expect(drop.what).toContain(`from ${night.indexedBefore.length} to ${night.indexed.length}`);
      found.push(drop?.examples ?? []);
    }
    expect(found.flat().length).toBeGreaterThan(0);
    expect(now.date <= until && since <= now.date).toBe(true);
  });
});

function pages(number: number): string {
  return number === 1 ? '1 page' : `${number} pages`;
}

function sum(rows: readonly Record<string, unknown>[], key: string): number {
  return rows.reduce((total, row) => total + Number(row[key]), 0);
}

type Place = { indexed_before: number; entered: number; fell_out: number; indexed: number };

function pick(row: Record<string, unknown>, like: Place): Partial<Place> {
  return Object.fromEntries(Object.keys(like).flatMap((key) => (key in row ? [[key, row[key]]] : [])));
}

/** The four counts of each place that a page can be in. */
function byPlace(truth: ReturnType<typeof moved>, placesOf: (url: string) => string[]): [string, Place][] {
  const lists = {
    indexed_before: truth.indexedBefore,
    entered: truth.entered,
    fell_out: truth.fellOut,
    indexed: truth.indexed,
  };
  const names = new Set(Object.values(lists).flatMap((urls) => urls.flatMap(placesOf)));
  const counted = (urls: string[], name: string) => urls.filter((url) => placesOf(url).includes(name)).length;
  return [...names].sort().map((name) => {
    const counts = Object.entries(lists).map(([key, urls]) => [key, counted(urls, name)]);
    return [name, Object.fromEntries(counts) as Place];
  });
}

function directoryOf(url: string): string {
  return /^https:\/\/[^/]+(\/(?:[^/]+\/)?)/.exec(url)?.[1] ?? '';
}

/** The sitemaps that the last report of a page up to a snapshot names. */
function sitemapsOf(reports: readonly Row[], url: string, snapshotId: string): string[] {
  const own = reports.filter((row) => row['url'] === url && String(row['snapshot_id']) <= snapshotId);
  const last = own.sort((a, b) => (String(a['snapshot_id']) < String(b['snapshot_id']) ? -1 : 1)).at(-1);
  return [...new Set((last?.['sitemaps'] as string[] | null) ?? [])];
}

function urlsIn(list: Answer): string[] {
  return rowsOf(list, 'pages')
    .map(([url = '']) => whole(url.replace(/ gone$/, '')))
    .sort();
}

/** The dashboard leaves out of rows what all pages share. */
function whole(shown: string): string {
  return shown.startsWith('/') ? `https://shop.example${shown}` : shown;
}

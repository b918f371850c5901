import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Reader } from '../../src/analysis/reader.js';
import { withEngine } from '../../src/storage/engine.js';
import { temporaryFolder } from '../given/folder.js';
import { randomWarehouse } from '../given/random-world.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { analysisRows, openReader } from './given.js';

const [NIGHTS, PAGES] = [30, 40];
const SEED = Number(process.env['INDEXHOUSE_TEST_SEED'] ?? 1);
const DAY_MS = 86_400_000;

let warehouse: BuiltWarehouse;
let reader: Reader;

beforeAll(async () => {
  warehouse = await randomWarehouse(SEED, NIGHTS, PAGES);
  reader = await openReader(warehouse.path);
});

afterAll(() => {
  reader.close();
  warehouse.remove();
});

const anyRow = z.record(z.string(), z.unknown());

/** Rows of the Parquet files themselves: no view, no state, no summary. */
async function bare(sql: string): Promise<Record<string, unknown>[]> {
  const file = (table: string) => `read_parquet('${warehouse.path}/parquet/${table}/**/*.parquet')`;
  return withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
    for (const table of ['snapshots', 'coverage', 'url_reports', 'rejected_records'])
      await engine.run(`create view ${table} as select * exclude (website, date) from ${file(table)}`);
    // What counts as the listing of a date: the last one that is complete.
    await engine.run(
      `create view listings as
       select distinct on (snapshot_date) snapshot_id, snapshot_date, snapshot_at
       from snapshots where listing_status = 'complete' order by snapshot_date, snapshot_at desc`,
    );
    return engine.rows(anyRow, sql);
  });
}

test('coverage_by_state', async () => {
  const counts = await bare(
    `select index_summary, coalesce(index_coverage_state, '(none)') as state, listings.snapshot_date, count(*) as pages
     from coverage join listings using (snapshot_id) group by all`,
  );
  const listings = await bare('select snapshot_date from listings order by snapshot_date');
  const dates = listings.map(({ snapshot_date }) => String(snapshot_date));
  const now = dates.at(-1) ?? '';
  for (const weeks of [1, 4]) {
    const rows = await analysisRows(reader, 'coverage_by_state', { weeks: String(weeks), since: dates[2] ?? '' });
    const shown = dates.filter((date) => Date.parse(reader.today) - Date.parse(date) < weeks * 7 * DAY_MS);
    const count = (state: unknown, summary: unknown, date: string | undefined) =>
      Number(
        counts.find(
          (one) => one['state'] === state && one['index_summary'] === summary && one['snapshot_date'] === date,
        )?.['pages'] ?? 0,
      );
    const states = new Set(
      counts
        .filter(({ snapshot_date: date }) => [now, dates[2], ...shown].includes(String(date)))
        .map(({ index_summary, state }) => `${index_summary} ${state}`),
    );
    expect(new Set(rows.map((row) => `${row['index_summary']} ${row['index_coverage_state']}`))).toEqual(states);
    const listed = counts
      .filter((one) => one['snapshot_date'] === now)
      .reduce((sum, one) => sum + Number(one['pages']), 0);
    expect(rows.reduce((sum, { pages }) => sum + Number(pages), 0)).toBe(listed);
    for (const { index_summary: summary, index_coverage_state: state, pages, share, pages_change, trend } of rows) {
      expect(pages).toBe(count(state, summary, now));
      expect(share).toBeCloseTo(Number(pages) / listed, 4);
      expect(pages_change).toBe(Number(pages) - count(state, summary, dates[2]));
      expect(trend).toEqual(shown.map((date) => count(state, summary, date)));
    }
  }
});

/** The figures of one listing and of the pages below a path, counted one by one. */
async function figuresOf(date: string, path: string): Promise<Record<string, number>> {
  const pages = await bare(
    `with listing as (select * from listings where snapshot_date <= '${date}' order by snapshot_date desc limit 1),
     report as (
       select distinct on (url) * from url_reports
       where snapshot_at <= (select snapshot_at from listing) order by url, fetched_at desc
     )
     select coverage.*, report.* exclude (url, snapshot_id) rename (index_summary as was_summary), report.url as reported,
       listing.snapshot_at - coverage.last_crawl_time < interval 8 days as is_fresh
     from coverage join listing using (snapshot_id) left join report using (url)
     where url like 'https://shop.example${path}%'`,
  );
  const count = (has: (page: Record<string, unknown>) => boolean) => pages.filter(has).length;
  const states = new Set(pages.map((page) => page['index_coverage_state']).filter((state) => state !== null));
  const [engine, user] = ['searchengine_selected_canonical', 'user_selected_canonical'];
  const hasBoth = (page: Record<string, unknown>) => page[engine] !== null && page[user] !== null;
  return {
    Pages: pages.length,
    Indexed: count((page) => page['index_summary'] === 'Indexed'),
    'Not indexed': count((page) => page['index_summary'] === 'Not Indexed'),
    'Without inspection data': count((page) => page['index_summary'] === null),
    'Crawled within 7 days': count((page) => page['is_fresh'] === true),
    'Never crawled': count((page) => page['last_crawl_time'] === null),
    'Canonical as declared': count((page) => hasBoth(page) && page[engine] === page[user]),
    'Canonical differs': count((page) => hasBoth(page) && page[engine] !== page[user]),
    'With a report': count((page) => page['reported'] !== null),
    'In a sitemap': count((page) => Array.isArray(page['sitemaps']) && page['sitemaps'].length > 0),
    'Blocked by robots.txt': count((page) => page['blocked_by_robots_txt'] === 'Yes'),
    'Indexing not allowed': count((page) => page['indexing_allowed'] === 'No'),
    'Fetch failed': count((page) => !['Successful', null].includes(String(page['page_fetch_status'] ?? 'Successful'))),
    ...Object.fromEntries(
      [...states].map((state) => [`State: ${state}`, count((page) => page['index_coverage_state'] === state)]),
    ),
  };
}

test('compare', async () => {
  const [first, last] = ['2025-03-05', reader.today];
  const dates = await analysisRows(reader, 'compare', { since: first, until: last });
  const directories = await analysisRows(reader, 'compare', { directory: '/blog/', other: '/shop/' });
  for (const [rows, left, right] of [
    [dates, await figuresOf(first, '/'), await figuresOf(last, '/')],
    [directories, await figuresOf(last, '/blog/'), await figuresOf(last, '/shop/')],
  ] as const) {
    const both = Object.fromEntries(rows.map((row) => [row['figure'], [row['left_pages'], row['right_pages']]]));
    const names = Object.keys({ ...left, ...right });
    expect(both).toEqual(Object.fromEntries(names.map((name) => [name, [left[name] ?? 0, right[name] ?? 0]])));
    for (const { left_pages, right_pages, difference, share_difference } of rows) {
      expect(difference).toBe(Number(right_pages) - Number(left_pages));
      const share = Number(right_pages) / Number(right['Pages']) - Number(left_pages) / Number(left['Pages']);
      expect(share_difference).toBeCloseTo(share, 3);
    }
  }
});

interface Report {
  url: string;
  date: string;
  sitemaps: string[];
}

/** A page's reports, one after the other, and what they say of one sitemap. */
function lifeIn(sitemap: string, reports: Report[]): { joinedOn: string | null; gap: number; isMember: boolean } {
  const at = reports.findIndex(({ sitemaps }) => sitemaps.includes(sitemap));
  const [before, joining] = [reports[at - 1], reports[at]];
  if (!before || !joining) return { joinedOn: null, gap: 0, isMember: at >= 0 };
  return { joinedOn: joining.date, gap: (Date.parse(joining.date) - Date.parse(before.date)) / DAY_MS, isMember: true };
}

const median = (numbers: number[]) => {
  if (numbers.length === 0) return null;
  const sorted = numbers.toSorted((one, other) => one - other);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2;
};

test('sitemap_effect', async () => {
  const reports = await bare('select url, snapshot_date, sitemaps from url_reports order by fetched_at');
  const lives = new Map<string, Report[]>();
  for (const { url, snapshot_date, sitemaps } of reports) {
    const report = {
      url: String(url),
      date: String(snapshot_date),
      sitemaps: z.array(z.string()).parse(sitemaps ?? []),
    };
    lives.set(report.url, [...(lives.get(report.url) ?? []), report]);
  }
  const listed = await bare(
    `select listings.snapshot_date, url, index_summary from coverage join listings using (snapshot_id)`,
  );
  const dates = [...new Set(listed.map(({ snapshot_date }) => String(snapshot_date)))].sort();
  const state = (date: string) => {
    const entries = listed.filter(({ snapshot_date }) => snapshot_date === date);
    return new Map(entries.map((row) => [String(row['url']), row['index_summary'] === 'Indexed']));
  };
  const rows = await analysisRows(reader, 'sitemap_effect', { min_pages: '1', days: '3', limit: 'none' });
  const expected = [];
  for (const sitemap of new Set([...lives.values()].flat().flatMap(({ sitemaps }) => sitemaps))) {
    const of = new Map([...lives].map(([url, life]) => [url, lifeIn(sitemap, life)]));
    for (const joined_on of new Set([...of.values()].flatMap(({ joinedOn }) => joinedOn ?? []))) {
      const before_date = dates.findLast((date) => date < joined_on);
      const after_date = dates.findLast((date) => Date.parse(date) <= Date.parse(joined_on) + 3 * DAY_MS);
      if (!before_date || !after_date || after_date < joined_on) continue;
      const [before, after] = [state(before_date), state(after_date)];
      const both = [...before.keys()].filter((url) => after.has(url));
      const joined = both.filter((url) => of.get(url)?.joinedOn === joined_on);
      const others = both.filter((url) => !of.get(url)?.isMember);
      const count = (urls: string[], at: Map<string, boolean>) => urls.filter((url) => at.get(url)).length;
      const [was, is] = [count(joined, before), count(joined, after)];
      const [otherWas, otherIs] = [count(others, before), count(others, after)];
      if (joined.length === 0) continue;
      expected.push({
        sitemap,
        joined_on,
        pages: joined.length,
        before_date,
        after_date,
        share_before: share(was, joined.length),
        share_after: share(is, joined.length),
        others: others.length,
        others_share_before: share(otherWas, others.length),
        others_share_after: share(otherIs, others.length),
        effect:
          others.length === 0
            ? null
            : expect.closeTo((is - was) / joined.length - (otherIs - otherWas) / others.length, 3),
        report_gap_days: median([...of.values()].flatMap(({ joinedOn, gap }) => (joinedOn === joined_on ? gap : []))),
      });
    }
  }
  expect(rows.length).toBeGreaterThan(3);
  const key = ({ sitemap, joined_on }: Record<string, unknown>) => `${joined_on} ${sitemap}`;
  const byKey = (one: Record<string, unknown>, other: Record<string, unknown>) => (key(one) < key(other) ? -1 : 1);
  expect(rows.map(({ website_id: _, ...row }) => row).sort(byKey)).toEqual(expected.sort(byKey));
});

/** A share, which the answer rounds to four places. */
function share(of: number, among: number): unknown {
  return among === 0 ? null : expect.closeTo(of / among, 3);
}

test('index_funnel', async () => {
  const pages = await bare(
    `with present as (
       select snapshot_id, url from coverage
       union
       select snapshot_id, url from rejected_records where source = 'coverage'
     ),
     first as (select url, min(snapshot_at) as snapshot_at, min(listed_at) as seen_at from coverage group by url)
     select
       url,
       date_trunc('week', first.snapshot_at)::date as week,
       epoch(seen_at) / 86400 as seen,
       (select epoch(min(last_crawl_time)) / 86400 from coverage where url = first.url) as crawled,
       (select epoch(min(listed_at)) / 86400 from coverage where url = first.url and index_summary = 'Indexed')
         as indexed
     from first
     where exists (
       from snapshots
       where listing_status = 'complete' and snapshots.snapshot_at < first.snapshot_at
         and not exists (from present where present.snapshot_id = snapshots.snapshot_id and present.url = first.url)
     )`,
  );
  const rows = await analysisRows(reader, 'index_funnel');
  expect(rows.map(({ week }) => week)).toEqual([...new Set(pages.map(({ week }) => week))].sort());
  for (const { week, ...row } of rows) {
    const those = pages.filter((page) => page['week'] === week);
    const days = (from: string, to: string) => {
      const both = those.filter((page) => page[from] !== null && page[to] !== null);
      return both.map((page) => Math.max(0, Math.floor(Number(page[to]) - Number(page[from]))));
    };
    expect(row).toMatchObject({
      discovered: those.length,
      crawled: those.filter(({ crawled, indexed }) => crawled !== null || indexed !== null).length,
      indexed: those.filter(({ indexed }) => indexed !== null).length,
      median_days_to_crawl: median(days('seen', 'crawled')),
      median_days_from_crawl: median(days('crawled', 'indexed')),
      median_days_to_index: median(days('seen', 'indexed')),
    });
    expect(row['share_indexed']).toBeCloseTo(Number(row['indexed']) / those.length, 4);
  }
});

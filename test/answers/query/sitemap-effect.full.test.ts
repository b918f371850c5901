import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Reader } from '../../../src/answers/query/reader.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { temporaryFolder } from '../../given/folder.js';
import { randomWarehouse } from '../../given/random-world.js';
import type { BuiltWarehouse } from '../../given/warehouse.js';
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
    for (const table of ['snapshots', 'coverage', 'url_reports'])
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

test('sitemap_effect is what the reports and listings give, page by page', async () => {
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

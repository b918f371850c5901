import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Reader } from '../../src/answers/query/reader.js';
import { reportMail, reportPage } from '../../src/answers/report/page.js';
import { readReport } from '../../src/answers/report/report.js';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import { type Row, readTable } from '../given/parquet.js';
import { randomWarehouse } from '../given/random-world.js';
import { seeds } from '../given/seeds.js';
import { serveWarehouse } from '../given/served.js';
import { maintainAt } from '../given/thinned.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { asked, call } from '../serve/assistant/given.js';
import { SHOP_TOKEN, startDashboard } from '../serve/dashboard/given.js';
import { type Answer, rowsOf as cellsOf, shownText } from '../serve/dashboard/visitor.js';
import { analysisRows, openReader, rowsOf } from './query/given.js';

/**
 * Worlds in which pages fall and return, leave the listing, lose their data and are rejected, with partial nights and two
 * snapshots on a date, and with thinned listings: what the bare files say of a period, every analysis says, and every face.
 */
describe.each(seeds(1))('in world %i', (seed) => {
  let warehouse: BuiltWarehouse;
  let snapshots: IndexTruth[];
  let dates: string[];
  let reader: Reader;

  beforeAll(async () => {
    warehouse = await randomWarehouse(seed);
    snapshots = await snapshotsOf(warehouse.path);
    dates = [...new Set(snapshots.map(({ date }) => date))];
    const now = Date.parse(`${dates.at(-1)}T23:00:00Z`);
    const { parquet } = await maintainAt(warehouse.path, { now });
    expect(parquet.length).toBeGreaterThan(0);
    reader = await openReader(warehouse.path);
  });

  const askedOf = (relation: string): Promise<Row[]> => rowsOf(reader, `from ${relation} where website_id = 'shop'`);

  const truthOf = (from: number, to: number) => {
    const last = Date.parse(dates.at(-1) ?? '');
    const [since = '', until = ''] = [from, to].map((days) =>
      new Date(last - days * 86_400_000).toISOString().slice(0, 10),
    );
    const truth = movedIn(snapshots, since, until);
    if (!truth) throw new Error(`nothing to compare from ${since} to ${until}`);
    return { since, until, ...truth };
  };

  test('every page is as it was at the end of every snapshot', async () => {
    const kinds = new Set<string>();
    for (const snapshot of snapshots.filter((_, at) => at % 3 === 0)) {
      const rows = await askedOf(`pages_as_of('${snapshot.snapshotId}')`);
      const found = rows.map((row) => [row['url'], row['status'], row['index_coverage_state']]).sort();
      const known = [...snapshot.known].map(([url, page]) => [
        ...[url, page.status, page.row['index_coverage_state'] ?? null],
      ]);
      expect(found).toEqual(known.sort());
      for (const [, status] of known) kinds.add(String(status));
    }
    expect([...kinds]).toEqual(expect.arrayContaining(['data_lost', 'gone', 'indexed', 'not_indexed']));
  });

  test('every analysis and the report count the same of a period', async () => {
    const { since, until, ...truth } = truthOf(9, 4);
    const { fellOut, entered, returned, indexed, indexedBefore } = truth;
    expect([fellOut.length > 0, entered.length > 0]).toEqual([true, true]);
    const counts = {
      indexed_before: indexedBefore.length,
      entered: entered.length,
      fell_out: fellOut.length,
      indexed: indexed.length,
    };
    const rows = (name: string, more: Record<string, string> = {}) =>
      analysisRows(reader, name, { website: 'shop', since, until, ...more });
    const urls = (found: Row[]) => found.map(({ url }) => String(url)).sort();
    expect(urls(await rows('deindexed_pages'))).toEqual(fellOut);
    expect(urls(await rows('deindexed_pages', { returned: 'true' }))).toEqual(returned);
    const narrowed = { website: 'shop', changed: 'entered', from: since, to: until };
    expect(urls(await analysisRows(reader, 'pages', narrowed))).toEqual(entered);
    expect(await rows('index_balance', { total: 'true' })).toMatchObject([{ ...counts, returned: returned.length }]);
    const trend = await rows('indexing_trend');
    expect(trend.at(-1)).toMatchObject({ indexed: indexed.length, snapshot_date: truth.now.date });

    const report = await readReport(reader, { website: 'shop', since, until, version: 'test', now: 0 });
    expect(report.total).toMatchObject({
      indexed: { now: indexed.length, before: indexedBefore.length },
      fell_out: { now: fellOut.length },
      entered: { now: entered.length },
      returned: { now: returned.length },
    });
    const [section] = report.sections;
    const samples = section?.fallen.samples.map(({ url }) => url) ?? [];
    expect(fellOut).toEqual(expect.arrayContaining(samples));
    const sentence = `${pages(fellOut.length)} fell out of the index`;
    for (const text of [section?.story[0], shownText(reportPage(report)), shownText(reportMail(report))])
      expect(text).toContain(sentence);

    // The picture of the nights: each date of its last complete listing, and nothing of the others.
    const { dates: nights = [], pages: stocks = [], moves = [] } = section?.nights ?? {};
    const listings = nights.map((date) => snapshots.findLast((one) => one.date === date && one.isComplete));
    for (const [at, listing] of listings.entries()) {
      const shown = stocks.map((layer) => layer.pages[at]);
      const [came, ...left] = moves.map((layer) => layer.pages[at] ?? null);
      if (!listing) {
        expect([...shown, came, ...left]).toEqual(Array(8).fill(null));
        continue;
      }
      const counted = (...statuses: string[]) =>
        [...listing.known.values()].filter((page) => statuses.includes(page.status)).length;
      const known = [counted('indexed'), counted('not_indexed'), counted('data_lost', 'no_data'), counted('gone')];
      expect([listing.date, ...shown]).toEqual([listing.date, ...known]);
      const before = listings.slice(0, at).findLast((one) => one !== undefined);
      if (!before) continue;
      const step = moved(snapshots, before, listing);
      const gone = left.reduce((sum: number, pages) => sum + Number(pages), 0);
      expect([listing.date, came, gone]).toEqual([listing.date, step.entered.length, 0 - step.fellOut.length]);
    }
  });

  test('every face shows the numbers of the newest state', async () => {
    const { since, until, fellOut, indexed, entered, returned, now } = truthOf(6, 0);
    const where = ['--warehouse', warehouse.path];
    const csv = await run(['query', 'deindexed_pages', ...where, '--format', 'csv']);
    expect(csv.stdout.trimEnd().split('\n')).toHaveLength(1 + fellOut.length);
    const terminal = await run(['report', ...where, '--out', join(temporaryFolder(), 'r.html')]);
    expect(terminal.stdout).toMatch(new RegExp(`fell out +${fellOut.length}\\b`));
    // How old the data is, every face says first.
    expect(terminal.stdout).toMatch(/^Last night needs attention: .*\n\nThis data is \d+ days old, as of /);
    const { stdout: metrics } = await run(['status', '--metrics', ...where]);
    const series = metrics.matchAll(/^indexhouse_pages\{website_id="shop".*verdict="Indexed".* (\d+)$/gm);
    expect([...series].reduce((total, [, pages]) => total + Number(pages), 0)).toBe(indexed.length);

    const dashboard = await startDashboard(warehouse.path);
    let visitor = await dashboard.visitor(SHOP_TOKEN);
    const overview = await visitor.get('/dashboard/websites/shop');
    // After a partial night, too, the age of the data, the figures and the lists behind them are of one listing.
    for (const text of [
      `${pages(fellOut.length)} fell out of the index`,
      `${indexed.length} of `,
      `As of ${now.date} `,
    ])
      expect(shownText(overview.text)).toContain(text);
    const figures = /<th scope="row"><a href="([^"]*)">[^<]*<.a><.th><td class="number" data-head="[^"]*">(\d+)</g;
    const lists = [...overview.text.matchAll(figures)];
    expect(lists.length).toBe(4);
    for (const [, address = '', figure] of lists) {
      const list = await visitor.get(address.replaceAll('&amp;', '&'));
      expect([address, /(\d+) pages?<\/p>/.exec(list.text)?.[1] ?? '0']).toEqual([address, figure]);
    }
    for (const [changed, moves] of Object.entries({ fell_out: fellOut, entered, returned })) {
      const period = `from=${since}&to=${until}&per=200`;
      const list = await visitor.get(`/dashboard/websites/shop/pages?${period}&monitored=all&changed=${changed}`);
      const kinds = await visitor.get(`/dashboard/websites/shop/changes?${period}&kind=${changed}`);
      expect([changed, urlsIn(list, 'pages'), urlsIn(kinds, 'changes')]).toEqual([changed, moves, moves]);
    }
    dashboard.clock.now = Date.parse(now.date) + 10 * 86_400_000;
    visitor = await dashboard.visitor(SHOP_TOKEN);
    const { text: later } = await visitor.get('/dashboard/websites/shop/pages');
    expect(later).toMatch(/<header>\s*<p class="warning"[^>]*>This data is \d+ days old, as of [^<]*<\/p>/);
    const serving = { warehouse: warehouse.path, now: Date.now, keys: { key: ['shop'] } };
    const { headers } = await (await serveWarehouse(serving)).get('/v1/urls/shop');
    expect(headers.get('indexhouse-as-of')).toMatch(new RegExp(`^${now.date}T`));
    expect(headers.get('indexhouse-stale')).toMatch(/^this data is \d+ days old, as of /);

    const parameters = { website: 'shop', since, until };
    const client = await asked(warehouse.path);
    const answer = await call(client, 'run_analysis', { name: 'deindexed_pages', parameters });
    expect(answer.content).toMatchObject({ total: fellOut.length });
  });
});

function pages(number: number): string {
  return number === 1 ? '1 page' : `${number} pages`;
}

/** The URLs that a list shows; the dashboard leaves out of rows what all pages share. */
function urlsIn(list: Answer, table: string): string[] {
  const shown = cellsOf(list, table).map(([url = '']) => url.replace(/ gone$/, ''));
  return shown.map((url) => (url.startsWith('/') ? `https://shop.example${url}` : url)).sort();
}

/** A snapshot: what its listing shows of each page. A page whose record was rejected keeps its last state. */
interface IndexTruth {
  snapshotId: string;
  date: string;
  isComplete: boolean;
  pages: Map<string, Row>;
  /** Every page that was ever listed by then, with the newest listing that shows it. */
  known: ReadonlyMap<string, Known>;
}

interface Known {
  status: string;
  row: Row;
  hadData: boolean;
}

/** What moved between two complete listings: addresses of pages. */
interface Moved {
  before: IndexTruth;
  now: IndexTruth;
  indexedBefore: string[];
  indexed: string[];
  fellOut: string[];
  entered: string[];
  returned: string[];
}

/** The snapshots of a website, oldest first, from the bare files and the definition alone. */
async function snapshotsOf(warehouse: string, website = 'shop'): Promise<IndexTruth[]> {
  const tables = (['snapshots', 'coverage', 'rejected_records'] as const).map((table) => readTable(warehouse, table));
  const all = await Promise.all(tables);
  const [snapshots = [], coverage = [], rejected = []] = all.map((rows) =>
    rows.filter((row) => row['website_id'] === website),
  );
  let listed = new Map<string, Row>();
  let known: ReadonlyMap<string, Known> = new Map();
  return snapshots.toSorted(byId).map((snapshot): IndexTruth => {
    const { snapshot_id: id, listing_status: status, snapshot_at: at } = snapshot;
    const own = (rows: Row[]) => rows.filter((row) => row['snapshot_id'] === id);
    const refused = own(rejected).filter(({ source }) => source === 'coverage');
    const isComplete = status === 'complete';
    // What a complete listing lacks is no longer listed.
    const kept = [...listed].filter(([url]) => !isComplete || refused.some((row) => row['url'] === url));
    listed = new Map([...kept, ...own(coverage).map((row) => [String(row['url']), row] as const)]);
    known = knownAfter(known, listed);
    const date = at instanceof Date ? at.toISOString().slice(0, 10) : '';
    return { snapshotId: String(id), date, isComplete, pages: listed, known };
  });
}

function knownAfter(before: ReadonlyMap<string, Known>, listed: ReadonlyMap<string, Row>): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>([...before].map(([url, page]) => [url, { ...page, status: 'gone' }]));
  for (const [url, row] of listed) {
    const summary = row['index_summary'] ?? null;
    const hadData = summary !== null || (before.get(url)?.hadData ?? false);
    const unknown = hadData ? 'data_lost' : 'no_data';
    known.set(url, {
      row,
      hadData,
      status: summary === null ? unknown : summary === 'Indexed' ? 'indexed' : 'not_indexed',
    });
  }
  return known;
}

/**
 * What fell out of the index and what entered it in a period of dates: between the last complete listing before it, or
 * else that of the first date, and the last one of it. Null if there are no two.
 */
function movedIn(snapshots: readonly IndexTruth[], since: string, until: string): Moved | null {
  const complete = snapshots.filter(({ isComplete }) => isComplete);
  const now = complete.findLast(({ date }) => date <= until);
  const before =
    complete.findLast(({ date }) => date < since) ?? complete.findLast(({ date }) => date === complete[0]?.date);
  if (!now || !before || now.date < since || now === before) return null;
  return moved(snapshots, before, now);
}

function moved(snapshots: readonly IndexTruth[], before: IndexTruth, now: IndexTruth): Moved {
  const [then, later] = [indexedIn(before), indexedIn(now)];
  const between = snapshots.slice(snapshots.indexOf(before) + 1, snapshots.indexOf(now)).map(indexedIn);
  const stayed = then.filter((url) => later.includes(url));
  return {
    before,
    now,
    indexedBefore: then,
    indexed: later,
    fellOut: then.filter((url) => !later.includes(url)),
    entered: later.filter((url) => !then.includes(url)),
    returned: stayed.filter((url) => between.some((urls) => !urls.includes(url))),
  };
}

function indexedIn({ pages }: IndexTruth): string[] {
  return [...pages].flatMap(([url, row]) => (row['index_summary'] === 'Indexed' ? [url] : [])).sort();
}

function byId(one: Row, other: Row): number {
  return String(one['snapshot_id']) < String(other['snapshot_id']) ? -1 : 1;
}

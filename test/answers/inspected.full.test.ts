import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askRows } from '../../src/answers/query/ask-rows.js';
import type { Reader } from '../../src/answers/query/reader.js';
import { reportPage } from '../../src/answers/report/page.js';
import { readReport } from '../../src/answers/report/report.js';
import { ofSnapshot, snapshotRow } from '../../src/app/notify/rules.js';
import { sql } from '../../src/base/storage/sql.js';
import { temporaryFolder } from '../given/folder.js';
import { commitInspected, pageOf, SITE } from '../given/inspected.js';
import { readTable } from '../given/parquet.js';
import { findingsOf } from '../given/verified.js';
import { configFor } from '../given/warehouse.js';
import { SHOP_TOKEN, startDashboard } from '../serve/dashboard/given.js';
import { rowsOf as cellsOf, shownText } from '../serve/dashboard/visitor.js';
import { analysisRows, openReader, rowsOf } from './query/given.js';

const IN = 'Submitted and indexed';
const OUT = 'Crawled - currently not indexed';
const PAGES = ['/a/1', '/a/2', '/a/3', '/a/4', '/b/1', '/b/2'];

describe('a website whose pages are inspected by and by', () => {
  let warehouse: string;
  let reader: Reader;

  beforeAll(async () => {
    warehouse = `${temporaryFolder()}/warehouse`;
    await commitInspected(warehouse, [
      { lists: PAGES, inspects: { '/a/1': IN, '/a/2': IN, '/a/3': OUT }, clicks: { '/a/2': 7, '/a/1': 40 } },
      // One appears and is inspected in the same night.
      { lists: [...PAGES, '/a/new'], inspects: { '/a/new': `${IN}|new`, '/a/4': IN, '/b/1': OUT, '/a/3': IN } },
      { lists: [...PAGES, '/a/new'], inspects: { '/a/1': OUT, '/a/2': OUT, '/a/4': OUT } },
      { lists: [...PAGES, '/a/new'], inspects: { '/b/2': IN, '/a/1': `${OUT}|changed` } },
    ]);
    reader = await openReader(warehouse);
  });

  test('a first inspection is one change, and nothing else changed', async () => {
    const rows = await readTable(warehouse, 'page_changes');
    const changes = rows.map(({ snapshot_date: date, url, change, from_value: from, to_value: to }) => {
      const text = [date instanceof Date && date.getUTCDate(), url, change, from ?? '–', to ?? '–'].join(' ');
      return text.replaceAll(pageOf(''), '');
    });
    const fell = ['canonicals_match true –', `coverage_state ${IN} ${OUT}`, 'deindexed Indexed Not Indexed'];
    expect(changes.sort()).toEqual([
      '2 /a/3 canonicals_match – true',
      `2 /a/3 coverage_state ${OUT} ${IN}`,
      '2 /a/3 crawled – 2025-03-02T10:00:00.000Z',
      '2 /a/3 indexed Not Indexed Indexed',
      '2 /a/3 searchengine_canonical – /a/3',
      '2 /a/3 user_canonical – /a/3',
      '2 /a/4 first_data – Indexed',
      '2 /a/new appeared – –',
      '2 /a/new first_data – Indexed',
      '2 /b/1 first_data – Not Indexed',
      ...['/a/1', '/a/2', '/a/4'].flatMap((page) =>
        [...fell, `searchengine_canonical ${page} –`, `user_canonical ${page} –`].map((text) => `3 ${page} ${text}`),
      ),
      '4 /b/2 first_data – Indexed',
    ]);
  });

  test('the index adds up', async () => {
    const balance = await analysisRows(reader, 'index_balance', { since: '2025-03-01' });
    expect(balance).toMatchObject([
      { indexed_before: 2, first_inspected: 2, entered: 1, appeared: 0, fell_out: 0, indexed: 5 },
      { indexed_before: 5, first_inspected: 0, entered: 0, fell_out: 3, deindexed: 3, indexed: 2 },
      { indexed_before: 2, first_inspected: 1, entered: 0, fell_out: 0, indexed: 3 },
    ]);
    // What was first inspected in the period neither entered nor fell out.
    const [whole] = await analysisRows(reader, 'index_balance', { since: '2025-03-02', total: 'true' });
    expect(whole).toMatchObject({ indexed_before: 2, first_inspected: 2, entered: 1, fell_out: 2, indexed: 3 });
    const [place] = await analysisRows(reader, 'deindexed_by_directory', { since: '2025-03-02' });
    expect(place).toMatchObject({ directory: '/a/', indexed_before: 2, first_inspected: 1, entered: 1, indexed: 2 });
    const places = await analysisRows(reader, 'coverage_by_directory', { since: '2025-03-02' });
    expect(places.map(({ directory, indexed_change }) => [directory, indexed_change])).toEqual([
      ['/a/', -1],
      ['/b/', 0],
    ]);
  });

  test('every face says how much is not known', async () => {
    const report = await readReport(reader, { until: '2025-03-02', version: 'test', now: 0 });
    const shown = shownText(reportPage(report)).replaceAll('\u00a0', ' ');
    for (const text of [
      '5 of 7 pages are known to be indexed, 1 more of the pages known on Mar 1. No page fell out of the index.',
      '2 pages inspected for the first time are indexed.',
      'Between 43.9% and 85.4% of the site is indexed, by 4 random inspections since Mar 2; 1 page is not inspected yet.',
      '2 indexed before + 2 inspected for the first time + 1 entered',
    ])
      expect(shown).toContain(text);
    const sentences = await analysisRows(reader, 'page', { url: pageOf('/a/4') });
    expect(sentences.map(({ sentence }) => sentence)).toContain('inspected for the first time: indexed.');
    const early = await analysisRows(reader, 'compare', { since: '2025-03-01', until: '2025-03-02' });
    expect(early).toContainEqual(
      expect.objectContaining({ figure: 'Not inspected yet', left_pages: 3, right_pages: 1 }),
    );
  });

  test('what fell out is dated between two inspections, and the pages with most clicks come first', async () => {
    const fell = await analysisRows(reader, 'deindexed_pages', { since: '2025-03-03' });
    const shown = ['url', 'clicks', 'snapshot_date', 'last_seen_indexed_at'];
    expect(
      fell.map((row) =>
        shown
          .map((name) => row[name])
          .join(' ')
          .replace(pageOf(''), ''),
      ),
    ).toEqual([
      '/a/1 40 2025-03-03 2025-03-01T10:01:00.000Z',
      '/a/2 7 2025-03-03 2025-03-01T10:01:00.000Z',
      '/a/4 0 2025-03-03 2025-03-02T10:01:00.000Z',
    ]);
  });
});

test('first inspections of a partial night hide no loss of the next', async () => {
  const warehouse = `${temporaryFolder()}/warehouse`;
  const lists = Array.from({ length: 80 }, (_, at) => `/p/${at}`);
  const all = (found: string, pages: readonly string[]) => Object.fromEntries(pages.map((page) => [page, found]));
  await commitInspected(warehouse, [
    { lists, inspects: all(IN, lists.slice(0, 40)), clicks: { '/p/0': 5 } },
    { lists, inspects: all(IN, lists.slice(40, 79)), partial: true },
    { lists, inspects: all(OUT, lists.slice(0, 20)) },
  ]);
  const reader = await openReader(warehouse);
  const { notify, views } = configFor({ baseUrl: 'http://127.0.0.1:1', warehouse });
  await reader.rows(z.unknown(), sql('app/notify/places_of'));
  const [row] = await askRows(reader, 'app/notify/snapshots', snapshotRow, { newest: 1 });
  const notices = row && (await ofSnapshot(reader, { ...row, website_name: null }, { notify, views }));
  expect(notices?.filter(({ kind }) => kind === 'indexed_drop')).toMatchObject([
    {
      what: expect.stringMatching(
        /^indexed pages fell from 40 to 20 \(−50\.0%\) since 2025-03-01; .* had 5 clicks in 28 days;/,
      ),
      count: 20,
    },
  ]);
});

describe('rich results and referring URLs of inspections', () => {
  const types = (found: Record<string, [severity: string, message: string][][]>, verdict = 'PASS') => ({
    richResultsResult: {
      verdict,
      detectedItems: Object.entries(found).map(([richResultType, items]) => ({
        richResultType,
        items: items.map((issues) => ({
          issues: issues.map(([severity, issueMessage]) => ({ severity, issueMessage })),
        })),
      })),
    },
  });
  const brand: [string, string] = ['WARNING', 'no brand'];
  const offers: [string, string] = ['ERROR', 'no offers'];
  const warned = types({ Product: [[brand, offers], [brand], []], Breadcrumbs: [[]] }, 'FAIL');
  const lists = ['/p/1', '/p/2', '/p/3', '/p/4', '/p/odd', '/v/in', '/v/none'];
  const seen = (...paths: string[]) => Object.fromEntries(paths.map((path) => [path, IN]));
  let warehouse: string;
  let reader: Reader;

  beforeAll(async () => {
    warehouse = `${temporaryFolder()}/warehouse`;
    const plain = types({ Product: [[]], Breadcrumbs: [[]] });
    const odd = { richResultsResult: { verdict: 7, detectedItems: { a: 1 } }, referringUrls: 'none', siteUrl: SITE };
    const extra = {
      '/p/1': { ...plain, referringUrls: [pageOf('/b'), pageOf('/a')] },
      '/p/2': warned,
      '/p/3': plain,
      '/p/4': types({ Product: [[offers], [brand]] }, 'FAIL'),
      '/p/odd': odd,
    };
    const nights = [
      { lists, inspects: { ...seen(...lists), '/v/none': '' }, extra },
      // One gets an error, one loses a type, one falls out of the index: it keeps what it had; two have no verdict.
      {
        ...{ lists, inspects: { ...seen('/p/1', '/p/2'), '/p/3': OUT, '/v/in': '', '/v/none': '' } },
        extra: { '/p/1': warned, '/p/2': types({ Product: [[brand]] }) },
      },
      // Not one of these nights inspects all pages.
      {
        ...{ lists, inspects: seen('/p/1', '/p/3', '/p/odd') },
        extra: { '/p/1': { ...plain, referringUrls: [pageOf('/b'), pageOf('/c')] }, '/p/odd': plain },
      },
    ];
    await commitInspected(warehouse, nights, 'shop');
    reader = await openReader(warehouse);
  });

  const changes = async (parameters: Record<string, string> = {}) => {
    const rows = await analysisRows(reader, 'rich_result_changes', { since: '2025-03-01', ...parameters });
    return rows.map(({ url, snapshot_date, change, rich_result_type, issue }) =>
      [url, snapshot_date, change, rich_result_type, issue ?? '–'].join(' ').replace(pageOf(''), ''),
    );
  };

  test('are tables with a row for each issue and address, and no longer text', async () => {
    const columns = 'url, verdict, rich_result_type, items, severity, issue, occurrences';
    const rows = await rowsOf(reader, `select ${columns} from rich_results where snapshot_date = '2025-03-01'`);
    const texts = rows.map((row) => Object.values(row).map((value) => value ?? '–'));
    expect(texts.map((values) => values.join(' ').replace(pageOf('/'), ''))).toEqual([
      ...['p/1 PASS Breadcrumbs 1 – – 0', 'p/1 PASS Product 1 – – 0', 'p/2 FAIL Breadcrumbs 1 – – 0'],
      ...['p/2 FAIL Product 3 ERROR no offers 1', 'p/2 FAIL Product 3 WARNING no brand 2'],
      ...['p/3 PASS Breadcrumbs 1 – – 0', 'p/3 PASS Product 1 – – 0'],
      ...['p/4 FAIL Product 2 ERROR no offers 1', 'p/4 FAIL Product 2 WARNING no brand 1'],
      // In a form that nobody documented; and indexed, without any.
      ...['p/odd 7 – 0 – – 0', 'v/in – – 0 – – 0'],
    ]);
    const extra = await rowsOf(reader, "select distinct extra from url_reports where extra <> '{}'");
    expect(extra).toEqual([{ extra: `{"siteUrl":"${SITE}"}` }]);
  });

  test('referring URLs are lost and gained between two inspections, and one without any has lost them', async () => {
    const linked = async (parameters: Record<string, string>) => {
      const rows = await analysisRows(reader, 'referring_url_changes', parameters);
      return rows.map(({ url, snapshot_date, referring, lost, gained }) =>
        [url, snapshot_date, referring, `-${lost}`, `+${gained}`].join(' ').replaceAll(pageOf(''), ''),
      );
    };
    const second = '/p/1 2025-03-02 0 -/a,/b +';
    expect(await linked({ since: '2025-03-01' })).toEqual(['/p/1 2025-03-03 2 - +/b,/c', second]);
    // The inspection before the period is compared with, too.
    expect(await linked({ since: '2025-03-02', until: '2025-03-02', url_contains: '/P/1' })).toEqual([second]);
  });

  test('a page whose first inspection found errors says so in its answer, in lists and in the report', async () => {
    const failing = await analysisRows(reader, 'pages', { problem: 'rich_results' });
    expect(failing).toMatchObject([{ url: pageOf('/p/4'), problems: ['rich_results'] }]);
    const said = async (path: string) => JSON.stringify(await analysisRows(reader, 'page', { url: pageOf(path) }));
    expect(await said('/p/4')).toContain('Rich results with errors: Product (no offers).');
    expect(await said('/p/2')).not.toContain('Rich results');
    const report = await readReport(reader, { version: '0', now: Date.parse('2025-03-03T12:00:00Z') });
    expect(report.sections[0]?.story).toContain('1 page has errors in rich results.');
    const visitor = await (await startDashboard(warehouse)).visitor(SHOP_TOKEN);
    const marked = await visitor.get('/dashboard/websites/shop/pages?problem=rich_results');
    expect(cellsOf(marked, 'pages').map(([page]) => page)).toEqual([`${pageOf('/p/4')} rich results with errors`]);
  });

  test('an inspection without a verdict leaves the last one, and is an inspection', async () => {
    const columns = 'status, index_coverage_state, last_crawl_time';
    expect(await rowsOf(reader, `select ${columns} from pages where url like '%/v/%' order by url`)).toEqual([
      { status: 'indexed', index_coverage_state: IN, last_crawl_time: '2025-03-01T10:00:00.000Z' },
      { status: 'no_data', index_coverage_state: null, last_crawl_time: null },
    ]);
    const changed = "from page_changes where url like '%/v/%' and change <> 'first_data'";
    expect(await rowsOf(reader, changed)).toEqual([]);
  });

  test('changes are what differs between two inspections of a page in the index', async () => {
    expect(await changes()).toEqual([
      '/p/3 2025-03-03 lost Breadcrumbs –',
      '/p/3 2025-03-03 lost Product –',
      '/p/1 2025-03-02 error Product no offers',
      '/p/2 2025-03-02 lost Breadcrumbs –',
    ]);
    expect(await changes({ improved: 'true' })).toEqual([
      '/p/1 2025-03-03 repaired Product no offers',
      '/p/odd 2025-03-03 found Breadcrumbs –',
      '/p/odd 2025-03-03 found Product –',
      '/p/2 2025-03-02 repaired Product no offers',
    ]);
    const ofProduct = await changes({ until: '2025-03-02', rich_result_type: 'Product' });
    expect(ofProduct).toEqual(['/p/1 2025-03-02 error Product no offers']);
    expect((await findingsOf(warehouse)).filter(({ level }) => level !== 'lag')).toEqual([]);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { LiveReader } from '../../../src/serve/store/live-reader.js';
import { parsed } from '../../answers/report/parsed.js';
import { temporaryFolder } from '../../given/folder.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { type Dashboard, HOSTILE, MARKUP, NIGHTS, OTHER_TOKEN, pageAt, SHOP_TOKEN, startDashboard } from './given.js';
import { type Answer, linksOf, rowsOf, shownText, type Visitor } from './visitor.js';

const SHOP = '/dashboard/websites/shop';
/** The pages of a website with an odd id, of which everything is known. */
const ODD = '/dashboard/websites/a%20b%2F%C3%BC%3F%23%25/pages';
const VIEWS = [
  { name: 'Out <b>', pages: { directory: '/p/', indexed: 'no' } as const },
  { name: 'Elsewhere', website: 'other', pages: {} },
];

const shop = sharedWarehouse(() => buildWarehouse(NIGHTS));
let dashboard: Dashboard;
let visitor: Visitor;
let other: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard(shop.path, { views: VIEWS });
  visitor = await dashboard.visitor(SHOP_TOKEN);
  other = await dashboard.visitor(OTHER_TOKEN);
});

/** What was written by strangers is shown as text: it runs nothing, and leads nowhere but to the web. */
function expectHarmless(answer: Answer): void {
  const { tags, attributes } = parsed(answer.text);
  expect(answer.status).toBe(200);
  expect(['img', 'iframe', 'object', 'style', 'script'].filter((tag) => tags.has(tag))).toEqual([]);
  expect(attributes.filter(({ name }) => name.startsWith('on') || name === 'src')).toEqual([]);
  for (const link of linksOf(answer)) expect(link).toMatch(/^(?:https?:\/\/|\/dashboard\/|#content$)/);
  expect(answer.text).not.toMatch(/[\u202e\u009b]/);
}

function pageOf(url: string, rest = ''): string {
  return `${SHOP}/page?url=${encodeURIComponent(url)}${rest}`;
}

/** The pages that a query of the table gives, by their addresses, and how many there are in all. */
async function pagesOf(query: string): Promise<{ shown: string; urls: string[]; rows: string[][]; answer: Answer }> {
  const answer = await visitor.get(`${SHOP}/pages?${query}`);
  const rows = rowsOf(answer, 'pages');
  const shown = shownText(/class="shown">([^<]*)</.exec(answer.text)?.[1] ?? '');
  return { shown, urls: rows.map(([url = '']) => url), rows, answer };
}

describe('the overview', () => {
  it('sums up the last days in sentences with links', async () => {
    const answer = await visitor.get(SHOP);
    expectHarmless(answer);
    const lead = /<p class="lead">(.*?)<\/p>/.exec(answer.text)?.[1] ?? '';
    expect(shownText(lead)).toBe(
      '77 of 123 pages are indexed (62.6%), 9 fewer than on Mar\u00a01. 9 pages fell out of the index.',
    );
    expect(rowsOf(answer, 'deltas')[1]).toEqual(['Share indexed', '62.6%', '±0.0 points', '–', '–', '–']);
    const links = linksOf(answer);
    expect(links).toContainEqual(expect.stringContaining('/pages?changed=fell_out'));
    // A directory of the heat map leads to its pages, and a night that stands out to its changes.
    expect(links).toContain(`${SHOP}/pages?directory=%2Fp%2F`);
    expect(links).toContain(`${SHOP}/changes?from=2025-03-02&to=2025-03-02&directory=%2Fp%2F`);
    // A view has one count: here, and where its link leads. Pages 1 to 9 fell out, 4 and 8 of which were out before.
    const views = rowsOf(answer, 'views');
    expect(views.map(([name, , change]) => `${name} ${change}`)).toEqual(['Out <b> +7']);
    const leads = links.find((link) => /pages\?directory=\S*indexed=no/.test(link)) ?? '';
    expect(shownText((await visitor.get(leads)).text)).toMatch(new RegExp(`\\b${views[0]?.[1]} pages\\b`));
  });
});

describe('the table of pages', () => {
  it('is read window by window, every page once', async () => {
    const windows = [];
    for (const page of [1, 2]) windows.push(await pagesOf(`per=100&page=${page}`));
    for (const { answer } of windows) expectHarmless(answer);
    expect(windows.map(({ shown }) => shown)).toEqual(['1 to 100 of 123 pages', '101 to 123 of 123 pages']);
    const urls = windows.flatMap((window) => window.urls);
    expect(new Set(urls).size).toBe(123);
    expect(urls.filter((url) => url.includes('/p/'))).toEqual(Array.from({ length: 119 }, (_, at) => pageAt(at)));
    const links = windows.flatMap(({ answer }) => linksOf(answer));
    expect(links).toContain(`${SHOP}/pages?per=100&sort=url&page=2#results`);
  });

  it('takes % literally, and ignores empty and unknown fields', async () => {
    expect((await pagesOf('q=%25&per=200&indexed=&state=&canonical=&unknown=1')).urls).toHaveLength(1);
  });

  it('shows at most 200 rows, and names what it cannot read', async () => {
    for (const [query, name] of [
      ['per=201', 'per'],
      ['sort=url;drop table pages', 'sort'],
      ['q=a&q=b', 'q'],
    ] as const) {
      const { answer } = await pagesOf(query);
      expect([query, answer.status]).toEqual([query, 400]);
      expect(answer.text).toContain(`no valid value for “${name}”`);
    }
    expect((await pagesOf('page=4')).answer.text).toContain('There is no page 4: the last one is 3.');
  });

  it('has as many pages for a value as its link leads to', async () => {
    const { answer } = await pagesOf('per=200&monitored=all');
    const part = /<h2>Fetch<\/h2><ul>([\s\S]*?)<\/ul>/.exec(answer.text)?.[1] ?? '';
    const [, link = '', pages] =
      [...part.matchAll(/<a href="([^"]*)"[^>]*>.*?<\/a> <span>([\d,]+)<\/span>/g)].at(-1) ?? [];
    expect(`${rowsOf(await visitor.get(shownText(link)), 'pages').length}`).toBe(pages);
  });
});

it('the columns of the table of pages show what is known, and run nothing that strangers wrote', async () => {
  const columns = 'state,canonical,declared,crawl,report,inspected,fetch,robots,sitemaps,detected,first_seen';
  const answer = await other.get(`${ODD}?columns=${columns}`);
  const [known, strange, without] = rowsOf(answer, 'pages');
  expect(known).toEqual([
    ...[pageAt(201), 'Submitted and indexed', `${pageAt(202)} differs`, 'itself', '2025-02-20 12:00 UTC'],
    ...['less than a day', '2025-02-27 10:30 UTC', 'Soft 404', 'No'],
    'https://shop.example/1.xmlhttps://shop.example/2.xmlhttps://shop.example/3.xmland 2 more',
    ...['2024-12-01 00:00 UTC', '2025-03-01 02:00 UTC'],
  ]);
  expect(strange?.slice(7, 9)).toEqual([MARKUP, MARKUP]);
  expect(without?.slice(1, 4)).toEqual(['Crawled - currently not indexed', '–', '–']);
  expectHarmless(answer);
});

it('a download has what the list shows: its pages, their order and its columns', async () => {
  const query = 'q=/p/&indexed=no&sort=-state&columns=state,crawl&per=25';
  const list = await visitor.get(`${SHOP}/pages?${query}`);
  const linkTo = (ending: string) => linksOf(list).find((link) => link.includes(`/pages.${ending}?`)) ?? '';
  const csv = await visitor.get(linkTo('csv'));
  expect([csv.headers.get('content-type'), csv.headers.get('content-disposition')]).toEqual([
    'text/csv; charset=utf-8',
    'attachment; filename="pages.csv"',
  ]);
  expect([...csv.bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const [head, ...lines] = csv.text.trimEnd().split('\r\n');
  expect(head).toBe('url,is_gone,problems,index_coverage_state,last_crawl_time');
  expect(lines).toHaveLength(35);
  expect(lines.slice(0, 25).map((line) => line.split(',')[0])).toEqual(rowsOf(list, 'pages').map(([url]) => url));
  for (const [ending, magic] of Object.entries({ xlsx: 'PK', parquet: 'PAR1', json: '[{"url"' }))
    expect((await visitor.get(linkTo(ending))).text.replaceAll(/\s/g, '').slice(0, magic.length)).toBe(magic);
  // No spreadsheet finds a formula in it.
  const formula = await other.get(`${ODD}.csv?columns=crawler&q=${encodeURIComponent('/p/204')}`);
  expect(formula.text).toBe(`url,is_gone,problems,primary_crawler\r\n${pageAt(204)},false,[],'=1+1\r\n`);
});

it('two dates are compared figure by figure, with the pages in between', async () => {
  const answer = await visitor.get(`${SHOP}/compare?from=2025-03-01&to=2025-03-02`);
  expect(rowsOf(answer, 'compare')).toContainEqual(['Indexed', '86', '77', '−9', '69.4%', '62.1%']);
  expect(linksOf(answer)).toContain(`${SHOP}/pages?from=2025-03-02&to=2025-03-02&changed=fell_out`);
  expect((await visitor.get(`${SHOP}/compare?from=2025-03-99`)).status).toBe(400);
});

it('changes are a row for each page and night, what it means for the index first, without crawls', async () => {
  const answer = await visitor.get(`${SHOP}/changes?per=200`);
  for (const one of [answer, await visitor.get(pageOf(HOSTILE[0] ?? ''))]) expectHarmless(one);
  const rows = rowsOf(answer, 'changes');
  const second = rows.filter(([, night]) => night === '2025-03-02');
  expect(second.slice(0, 9).every(([, , index]) => index === '▼ left the index')).toBe(true);
  const [, , , what] = second.find(([url]) => url === pageAt(5)) ?? [];
  expect(what).toMatch(
    /^state: Submitted and indexed → Crawled - currently not indexed; canonical: itself → \(none\);/,
  );
  const gone = rows.filter(([, , index]) => index === '▼ gone from the listing');
  expect(gone.map(([url, night]) => `${url} ${night}`)).toEqual([`${pageAt(119)} 2025-03-03`]);
  expect(rows.filter((row) => row.join().includes('crawled'))).toEqual([]);
  const all = rowsOf(await visitor.get(`${SHOP}/changes?kind=all&per=200`), 'changes');
  expect(all.filter((row) => row[3] === 'crawled').map(([url]) => url)).toContain(pageAt(11));
});

it('the timeline of a page says what it is, what happened to it, and its newest listing and report', async () => {
  const { text } = await visitor.get(pageOf(pageAt(5)));
  const timeline = /<ol class="timeline">([\s\S]*?)<\/ol>/.exec(text)?.[1] ?? '';
  expect(shownText(timeline)).toMatch(/^\s*2025-03-02\s*▼ left the index\s*state: Submitted and indexed → Crawled/);
  const bands = [...text.matchAll(/<rect class="([\w-]+)" x="(\d+)" width="(\d+)"/g)];
  expect(bands.map(([, ...band]) => band.join(' '))).toEqual(['indexed 0 1', 'not-indexed 1 3']);
  expect(shownText(text)).toMatch(
    /Not indexed since Mar 2, 2025: Crawled[\s\S]*First seen2025-03-01 02:00 UTC[\s\S]*Fetched2025-03-04 02:00 UTC \(less/,
  );
});

it('every run is listed with its counts and contract violations', async () => {
  const answer = await visitor.get(`${SHOP}/runs`);
  expectHarmless(answer);
  expect(rowsOf(answer, 'runs').map((row) => row.slice(0, 5).join(' '))).toEqual([
    '2025-03-04 02:00 UTC complete 123 123 0',
    '2025-03-03 02:00 UTC complete 124 124 2',
    '2025-03-02 02:00 UTC complete 124 124 0',
    '2025-03-01 02:00 UTC complete 124 124 0',
  ]);
  const rejected = rowsOf(answer, 'rejected').map((row) => row.slice(1).join(' '));
  expect(rejected).toEqual(['index_summary coverage 1', 'index_summary url report 1']);
  expect(rowsOf(answer, 'drift').length).toBeGreaterThan(0);
});

it('columns of one’s own are in the table of pages and its downloads, and narrow it down', async () => {
  const file = join(temporaryFolder(), 'owners.csv');
  writeFileSync(file, `pattern,owner,tier\n/p/00*,"${MARKUP.replaceAll('"', '""')}",a&b\n/p/*,Ben,\n`);
  const reader = new LiveReader({ warehouse: shop.path, memoryLimit: 256e6, pagesFrom: file });
  onTestFinished(() => reader.close());
  const visitor = await (await startDashboard(shop.path, { reader })).visitor(SHOP_TOKEN);
  const all = await visitor.get(`${SHOP}/pages?per=200`);
  const shown = new Map(rowsOf(all, 'pages').map(([url = '', ...cells]) => [url, cells.slice(-2)]));
  expect([shown.get(pageAt(0)), shown.get(pageAt(10))]).toEqual([
    [MARKUP, 'a&b'],
    ['Ben', '–'],
  ]);
  expect(all.text).not.toContain('<script');
  const link = linksOf(all).find((one) => one.includes(`own=${encodeURIComponent('owner=Ben')}`)) ?? '';
  const [head = '', ...lines] = (await visitor.get(link.replace('/pages?', '/pages.csv?'))).text.split('\r\n');
  expect([head.slice(-11), lines[0]?.slice(-5), lines.length]).toEqual([',owner,tier', ',Ben,', 110]);
  expect(shownText((await visitor.get(`${SHOP}/pages?own=x%3D1`)).text)).toContain('own: there is no column "x"');
});

describe('hostile data', () => {
  it('in an address is an answer, never a failure', async () => {
    const answerTo = async (path: string) => {
      const { status, text } = await visitor.get(path);
      expect(text).not.toMatch(/<script>alert|<img/);
      return status;
    };
    for (const field of ['pages?q', 'pages?sort', 'changes?kind', 'page?url', 'runs?page']) {
      const path = `${SHOP}/${field}=${encodeURIComponent(MARKUP)}`;
      expect([path, await answerTo(path)]).toEqual([path, expect.toBeOneOf([200, 400, 404])]);
    }
    // What is no text at all is refused before it reaches the dashboard.
    expect(await answerTo('/dashboard/websites/%ed%a0%80')).toBe(400);
    expect(await answerTo(`/dashboard/websites/${encodeURIComponent(MARKUP)}`)).toBe(404);
    for (const path of [`${SHOP}/nothing`, '/dashboard/websites/', '/dashboard/assets/%2e%2e%2fdashboard.js'])
      expect([path, await answerTo(path)]).toEqual([path, 404]);
    expect(dashboard.failures).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { indexed, out } from '../report/given.js';
import { parsed } from '../report/parsed.js';
import { type Dashboard, HOSTILE, MARKUP, pageAt, SHOP_TOKEN, startDashboard } from './given.js';
import { type Answer, linksOf, rowsOf, shownText, Visitor } from './visitor.js';

const PAGES = '/dashboard/websites/shop/pages';
const UNASKED = ['Page', 'Indexed', 'State', 'Canonical', 'Last crawl', 'Report age'];
/** Every column beside the page, in the order of the list. */
const OTHERS = [
  'indexed',
  'state',
  'canonical',
  'declared',
  'crawl',
  'crawl_age',
  'report',
  'inspected',
  'fetch',
  'robots',
  'allowed',
  'crawler',
  'sitemaps',
  'detected',
  'first_seen',
];
const KNOWN = {
  ...indexed(pageAt(1), pageAt(2)),
  report: {
    page_fetch_status: 'Soft 404',
    blocked_by_robots_txt: 'No',
    indexing_allowed: 'Yes',
    searchenginebot_primary_crawler: 'MOBILE',
    sitemaps: [1, 2, 3, 4, 5].map((number) => `https://shop.example/${number}.xml`),
    inspection_date: '2025-02-27T10:30:00Z',
    page_detection: '2024-12-01T00:00:00Z',
  },
};
const TEXTS = {
  page_fetch_status: MARKUP,
  blocked_by_robots_txt: MARKUP,
  indexing_allowed: MARKUP,
  searchenginebot_primary_crawler: `${MARKUP}\u202e`,
  sitemaps: [...HOSTILE],
};
const STRANGE = {
  ...indexed(pageAt(3)),
  entry: { ...indexed(pageAt(3)).entry, user_selected_canonical: HOSTILE[0] },
  report: TEXTS,
};

/** A text that a spreadsheet would run. */
const FORMULA = { url: pageAt(200), report: { searchenginebot_primary_crawler: '=1+1' } };

let shop: BuiltWarehouse;
let dashboard: Dashboard;
let visitor: Visitor;

beforeAll(async () => {
  const pages = [KNOWN, STRANGE, { ...out(pageAt(4)), report: null }];
  const many = Array.from({ length: 30 }, (_, number) => ({ url: pageAt(100 + number), report: null }));
  shop = await buildWarehouse([{ at: '2025-03-01T02:00:00Z', lists: { shop: [...pages, ...many, FORMULA] } }]);
  dashboard = await startDashboard(shop.path);
  visitor = new Visitor(dashboard.origin);
  await visitor.signIn(SHOP_TOKEN);
});
afterAll(async () => {
  await dashboard.close();
  shop.remove();
});

function headsOf({ text }: Answer): string[] {
  return [...text.matchAll(/<th scope="col"[^>]*>(.*?)<\/th>/g)].map(([, head = '']) =>
    shownText(head).replace(/ [▲▼]$/, ''),
  );
}

function tickedOf({ text }: Answer): string[] {
  return [...text.matchAll(/type="checkbox" name="columns" value="(\w+)" checked=""/g)].map(([, value = '']) => value);
}

describe('the columns of the list of pages', () => {
  it.each(['', '?columns=', '?columns=&columns=', '?columns=,', '?columns=report,crawl,canonical,state,indexed'])(
    'are six unasked: %s',
    async (query) => {
      const answer = await visitor.get(PAGES + query);
      expect(headsOf(answer)).toEqual(UNASKED);
      expect(tickedOf(answer)).toEqual(['indexed', 'state', 'canonical', 'crawl', 'report']);
      expect(linksOf(answer).filter((link) => link.includes('columns='))).toEqual([]);
    },
  );

  it('are those that are asked for, each once, in the order of the list, behind the page', async () => {
    for (const [query, heads] of [
      ['columns=url', ['Page']],
      ['columns=first_seen,state', ['Page', 'State', 'First seen']],
      ['columns=url&columns=crawler&columns=crawler,fetch', ['Page', 'Page fetch', 'Crawler']],
    ] as const) {
      expect(headsOf(await visitor.get(`${PAGES}?${query}`))).toEqual(heads);
    }
    expect(tickedOf(await visitor.get(`${PAGES}?columns=${OTHERS.join()}`))).toEqual(OTHERS);
    expect(tickedOf(await visitor.get(`${PAGES}?columns=url`))).toEqual([]);
  });

  it('show what is known of a page', async () => {
    const [known, strange, without] = rowsOf(await visitor.get(`${PAGES}?columns=${OTHERS.join()}`), 'pages');
    expect(known).toEqual([
      pageAt(1),
      'yes',
      'Submitted and indexed',
      `${pageAt(2)} differs`,
      'itself',
      '2025-02-20 12:00 UTC',
      '12 days',
      '4 days',
      '2025-02-27 10:30 UTC',
      'Soft 404',
      'No',
      'Yes',
      'MOBILE',
      'https://shop.example/1.xmlhttps://shop.example/2.xmlhttps://shop.example/3.xmland 2 more',
      '2024-12-01 00:00 UTC',
      '2025-03-01 02:00 UTC',
    ]);
    expect(strange?.slice(9, 12)).toEqual([MARKUP, MARKUP, MARKUP]);
    expect(without).toEqual([
      pageAt(4),
      'no',
      'Crawled - currently not indexed',
      ...Array(12).fill('–'),
      '2025-03-01 02:00 UTC',
    ]);
  });

  it('that are not known are refused by name', async () => {
    for (const bad of [
      'nothing',
      'URL',
      'url;drop table pages',
      'state,website_id',
      '__proto__',
      'x'.repeat(501),
      MARKUP,
    ]) {
      for (const query of [`columns=${encodeURIComponent(bad)}`, `columns=state&columns=${encodeURIComponent(bad)}`]) {
        const answer = await visitor.get(`${PAGES}?${query}`);
        expect([query, answer.status]).toEqual([query, 400]);
        expect(answer.text).toContain('no valid value for “columns”');
      }
    }
    expect(dashboard.failures).toEqual([]);
  });

  it('are those of a download, in which no spreadsheet finds a formula', async () => {
    const csv = await visitor.get(`${PAGES}.csv?columns=crawler&q=${encodeURIComponent('/p/200')}`);
    expect(csv.text).toBe(`url,is_gone,primary_crawler\r\n${pageAt(200)},false,'=1+1\r\n`);
    const json = await visitor.get(`${PAGES}.json?columns=crawler&q=${encodeURIComponent('/p/200')}`);
    expect(JSON.parse(json.text)).toEqual([{ url: pageAt(200), is_gone: false, primary_crawler: '=1+1' }]);
  });

  it('show what strangers wrote, and run none of it', async () => {
    const answer = await visitor.get(`${PAGES}?columns=${OTHERS.join()}`);
    const { tags, attributes } = parsed(answer.text);
    expect([...tags].filter((tag) => ['img', 'iframe', 'object', 'style'].includes(tag))).toEqual([]);
    expect(attributes.filter(({ name }) => name.startsWith('on'))).toEqual([]);
    for (const link of linksOf(answer)) expect(link).toMatch(/^(?:\/dashboard\/|#content$)/);
    expect(answer.text).toContain('and 1 more');
    expect(answer.text).not.toMatch(/[\u202e\u009b]/);
  });
});

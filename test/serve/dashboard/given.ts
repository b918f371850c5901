import { buildServer, type ServerOptions } from '../../../src/serve/api/http.js';
import { addDashboard, type DashboardOptions } from '../../../src/serve/dashboard/dashboard.js';
import { LiveReader } from '../../../src/serve/store/live-reader.js';
import type { KeyDetails } from '../../../src/source/contract/key.js';
import { broken, indexed, out } from '../../answers/report/given.js';
import { atEnd } from '../../given/folder.js';
import type { GivenPage } from '../../given/service.js';
import type { Night } from '../../given/warehouse.js';
import { storeOf } from '../scripted-store.js';
import { Visitor } from './visitor.js';

export const NOW = Date.parse('2025-03-05T08:00:00Z');
/** May read `shop` and `empty`, of which nothing was observed yet. */
export const SHOP_TOKEN = 'shop-token-5f2e';
export const OTHER_TOKEN = 'other-token-91ab';
const ODD_ID = 'a b/ü?#%';
const GRANTED: Readonly<Record<string, readonly string[]>> = {
  [SHOP_TOKEN]: ['shop', 'empty'],
  [OTHER_TOKEN]: ['other', ODD_ID],
};

export const MARKUP = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`;
/** Absolute URLs to the contract, all of them. */
export const HOSTILE = [
  `https://shop.example/evil/${MARKUP.replaceAll(' ', '/')}`,
  'https://shop.example/evil/\u202egnp.exe',
  'javascript://shop.example/%0aalert(5)',
  `https://shop.example/evil/${'long/'.repeat(300)}end`,
];
/** Listed by both websites. */
export const SHARED = 'https://shop.example/p/000';
export const SECRET = 'https://other.example/secret/';

export function pageAt(number: number): string {
  return `https://shop.example/p/${String(number).padStart(3, '0')}`;
}

/**
 * 120 pages of `shop`, of which every fourth is not indexed, every tenth has another canonical and the last ten were
 * never inspected. In the second night pages 1 to 9 fall out, in the third page 119 is gone and one record is broken;
 * the fourth settles that, and page 11 was crawled again.
 */
function shopPages(night: number): GivenPage[] {
  const pages = Array.from({ length: 120 }, (_, number) => givenPage(number, night));
  const hostile = HOSTILE.map((url, at) =>
    night > 1 && at % 2 === 0 ? out(url, MARKUP) : indexed(url, 'javascript://shop.example/%0aalert(6)'),
  );
  const listed = night > 2 ? pages.slice(0, -1) : pages;
  return [...listed, ...hostile, ...(night === 3 ? [broken('https://shop.example/broken')] : [])];
}

function givenPage(number: number, night: number): GivenPage {
  const url = pageAt(number);
  const report = {
    page_fetch_status: 'Successful',
    blocked_by_robots_txt: 'No',
    sitemaps: ['https://shop.example/sitemap.xml', 'javascript://shop.example/%0aalert(7)'],
    inspection_link: 'javascript://shop.example/%0aalert(8)',
  };
  if (number >= 110) return { url, report: null };
  const isOut = number % 4 === 0 || (night > 1 && number >= 1 && number <= 9);
  const page = isOut ? out(url) : indexed(url, number % 10 === 0 ? pageAt(1) : url);
  const crawled = night === 4 && number === 11 ? { last_crawl_time: '2025-03-03T12:00:00Z' } : {};
  return { ...page, entry: { ...page.entry, ...crawled }, report };
}

/** Pages of a website with an odd id: one of which everything is known, one of strangers' texts, one without a report. */
const ODD_PAGES: GivenPage[] = [
  {
    ...indexed(pageAt(201), pageAt(202)),
    report: {
      page_fetch_status: 'Soft 404',
      blocked_by_robots_txt: 'No',
      sitemaps: [1, 2, 3, 4, 5].map((number) => `https://shop.example/${number}.xml`),
      inspection_date: '2025-02-27T10:30:00Z',
      page_detection: '2024-12-01T00:00:00Z',
    },
  },
  {
    ...indexed(pageAt(202), HOSTILE[0]),
    report: { page_fetch_status: MARKUP, blocked_by_robots_txt: MARKUP, sitemaps: [...HOSTILE] },
  },
  { ...out(pageAt(203)), report: null },
  // A text that a spreadsheet would run.
  { url: pageAt(204), report: { searchenginebot_primary_crawler: '=1+1' } },
];

/** Four nights of `shop`; in the first one the other websites are listed, too, `other` only partially. */
export const NIGHTS: Night[] = [1, 2, 3, 4].map((night) => ({
  at: `2025-03-0${night}T02:00:00Z`,
  lists: {
    shop: shopPages(night),
    ...(night === 1 ? { other: [indexed(SECRET), indexed(SHARED), broken(`${SECRET}x`)], [ODD_ID]: ODD_PAGES } : {}),
  },
  ...(night === 1 ? {} : { maxRejectRatio: 1 }),
}));

export type Dashboard = Awaited<ReturnType<typeof startDashboard>>;

/** A dashboard over a warehouse, listening on loopback, until the end. */
export async function startDashboard(
  warehouse: string,
  { trustProxy, ...options }: Partial<DashboardOptions> & Pick<ServerOptions, 'trustProxy'> = {},
) {
  const reader = new LiveReader({ warehouse, memoryLimit: 256_000_000 });
  const clock = { now: NOW };
  const failures: unknown[] = [];
  const revoked = new Set<string>();
  const store = { ...storeOf(new Map()), findKey: async () => null };
  const app = buildServer(store, {
    ...(trustProxy ? { trustProxy } : {}),
    setup: (server) =>
      addDashboard(server, {
        reader,
        now: () => clock.now,
        findKey: async (token) => (revoked.has(token) ? null : keyOf(token)),
        onError: (error) => failures.push(error),
        ...options,
      }),
  });
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  atEnd(async () => {
    await app.close();
    reader.close();
  });
  const visitor = async (token: string) => {
    const signedIn = new Visitor(origin);
    await signedIn.signIn(token);
    return signedIn;
  };
  return { origin, failures, clock, revoked, visitor };
}

function keyOf(token: string): KeyDetails | null {
  const websites = Object.hasOwn(GRANTED, token) ? GRANTED[token] : undefined;
  if (!websites) return null;
  return {
    _id: token,
    api_key_label: `Key <b>of</b> ${websites[0]}`,
    account: { _id: 'account', email: 'account@example.com' },
    websites_access: websites.map((_id) => ({ _id, url: `${_id}.example` })),
  };
}

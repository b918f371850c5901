import { buildServer } from '../../src/serve/api/http.js';
import type { Store } from '../../src/serve/api/store.js';
import type { CoverageEntry } from '../../src/source/contract/coverage.js';
import type { KeyDetails } from '../../src/source/contract/key.js';
import type { UrlReport } from '../../src/source/contract/report.js';
import { datedAt } from './client-clock.js';

/** A page as the test wants the service to know it: what is left out is null. */
export interface GivenPage {
  url: string;
  /** Fields of its entry in the listing. */
  entry?: Partial<CoverageEntry>;
  /** Fields of its URL report; null: the service answers 404. */
  report?: Partial<UrlReport> | null;
}

export interface ScriptedService {
  baseUrl: string;
  /** Says what a website's listing holds from now on, in this order. */
  list(websiteId: string, pages: GivenPage[]): void;
  /** How many requests it got. */
  asked(): number;
  close(): Promise<void>;
}

/** Any token opens it. */
export const TOKEN = 'demo-token';

const NO_ENTRY: Omit<CoverageEntry, 'url'> = {
  index_summary: null,
  index_coverage_state: null,
  searchengine_selected_canonical: null,
  user_selected_canonical: null,
  last_crawl_time: null,
  days_since_last_crawl: null,
  inspection_link: null,
  service_link: null,
};

/** A service on loopback whose listing the test writes itself, night by night. */
export async function startScriptedService(): Promise<ScriptedService> {
  const websites = new Map<string, GivenPage[]>();
  let baseUrl = '';
  const app = buildServer(
    storeOf(websites),
    datedAt(() => baseUrl),
  );
  let asked = 0;
  app.addHook('onRequest', async () => void asked++);
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    baseUrl,
    asked: () => asked,
    list: (websiteId, pages) => void websites.set(websiteId, pages),
    close: () => app.close(),
  };
}

/** An entry of the listing. One without a summary has no inspection data, and so no `canonicals_match`. */
export function entryOf({ url, entry = {} }: GivenPage): CoverageEntry {
  const { searchengine_selected_canonical: engine = null, user_selected_canonical: user = null } = entry;
  const match = entry.index_summary ? { canonicals_match: engine === null ? null : engine === user } : {};
  return { url, ...NO_ENTRY, ...match, ...entry };
}

/** A store whose listing is what the test writes; any token opens it. */
export function storeOf(websites: Map<string, GivenPage[]>): Store {
  return {
    findKey: async () => keyTo([...websites.keys()]),
    hasWebsite: async (websiteId) => websites.has(websiteId),
    listCoverage: async (websiteId, { skip, limit }) => {
      const pages = websites.get(websiteId) ?? [];
      return { entries: pages.slice(skip, skip + limit).map(entryOf), count: pages.length };
    },
    findReports: async (urls, websiteIds) => {
      const pages = websiteIds.flatMap((id) => websites.get(id) ?? []);
      const asked = pages.filter(({ url, report }) => urls.includes(url) && report !== null);
      // The first website that monitors it counts.
      const reports = new Map(asked.reverse().map((page) => [page.url, reportOf(page)]));
      return { reports, elsewhere: new Set() };
    },
  };
}

function reportOf({ url, entry = {}, report = {} }: GivenPage): UrlReport {
  const { index_summary, index_coverage_state } = entry;
  return { url, index_summary, index_coverage_state, ...report };
}

/** A key that may read these websites. */
export function keyTo(websiteIds: string[]): KeyDetails {
  return {
    _id: 'key',
    api_key_label: 'scripted',
    account: { _id: 'account', email: 'account@example.com' },
    websites_access: websiteIds.map((_id) => ({ _id, url: `https://${_id}.example` })),
  };
}

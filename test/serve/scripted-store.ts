import type { Store } from '../../src/serve/api/store.js';
import { entryOf, type GivenPage, givenReport, keyTo } from '../given/service.js';

/** A store whose listing is what the test writes; any token opens it. */
export function storeOf(websites: Map<string, GivenPage[]>): Store {
  return {
    findKey: async () => keyTo([...websites.keys()]),
    hasWebsite: async (websiteId) => websites.has(websiteId),
    listCoverage: async (websiteId, { skip, limit }) => {
      const pages = websites.get(websiteId) ?? [];
      return { entries: pages.slice(skip, skip + limit).map(entryOf), count: pages.length };
    },
    findReport: async (asked, websiteIds) => {
      const pages = websiteIds.flatMap((id) => websites.get(id) ?? []);
      const page = pages.find(({ url, report }) => url === asked && report !== null);
      return page ? { report: givenReport(page) } : null;
    },
  };
}

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
    findReports: async (urls, websiteIds) => {
      const pages = websiteIds.flatMap((id) => websites.get(id) ?? []);
      const asked = pages.filter(({ url, report }) => urls.includes(url) && report !== null);
      // The first website that monitors it counts.
      const reports = new Map(asked.reverse().map((page) => [page.url, givenReport(page)]));
      return { reports, elsewhere: new Set() };
    },
  };
}

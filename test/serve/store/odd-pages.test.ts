import { beforeAll, describe, expect } from 'vitest';
import { withReader } from '../../../src/answers/query/reader.js';
import { pagesQuery, readPages } from '../../../src/serve/dashboard/pages/pages.js';
import { once, testAtLength } from '../../given/at-length.js';
import { serveNights } from '../../given/served.js';
import { entryWindow } from '../client.js';

/** Each with a state of its own. */
const STATES: Readonly<Record<string, string | null>> = {
  'https://www.example.com/empty': '',
  'https://www.example.com/dash': '-',
  'https://www.example.com/quote': '"',
  'https://www.example.com/control': 'a\u0001\nb',
  'https://www.example.com/bidi': 'a\u202eb',
  'https://www.example.com/unknown': null,
  'ftp://www.example.com/file': 'file',
  'data://text/plain,hello': 'data',
};
const URLS = Object.keys(STATES).sort();
/** As many more as a website may have. */
const MORE = Array.from({ length: 11 }, (_, at) => `https://www.example.com/more/${at}`);

let served: Awaited<ReturnType<typeof serveNights>>;
beforeAll(async () => {
  const entry = (url: string) => ({ index_summary: 'Indexed', index_coverage_state: STATES[url] ?? null });
  const more = MORE.map((url) => ({ url, entry: { index_summary: 'Not Indexed', index_coverage_state: url } }));
  const lists = { w: [...URLS.map((url) => ({ url, entry: entry(url) })), ...more] };
  const nights = [{ at: '2025-03-01T02:00:00Z', lists }];
  served = await serveNights(nights, { now: () => Date.parse('2025-03-02T00:00:00Z'), keys: { k: ['w'] } });
});

describe('a page that is monitored', () => {
  once.each(URLS)('%s has a report', async (url) => {
    const answer = await served.get(`/v1/url-report?url=${encodeURIComponent(url)}`);
    expect([answer.status, await answer.json()]).toMatchObject([200, { url, index_summary: 'Indexed' }]);
  });

  once.each(Object.entries(STATES).filter(([, state]) => state !== null))(
    '%s is found by state',
    async (url, state) => {
      const answer = await served.get(`/v1/urls/w?index_coverage_state=${encodeURIComponent(state ?? '')}`);
      const { urls, pagination } = entryWindow.parse(await answer.json());
      expect([urls.map((entry) => entry.url), pagination.count]).toEqual([[url], 1]);
    },
  );
});

testAtLength('the dashboard finds the pages of every state that it offers', async () => {
  await withReader({ warehouse: served.warehouse, memoryLimit: 256_000_000 }, async (reader) => {
    const { facets } = await readPages(reader, 'w', pagesQuery.parse({}));
    const states = facets.flatMap(({ facet, value }) => (facet === 'state' ? (value ?? '-') : []));
    expect(states).toHaveLength(7 + MORE.length);
    for (const state of states) {
      // The empty state and one called `-` are found with those that are unknown.
      const count = state === '-' ? 3 : 1;
      expect(await readPages(reader, 'w', pagesQuery.parse({ state }))).toMatchObject({ count });
    }
  });
});

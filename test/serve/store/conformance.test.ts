import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type CoverageEntry, coverageEntrySchema } from '../../../src/source/contract/coverage.js';
import { errorBodySchema, keyDetailsSchema } from '../../../src/source/contract/key.js';
import { type UrlReport, urlReportSchema } from '../../../src/source/contract/report.js';
import { startSimulator } from '../../given/client-clock.js';
import { NASTY_PATHS } from '../../given/nasty-paths.js';
import { serveSimulated } from '../../given/served.js';
import { entryWindow } from '../client.js';

/** The specification, section by section, held against both stores of the one HTTP interface. */
const PAGES = 60;
const KEYS = { reader: ['shop', 'empty', 'gone'], stranger: ['other'] };

type EntryWindow = z.infer<typeof entryWindow>;

interface Served {
  baseUrl: string;
  entries: Map<string, CoverageEntry>;
  reports: Map<string, UrlReport>;
}

const served: Record<string, Served> = {};

beforeAll(async () => {
  const simulator = await startSimulator({
    websites: [
      { id: 'shop', pages: PAGES, paths: NASTY_PATHS },
      // The pages of both are reported to a key as those of the website that it may read.
      { id: 'other', pages: 5, paths: NASTY_PATHS, domain: 'example.com' },
      { id: 'empty', pages: 0 },
    ],
    nights: 30,
    keys: [...Object.entries(KEYS), ['all', ['shop', 'other', 'empty']] as const].map(([token, websites]) => ({
      token,
      label: token,
      websites,
    })),
  });
  const copy = await serveSimulated(simulator, { token: 'all', keys: KEYS });
  const { entries: listed } = simulator.world.listing('shop', 0, Number.POSITIVE_INFINITY);
  const entries = new Map(listed.map((entry) => [entry.url, entry]));
  const reports = new Map(listed.map(({ url }) => [url, urlReportSchema.parse(simulator.world.report('shop', url))]));
  for (const [name, baseUrl] of Object.entries({ simulator: simulator.url, warehouse: copy.baseUrl }))
    served[name] = { baseUrl, entries, reports };
});

describe.each(['simulator', 'warehouse'])('the %s', (name) => {
  const its = (): Served => {
    const found = served[name];
    if (!found) throw new Error(`${name} is not served`);
    return found;
  };

  async function get(path: string, token: string | null = 'reader'): Promise<{ answer: Response; body: unknown }> {
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(its().baseUrl + path, { headers });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const body: unknown = await answer.json();
    if (answer.status !== 200) expect(errorBodySchema.parse(body).status).toBe(answer.status);
    return { answer, body };
  }

  async function window(path: string): Promise<EntryWindow> {
    const { answer, body } = await get(path);
    expect(answer.status).toBe(200);
    return entryWindow.parse(body);
  }

  const report = (url: string) => get(`/v1/url-report?url=${encodeURIComponent(url)}`);

  describe('2: payloads', () => {
    it('2.1: an entry has the ten fields in their order; without inspection data no canonicals_match', async () => {
      const { urls } = await window('/v1/urls/shop?limit=1000');
      const all = Object.keys(coverageEntrySchema.shape);
      for (const entry of urls) {
        const expected = its().entries.get(entry.url);
        expect(entry).toEqual(expected);
        const hasData = Object.hasOwn(expected ?? {}, 'canonicals_match');
        expect(Object.keys(entry)).toEqual(all.filter((field) => hasData || field !== 'canonicals_match'));
      }
      expect(urls.some((entry) => !Object.hasOwn(entry, 'canonicals_match'))).toBe(true);
      expect(urls.some(({ canonicals_match }) => canonicals_match === null)).toBe(true);
    });

    it('2.3: a report has all 27 fields in their order', async () => {
      for (const [url, expected] of [...its().reports].slice(0, 5)) {
        const { answer, body } = await report(url);
        expect(answer.status).toBe(200);
        expect(body).toEqual(expected);
        expect(Object.keys(urlReportSchema.parse(body))).toEqual(Object.keys(urlReportSchema.shape));
      }
    });
  });

  describe('2.2 and 4.1: the listing', () => {
    it.each(['7', 'all'])('holds every page once in windows of %s', async (pages) => {
      const count = its().entries.size;
      const limit = pages === 'all' ? count : 7;
      const seen: string[] = [];
      let next: string | null = `/v1/urls/shop?skip=0&limit=${limit}`;
      for (let number = 1; next !== null; number++) {
        const { urls, pagination }: EntryWindow = await window(next);
        const skip = (number - 1) * limit;
        expect(pagination).toMatchObject({ count, skip, limit, current_page: number, end: skip + limit >= count });
        expect(pagination.total_page).toBe(Math.ceil(count / limit));
        expect(urls).toHaveLength(Math.min(limit, count - skip));
        const before = number === 1 ? null : `/v1/urls/shop?skip=${skip - limit}&limit=${limit}`;
        expect(pagination.prev_page?.split('&snapshot=')[0] ?? null).toBe(before);
        seen.push(...urls.map((entry) => entry.url));
        next = z.string().nullable().parse(pagination.next_page);
        const after = pagination.end ? null : `/v1/urls/shop?skip=${skip + limit}&limit=${limit}`;
        expect(next?.split('&snapshot=')[0] ?? null).toBe(after);
      }
      expect([...seen].sort()).toEqual([...its().entries.keys()].sort());
    });

    it('beyond its end is an empty window, and of a website without pages too', async () => {
      const { urls, pagination } = await window('/v1/urls/shop?skip=5000&limit=10');
      expect([urls, pagination.count, pagination.end]).toEqual([[], its().entries.size, true]);
      const empty = { count: 0, end: true, next_page: null, prev_page: null, total_page: 1 };
      expect(await window('/v1/urls/empty')).toMatchObject({ urls: [], pagination: empty });
    });

    it.each(['skip=-1', 'skip=2147483648', 'skip=', 'skip=1&skip=2', 'limit=0', 'limit=1e3'])(
      'refuses %s',
      async (query) => {
        expect((await get(`/v1/urls/shop?${query}`)).body).toMatchObject({ status: 400, error: 'bad_request' });
      },
    );
  });

  describe('4.2: the report', () => {
    const BAD = ['', '?url=', '?url=%2Fa', '?url=data%3Atext%2Fplain%2Cx', '?url=https%3A%2F%2Fa&url=https%3A%2F%2Fb'];
    it.each(BAD)('is refused for %j', async (query) => {
      expect((await get(`/v1/url-report${query}`)).body).toMatchObject({ status: 400, error: 'bad_request' });
    });

    it('takes the URL as it was encoded, whatever it holds', async () => {
      const nasty = [...its().reports.keys()].filter((url) => /[%&#+\u0080-\uffff]/.test(url));
      expect(nasty.length).toBeGreaterThan(3);
      for (const url of nasty.slice(0, 12)) expect((await report(url)).body).toMatchObject({ url });
    });
  });

  it('4.3: the key details name what the key may read', async () => {
    const details = keyDetailsSchema.parse((await get('/v1')).body);
    expect(details.websites_access.map(({ _id }) => _id)).toEqual(KEYS.reader);
  });

  describe('5: authentication', () => {
    it.each(['/v1', '/v1/urls/shop', '/v1/url-report?url=https%3A%2F%2Fa'])('%s needs a token', async (path) => {
      for (const token of [null, 'unknown', 'Reader', 'reader reader']) {
        const { body } = await get(path, token);
        expect(body).toEqual({ error: 'unauthorized', message: expect.any(String), status: 401 });
      }
    });

    it('a key is refused what it was not granted', async () => {
      const url = [...its().reports.keys()].at(-1) ?? '';
      const listing = await get('/v1/urls/shop', 'stranger');
      const page = await get(`/v1/url-report?url=${encodeURIComponent(url)}`, 'stranger');
      for (const { body } of [listing, page]) {
        expect(body).toEqual({ error: 'forbidden', message: expect.any(String), status: 403 });
      }
    });
  });

  it.each(['/v1/urls/nowhere', '/v1/urls/gone', '/v1/url-report?url=https%3A%2F%2Fnowhere.example%2F', '/v1/nothing'])(
    '7: %s is not found',
    async (path) => {
      const { body } = await get(path);
      expect(body).toEqual({ error: 'not_found', message: expect.any(String), status: 404 });
    },
  );

  it('answers HEAD as GET, without the body', async () => {
    const headers = { authorization: 'Bearer reader', 'accept-encoding': 'identity' };
    const got = await fetch(`${its().baseUrl}/v1/urls/shop`, { headers });
    const head = await fetch(`${its().baseUrl}/v1/urls/shop`, { method: 'HEAD', headers });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(await got.text())));
  });
});

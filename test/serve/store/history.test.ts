import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { servedResults, servedSnapshots } from '../../../src/serve/api/served.js';
import { coverageEntrySchema, coverageWindowSchema } from '../../../src/source/contract/coverage.js';
import { Documented } from '../../given/documented.js';
import { type ServedWarehouse, serveNights } from '../../given/served.js';
import type { GivenPage } from '../../given/service.js';
import type { Night } from '../../given/warehouse.js';

/** What is there beyond the specification: which nights there are, many reports at once, a whole listing at once. */
const NOW = Date.parse('2025-03-05T12:00:00Z');
const FORMULA = 'https://w.example/b';
const PAGES = ['https://w.example/a', FORMULA, 'https://w.example/c?x=1,2'];
const ELSEWHERE = 'https://v.example/a';

let served: ServedWarehouse;
let documented: Documented;

beforeAll(async () => {
  const night = (date: string, urls: readonly string[], state: string): Night => ({
    at: `${date}T02:00:00Z`,
    lists: {
      w: urls.map((url) => page(url, url === FORMULA ? '=1+1' : state)),
      v: [page(ELSEWHERE, state)],
    },
  });
  served = await serveNights([night('2025-03-01', PAGES.slice(0, 2), 'first'), night('2025-03-02', PAGES, 'second')], {
    now: () => NOW,
    keys: { k: ['w'], both: ['w', 'v'] },
    options: { rateLimit: 1000 },
  });
  documented = await Documented.of(served.baseUrl);
});

function page(url: string, state: string): GivenPage {
  const facts = { index_summary: 'Indexed', index_coverage_state: state };
  return { url, entry: { ...facts, last_crawl_time: '2025-02-20T18:00:00.000Z' }, report: facts };
}

async function ask(path: string, init: RequestInit = {}): Promise<{ answer: Response; text: string }> {
  const answer = await served.get(path, init);
  const text = init.method === 'HEAD' ? '' : await answer.text();
  const isJson = (answer.headers.get('content-type') ?? '').startsWith('application/json') && text !== '';
  documented.check(init.method === 'POST' ? 'POST' : 'GET', path, answer, isJson ? JSON.parse(text) : undefined);
  return { answer, text };
}

async function json(path: string): Promise<unknown> {
  const { answer, text } = await ask(path);
  expect([path, answer.status]).toEqual([path, 200]);
  return JSON.parse(text);
}

describe('the snapshots of a website', () => {
  it('are listed newest first, with the values that as_of and snapshot take', async () => {
    const { snapshots, pagination } = servedSnapshots.parse(await json('/v1/snapshots/w'));
    expect(pagination.count).toBe(2);
    expect(snapshots).toMatchObject([
      { date: '2025-03-02', listing_status: 'complete', reports_status: 'complete', pages: 3, reports: 3 },
      { date: '2025-03-01', listing_status: 'complete', reports_status: 'complete', pages: 2, reports: 2 },
    ]);
    for (const { id, date, pages } of snapshots) {
      for (const query of [`as_of=${date}`, `snapshot=${id}`]) {
        const window = coverageWindowSchema.parse(await json(`/v1/urls/w?${query}`));
        expect([query, window.pagination.count]).toEqual([query, pages]);
      }
    }
  });

  it('come in windows', async () => {
    const first = servedSnapshots.parse(await json('/v1/snapshots/w?limit=1'));
    const second = servedSnapshots.parse(await json(first.pagination.next_page ?? ''));
    expect([...first.snapshots, ...second.snapshots].map(({ date }) => date)).toEqual(['2025-03-02', '2025-03-01']);
    expect(second.pagination.next_page).toBeNull();
  });

  it.each([
    ['/v1/snapshots/v', 403],
    ['/v1/snapshots/nowhere', 404],
    ['/v1/snapshots/w?limit=0', 400],
  ])('%s: %i', async (path, status) => {
    expect((await ask(path)).answer.status).toBe(status);
  });
});

function reports(body: unknown, path = '/v1/url-reports', token = 'k') {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

describe('reports of several pages', () => {
  it('come in the order asked, each with its own status, as one request', async () => {
    const before = (await ask('/v1')).answer.headers.get('x-ratelimit-remaining');
    const urls = [PAGES[2], 'https://nowhere.example/', 'no url', ELSEWHERE, PAGES[0], PAGES[2]];
    const { answer, text } = await reports({ urls });
    expect(answer.status).toBe(200);
    const results = servedResults.parse(JSON.parse(text)).reports;
    expect(results.map(({ url }) => url)).toEqual(urls);
    expect(results.map(({ status, report, error }) => [status, report?.url ?? error?.error])).toEqual([
      [200, PAGES[2]],
      [404, 'not_found'],
      [400, 'bad_request'],
      [403, 'forbidden'],
      [200, PAGES[0]],
      [200, PAGES[2]],
    ]);
    expect(results[0]?.report).toEqual(await json(`/v1/url-report?url=${encodeURIComponent(PAGES[2] ?? '')}`));
    expect(Number(before) - Number(answer.headers.get('x-ratelimit-remaining'))).toBe(1);
  });

  it('are those of a past moment with as_of', async () => {
    const { text } = await reports({ urls: [PAGES[0], PAGES[2]] }, '/v1/url-reports?as_of=2025-03-01');
    const results = servedResults.parse(JSON.parse(text)).reports;
    expect(results.map(({ status, report }) => [status, report?.['index_coverage_state']])).toEqual([
      [200, 'first'],
      [404, undefined],
    ]);
  });

  it.each([
    [{}, 400],
    [{ urls: [] }, 400],
    [{ urls: 'x' }, 400],
    [{ urls: [1] }, 400],
    [[], 400],
    [{ urls: Array.from({ length: 101 }, () => PAGES[0]) }, 400],
    [{ urls: ['x'.repeat(2_000_000)] }, 413],
  ])('a body that is none is refused', async (body, status) => {
    const { answer, text } = await reports(body);
    expect([answer.status, JSON.parse(text).status]).toEqual([status, status]);
    if (status === 400) expect(text).toContain('urls must be a list of 1 to 100 page URLs');
  });

  it('a body that is no JSON is refused, and other methods are', async () => {
    const body = { method: 'POST', body: '{"urls":[]}', headers: { 'content-type': 'application/xml' } };
    expect((await ask('/v1/url-reports', body)).answer.status).toBe(415);
    const got = await served.get('/v1/url-reports');
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('a whole listing', () => {
  it('as NDJSON is what its windows hold, an entry a line', async () => {
    const { answer, text } = await ask('/v1/urls/w?format=ndjson');
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const lines = text.trimEnd().split('\n');
    const entries = lines.map((line) => coverageEntrySchema.parse(JSON.parse(line)));
    expect(entries).toEqual(coverageWindowSchema.parse(await json('/v1/urls/w')).urls);
    expect(entries).toHaveLength(3);
  });

  it('as CSV guards against formulas, as query does', async () => {
    const { answer, text } = await ask('/v1/urls/w?format=csv');
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [names, ...lines] = text.trimEnd().split('\r\n');
    expect(names?.split(',')).toEqual(Object.keys(coverageEntrySchema.shape));
    expect(lines[1]).toMatch(/^https:\/\/w\.example\/b,Indexed,'=1\+1,/);
    expect(lines[2]).toMatch(/^"https:\/\/w\.example\/c\?x=1,2",Indexed,second,/);
  });

  it('is that of a moment, a snapshot or a selection, and says which', async () => {
    const { snapshots } = servedSnapshots.parse(await json('/v1/snapshots/w'));
    const [newest, oldest] = snapshots;
    for (const [query, id, rows] of [
      ['', newest?.id, 3],
      ['&as_of=2025-03-01', oldest?.id, 2],
      [`&snapshot=${oldest?.id}`, oldest?.id, 2],
      ['&index_coverage_state=second', newest?.id, 2],
    ] as const) {
      const { answer, text } = await ask(`/v1/urls/w?format=ndjson${query}`);
      expect([query, text.trimEnd().split('\n').length]).toEqual([query, rows]);
      expect([query, answer.headers.get('x-snapshot-id')]).toEqual([query, id]);
    }
  });

  it('is compressed for who accepts that, and has no body for HEAD', async () => {
    const raw = await served.app.inject({
      url: '/v1/urls/w?format=ndjson',
      headers: { authorization: 'Bearer k', 'accept-encoding': 'GZIP' },
    });
    expect(raw.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(raw.rawPayload).toString()).toBe((await ask('/v1/urls/w?format=ndjson')).text);
    const { answer } = await ask('/v1/urls/w?format=csv', { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  });

  it('has no other format, and no windows', async () => {
    expect((await ask('/v1/urls/w?format=xml')).answer.status).toBe(400);
    const whole = (await ask('/v1/urls/w?format=csv')).text;
    expect((await ask('/v1/urls/w?format=csv&skip=1&limit=1')).text).toBe(whole);
  });
});

describe('which state an answer shows', () => {
  it('is said by its headers', async () => {
    const { snapshots } = servedSnapshots.parse(await json('/v1/snapshots/w'));
    const [newest, oldest] = snapshots.map(({ id, time }) => [id, time]);
    const report = `/v1/url-report?url=${encodeURIComponent(PAGES[0] ?? '')}`;
    const of = ({ headers }: Response) => [headers.get('x-snapshot-id'), headers.get('x-snapshot-time')];
    expect(of((await ask('/v1/urls/w')).answer)).toEqual(newest);
    expect(of((await ask(report)).answer)).toEqual(newest);
    expect(of((await ask(`${report}&as_of=2025-03-01`)).answer)).toEqual(oldest);
    const body = { urls: [...PAGES, ELSEWHERE] };
    expect(of((await reports(body)).answer)).toEqual(newest);
    expect(of((await reports(body, '/v1/url-reports?as_of=2025-03-01')).answer)).toEqual(oldest);
    // Reports of several websites are of no one snapshot.
    const both = await reports(body, '/v1/url-reports', 'both');
    expect(both.text).not.toContain('"status":403');
    expect(of(both.answer)).toEqual([null, null]);
  });
});

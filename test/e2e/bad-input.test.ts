import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { realRunEffects } from '../../src/sync/context.js';
import type { Receipt } from '../../src/sync/receipt.js';
import type { Table } from '../../src/warehouse/log/folder/tables.js';
import { type Ended, run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { atFileEnd, temporaryFolder } from '../given/folder.js';
import { type Row, readTable } from '../given/parquet.js';
import {
  type Answer,
  pagesOf,
  type ScriptedService,
  type ScriptedWebsite,
  startService,
  truncated,
  windowOf,
} from '../given/service.js';

const TOKEN = 'tok-7Kf9-secret-value-0123456789';
const HTML = '<!doctype html><title>Just a moment…</title>';

/** A website that answers every request for its listing with this. */
const always = (answer: Answer): ScriptedWebsite => ({ listing: () => answer });
/** A listing of so many pages, with fields of its pagination object replaced. */
const listing = (id: string, count: number, pagination: object = {}): ScriptedWebsite => ({
  listing: (window) => windowOf(pagesOf(id, count), window, pagination),
});

const FAILED: [id: string, website: ScriptedWebsite | null, why: RegExp][] = [
  ['unknown', null, /404 \(not_found: No such website\.\); .*websites/],
  [
    'ungranted',
    always({ status: 403, body: `{"error":"forbidden","message":"not for ${TOKEN}","status":403}` }),
    /403 \(forbidden: not for \[secret]\); grant the key access, or remove/,
  ],
  [
    'redirected',
    always({ status: 302, headers: { location: 'http://127.0.0.1:1/v1' } }),
    /302; redirects are refused.*api\.base_url/,
  ],
  [
    'absolute',
    listing('absolute', 5, { next_page: 'https://evil.example/v1/urls/x?skip=3' }),
    /next_page points outside api\.base_url: "https:\/\/evil\.example.*nothing was sent there\. Check/,
  ],
  ['html', always({ body: HTML }), /is an HTML page, not JSON .*check api\.base_url/],
  ['error', always({ body: '{"error":"internal","status":500}' }), /answered 500 .*try again later/],
  ['echo', always({ body: TOKEN }), /is not JSON .*check api\.base_url/],
  ['latin', always({ body: Buffer.from([0x7b, 0xe4, 0x7d]) }), /is not UTF-8 text; check api\.base_url/],
];

const violating = { url: 'https://violating.example/p1', days_since_last_crawl: 1.5, note: TOKEN };
const PARTIAL: [id: string, accepted: number, website: ScriptedWebsite, why: RegExp][] = [
  [
    'repeating',
    3,
    {
      // One entry at a time, so that links are followed; the third page's link leads back.
      listing: (window) =>
        windowOf(
          pagesOf('repeating', 5),
          { ...window, limit: 1 },
          window.skip === 2 ? { next_page: '/v1/urls/repeating?skip=1&limit=1' } : {},
        ),
    },
    /next_page repeats \(\/v1\/urls\/repeating\?skip=1/,
  ],
  [
    'late',
    3,
    { listing: (window) => (window.skip === 0 ? windowOf(pagesOf('late', 5), window) : { body: HTML }) },
    /broke off after 3 entries: .*HTML page/,
  ],
  [
    'violating',
    1,
    { listing: (window) => windowOf(['https://violating.example/p0', violating, { no: 'url' }], window) },
    /2 of 3 entries break the contract, more than 1\.0%/,
  ],
  ['none', 0, always({ body: '{"urls":[],"pagination":{}}' }), /lists no pages and gives no count/],
];

const COMPLETE: [id: string, pages: number, website: ScriptedWebsite, drift: string | null][] = [
  ['good', 5, listing('good', 5), null],
  [
    'limited',
    7,
    {
      listing: (window) =>
        window.limit === null ? windowOf(pagesOf('limited', 7), { ...window, limit: 4 }) : { status: 422 },
    },
    null,
  ],
  ['linkless', 7, listing('linkless', 7, { next_page: null }), 'pagination.next_page'],
  ['twice', 4, { listing: (window) => windowOf([...pagesOf('twice', 4), 'https://twice.example/p1'], window) }, 'url'],
];

const honest = (url: string) => ({ body: JSON.stringify({ url, index_summary: 'Indexed', sitemaps: [] }) });
const REJECTED: [page: string, code: string, message: RegExp, answer: (url: string) => { body: string | Buffer }][] = [
  ['p0', 'invalid_json', /an HTML page, not JSON/, () => ({ body: HTML })],
  ['p1', 'invalid_json', /not JSON: /, (url) => ({ body: `{"url":"${url}",}` })],
  ['p2', 'url_mismatch', /for another URL/, () => honest('https://odd.example/another')],
  ['p3', 'invalid_type', /expected array/, (url) => ({ body: JSON.stringify({ url, sitemaps: 'none', you: TOKEN }) })],
  ['p4', 'invalid_utf8', /not UTF-8/, () => ({ body: Buffer.from([0x7b, 0xe4, 0x7d]) })],
  ['p5', 'invalid_format', /not an absolute URL/, (url) => ({ body: JSON.stringify({ url, sitemaps: ['/a'] }) })],
  ['p6', 'lone_surrogate', /surrogate/, (url) => ({ body: `{"url":"${url}","index_summary":"\\ud800"}` })],
  ['p7', 'invalid_json', /not JSON: Unexpected end/, () => ({ body: '' })],
  ['p8', 'invalid_type', /expected object/, () => ({ body: 'null' })],
];
const NOT_FETCHED: [
  page: string,
  outcome: string,
  status: number | null,
  message: RegExp,
  answer: (url: string) => Answer,
][] = [
  ['p10', 'failed', 302, /redirects are refused/, () => ({ status: 302, headers: { location: '/elsewhere' } })],
  ['p11', 'failed', null, /check the network/, (url) => truncated(honest(url).body)],
  ['p12', 'missing', 404, /404/, () => ({ status: 404 })],
  [
    'p13',
    'failed',
    500,
    /x\ufffd\); the service has a problem/,
    () => ({ status: 500, body: `{"error":"e","message":"${'x'.repeat(3999)}😀","status":500}` }),
  ],
];
const REPORTS = new Map<string, (url: string) => Answer>([
  ...REJECTED.map(([page, , , answer]) => [page, answer] as const),
  ...NOT_FETCHED.map(([page, , , , answer]) => [page, answer] as const),
  [
    'p9',
    (url) => ({
      body: `{\n "url" : "${url}",\r\n "url" : "${url}",\n "deep": {"url": "x"},\n "index_summary":null\n}`,
    }),
  ],
]);
const odd: ScriptedWebsite = {
  ...listing('odd', 16),
  report: (url) => (REPORTS.get(url.split('/').at(-1) ?? '') ?? honest)(url),
};

let service: ScriptedService;
let warehouse: string;
let ended: Ended;
let receipt: Receipt;

beforeAll(async () => {
  const websites: Record<string, ScriptedWebsite | null> = {
    odd,
    ...Object.fromEntries(FAILED),
    ...Object.fromEntries([...PARTIAL, ...COMPLETE].map(([id, , website]) => [id, website])),
  };
  const known = Object.entries(websites).flatMap(([id, website]) => (website ? [[id, website] as const] : []));
  service = await startService(Object.fromEntries(known), atFileEnd, 3);
  const folder = temporaryFolder();
  const api = { concurrency: 4 };
  const given = { baseUrl: service.url, token: TOKEN, websites: Object.keys(websites), sections: { api } };
  warehouse = join(folder, 'warehouse');
  // Retries take no time.
  const wait = vi.spyOn(realRunEffects, 'sleep').mockResolvedValue();
  ended = await run(['sync', '--json', '--config', writeConfig(folder, given)]);
  wait.mockRestore();
  receipt = JSON.parse(ended.stdout);
});

const of = (id: string) => receipt.websites.find(({ website_id }) => website_id === id);
const rows = async (table: Table, id: string): Promise<Row[]> =>
  (await readTable(warehouse, table)).filter(({ website_id }) => website_id === id);
const urls = async (table: Table, id: string) => (await rows(table, id)).map(({ url }) => url);

describe('one sync of many websites', () => {
  it('exits with 1 if one of them fails, and leaves no journal and no token behind', () => {
    expect(ended.code).toBe(1);
    const files = readdirSync(warehouse, { recursive: true, encoding: 'utf8' })
      .map((name) => join(warehouse, name))
      .filter((file) => statSync(file).isFile());
    expect(files.filter((file) => file.startsWith(join(warehouse, 'runs')))).toEqual([]);
    const written = files.map((file) => readFileSync(file, 'latin1'));
    for (const text of [...written, ended.stdout, ended.stderr]) expect(text).not.toContain(TOKEN);
  });

  it.each(FAILED)('says why %s failed and what to do, and records it', async (id, _, why) => {
    const error = expect.stringMatching(why);
    expect(of(id)).toMatchObject({ status: 'failed', snapshot_id: null, error });
    expect(await rows('runs', id)).toMatchObject([{ outcome: 'failed', error }]);
    expect(await rows('snapshots', id)).toEqual([]);
  });

  it.each(PARTIAL)('commits %s as partial, with %i good pages, and says why', async (id, accepted, _, why) => {
    const error = expect.stringMatching(why);
    expect(of(id)).toMatchObject({ status: 'committed', listing_status: 'partial', error });
    expect(await urls('coverage', id)).toEqual(pagesOf(id, accepted));
  });

  it.each(COMPLETE)('commits %s as complete, with %i pages', async (id, count, _, drift) => {
    const committed = { status: 'committed', listing_status: 'complete', reports_status: 'complete' };
    expect(of(id)).toMatchObject({ ...committed, pages: { listed: count } });
    expect(await urls('coverage', id)).toEqual(pagesOf(id, count));
    expect(await rows('url_reports', id)).toHaveLength(count);
    if (drift) expect((await rows('drift_observations', id)).map(({ field }) => field)).toContain(drift);
  });

  it('keeps refused entries with their text', async () => {
    const refused = await rows('rejected_records', 'violating');
    expect(refused).toMatchObject([{ url: violating.url, source: 'coverage' }, { url: null }]);
    expect(JSON.parse(String(refused[0]?.['payload']))).toEqual({ ...violating, note: '[secret]' });
    expect(JSON.stringify(refused[0]?.['issues'])).toContain('days_since_last_crawl');
    expect(await rows('rejected_records', 'late')).toMatchObject([{ source: 'coverage', url: null, payload: HTML }]);
  });
});

describe('reports that cannot be used', () => {
  it('cost none of the others', async () => {
    expect(of('odd')).toMatchObject({
      listing_status: 'complete',
      reports_status: 'failed',
      reports: { planned: 16, fetched: 3, missing: 1, failed: 3, rejected: 9 },
    });
    const fetched = await rows('url_reports', 'odd');
    expect(fetched.map(({ url }) => String(url).split('/').at(-1)).sort()).toEqual(['p14', 'p15', 'p9']);
    expect(fetched.find(({ url }) => url === 'https://odd.example/p9')).toMatchObject({
      extra: { deep: { url: 'x' } },
    });
  });

  it.each(REJECTED)('keep the text of %s and say why (%s)', async (page, code, message, answer) => {
    const url = `https://odd.example/${page}`;
    const row = (await rows('rejected_records', 'odd')).find((one) => one['url'] === url);
    const issues = row?.['issues'] as { code: string; message: string }[];
    expect(issues.map((issue) => issue.code)).toContain(code);
    expect(issues.map((issue) => issue.message).join()).toMatch(message);
    const { body } = answer(url);
    expect(row?.['payload']).toBe(Buffer.isBuffer(body) ? '' : body.replace(TOKEN, '[secret]'));
  });

  it.each(NOT_FETCHED)('name %s as %s with status %s', async (page, outcome, status, message) => {
    const row = (await rows('report_failures', 'odd')).find(({ url }) => url === `https://odd.example/${page}`);
    expect(row).toMatchObject({ outcome, message: expect.stringMatching(message) });
    expect(row?.['http_status'] ?? null).toBe(status);
  });
});

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { realRunEffects } from '../../src/sync/context.js';
import type { Receipt } from '../../src/sync/receipt.js';
import type { Table } from '../../src/warehouse/log/folder/tables.js';
import { type Ended, run } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { atFileEnd, temporaryFolder } from '../given/folder.js';
import { type Row, readTable } from '../given/parquet.js';
import { type Answer, pagesOf, type ScriptedWebsite, startService, truncated, windowOf } from '../given/service.js';
import { findingsOf } from '../given/verified.js';
import { noFollowers, syncWebsite } from '../given/warehouse.js';

const TOKEN = 'tok-7Kf9-secret-value-0123456789';
const HTML = '<!doctype html><title>Just a moment…</title>';
const JUST_AN_E = Buffer.from([0x7b, 0xe4, 0x7d]);

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
];

const violating = { url: 'https://violating.example/p1', days_since_last_crawl: 1.5, note: TOKEN };
const PARTIAL: [id: string, accepted: number, website: ScriptedWebsite, why: RegExp][] = [
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

const honest = (url: string) => ({ body: JSON.stringify({ url, index_summary: 'Indexed', sitemaps: [] }) });
const spaced = (url: string) =>
  `{\n "url" : "${url}",\r\n "url" : "${url}",\n "deep": {"url": "x"},\n "index_summary":null\n}`;
const REJECTED: [page: string, code: string, message: RegExp, answer: (url: string) => { body: string | Buffer }][] = [
  ['p0', 'invalid_json', /an HTML page, not JSON/, () => ({ body: HTML })],
  ['p1', 'invalid_json', /not JSON: /, (url) => ({ body: `{"url":"${url}",}` })],
  ['p2', 'url_mismatch', /for another URL/, () => honest('https://odd.example/another')],
  ['p3', 'invalid_type', /expected array/, (url) => ({ body: JSON.stringify({ url, sitemaps: 'none', you: TOKEN }) })],
  ['p4', 'invalid_utf8', /not UTF-8/, () => ({ body: JUST_AN_E })],
  ['p5', 'invalid_format', /not an absolute URL/, (url) => ({ body: JSON.stringify({ url, sitemaps: ['/a'] }) })],
  ['p6', 'lone_surrogate', /surrogate/, (url) => ({ body: `{"url":"${url}","index_summary":"\\ud800"}` })],
];
const LONG_ERROR = `{"error":"e","message":"${'x'.repeat(3999)}😀","status":500}`;
const NOT_FETCHED: [page: string, outcome: string, status: number | null, message: RegExp, answer: Answer][] = [
  ['p10', 'failed', 302, /redirects are refused/, { status: 302, headers: { location: '/elsewhere' } }],
  ['p11', 'failed', null, /check the network/, truncated(honest('https://odd.example/p11').body)],
  ['p12', 'missing', 404, /404/, { status: 404 }],
  ['p13', 'failed', 500, /x\ufffd\); the service has a problem/, { status: 500, body: LONG_ERROR }],
];
const REPORTS = new Map<string, (url: string) => Answer>([
  ...REJECTED.map(([page, , , answer]) => [page, answer] as const),
  ...NOT_FETCHED.map(([page, , , , answer]) => [page, () => answer] as const),
  ['p9', (url) => ({ body: spaced(url) })],
]);
const odd: ScriptedWebsite = {
  ...listing('odd', 16),
  report: (url) => (REPORTS.get(url.split('/').at(-1) ?? '') ?? honest)(url),
};

let warehouse: string;
let ended: Ended;
let receipt: Receipt;

beforeAll(async () => {
  const others = PARTIAL.map(([id, , website]) => [id, website] as const);
  const given = FAILED.map(([id, website]) => [id, website] as const);
  const all = [['odd', odd] as const, ['good', listing('good', 5)] as const, ...given, ...others];
  const known = all.flatMap(([id, website]) => (website ? [[id, website] as const] : []));
  const { url: baseUrl } = await startService(Object.fromEntries(known), atFileEnd, 3);
  const folder = temporaryFolder();
  warehouse = join(folder, 'warehouse');
  const sections = { api: { concurrency: 4 } };
  const config = writeConfig(folder, { baseUrl, token: TOKEN, websites: all.map(([id]) => id), sections });
  // Retries take no time.
  const wait = vi.spyOn(realRunEffects, 'sleep').mockResolvedValue();
  ended = await run(['sync', '--json', '--config', config]);
  wait.mockRestore();
  receipt = JSON.parse(ended.stdout);
});

const of = (id: string) => receipt.websites.find(({ website_id }) => website_id === id);
const rows = async (table: Table, id: string): Promise<Row[]> =>
  (await readTable(warehouse, table)).filter(({ website_id }) => website_id === id);
const urls = async (table: Table, id: string) => (await rows(table, id)).map(({ url }) => url);

test('one sync of many websites exits with 1 if one of them fails, and leaves no journal and no token behind', async () => {
  expect(ended.code).toBe(1);
  expect(of('good')).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'complete' });
  expect(await urls('url_reports', 'good')).toHaveLength(5);
  const files = readdirSync(warehouse, { recursive: true, encoding: 'utf8' })
    .map((name) => join(warehouse, name))
    .filter((file) => statSync(file).isFile());
  expect(files.filter((file) => file.startsWith(join(warehouse, 'runs')))).toEqual([]);
  const written = files.map((file) => readFileSync(file, 'latin1'));
  for (const text of [...written, ended.stdout, ended.stderr]) expect(text).not.toContain(TOKEN);
});

test.each(FAILED)('it says why %s failed and what to do, and records it', async (id, _, why) => {
  const error = expect.stringMatching(why);
  expect(of(id)).toMatchObject({ status: 'failed', snapshot_id: null, error });
  expect(await rows('runs', id)).toMatchObject([{ outcome: 'failed', error }]);
  expect(await rows('snapshots', id)).toEqual([]);
});

test.each(PARTIAL)('it commits %s as partial, with %i good pages, and says why', async (id, accepted, _, why) => {
  const error = expect.stringMatching(why);
  expect(of(id)).toMatchObject({ status: 'committed', listing_status: 'partial', error });
  expect(await urls('coverage', id)).toEqual(pagesOf(id, accepted));
});

test('it keeps refused entries with their text', async () => {
  const refused = await rows('rejected_records', 'violating');
  expect(refused).toMatchObject([{ url: violating.url, source: 'coverage' }, { url: null }]);
  expect(JSON.parse(String(refused[0]?.['payload']))).toEqual({ ...violating, note: '[secret]' });
  expect(JSON.stringify(refused[0]?.['issues'])).toContain('days_since_last_crawl');
  expect(await rows('rejected_records', 'late')).toMatchObject([{ source: 'coverage', url: null, payload: HTML }]);
});

test('reports that cannot be used cost none of the others, and are kept with the reason', async () => {
  const counts = { planned: 16, fetched: 5, missing: 1, failed: 3, rejected: 7 };
  expect(of('odd')).toMatchObject({ listing_status: 'complete', reports_status: 'failed', reports: counts });
  const fetched = (await rows('url_reports', 'odd')).sort((a, b) => (String(a['url']) < String(b['url']) ? -1 : 1));
  expect(fetched.map(({ url }) => String(url).split('/').at(-1))).toEqual(['p14', 'p15', 'p7', 'p8', 'p9']);
  expect(fetched[4]).toMatchObject({ extra: { deep: { url: 'x' } } });
  const [rejected, failed] = [await rows('rejected_records', 'odd'), await rows('report_failures', 'odd')];
  const pageOf = (all: Row[], page: string) => all.find(({ url }) => url === `https://odd.example/${page}`);
  for (const [page, code, message, answer] of REJECTED) {
    const row = pageOf(rejected, page);
    const issue = expect.objectContaining({ code, message: expect.stringMatching(message) });
    expect([page, row?.['issues']]).toEqual([page, expect.arrayContaining([issue])]);
    const { body } = answer(`https://odd.example/${page}`);
    expect(row?.['payload']).toBe(Buffer.isBuffer(body) ? '' : body.replace(TOKEN, '[secret]'));
  }
  for (const [page, outcome, status, message] of NOT_FETCHED) {
    const { http_status = null, ...row } = pageOf(failed, page) ?? {};
    expect(row).toMatchObject({ outcome, message: expect.stringMatching(message) });
    expect(http_status).toBe(status);
  }
});

test('a key whose websites the service does not list fails the run', async () => {
  const { url: baseUrl } = await startService({ v1: { listing: () => ({ body: '<html></html>' }) } });
  const file = writeConfig(temporaryFolder(), { baseUrl });
  const { code, stdout, stderr } = await run(['sync', '--json', '--config', file]);
  const why = /does not list the key's websites \(Invalid input.*\); check api\.base_url, or list the ids/;
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ websites: [], error: expect.stringMatching(why) });
  expect(stderr).toMatch(why);
});

test('a night of faults leaves every entry and every report accounted for', async () => {
  const rates = { 429: 0.03, 500: 0.03, 503: 0.03, reset: 0.03, html: 0.03, invalid_json: 0.03 };
  const more = { slow: 0.03, truncated: 0.03, violation: 0.05, wrong_url: 0.03 };
  const simulator = await startSimulator({ seed: 1, websites: [{ id: 'w', pages: 60 }], slowBodyMs: 5, maxLimit: 12 });
  simulator.setFaults({ ...rates, ...more }, ['listing', 'report']);
  const path = join(temporaryFolder(), 'warehouse');
  const { receipt } = await syncWebsite({
    baseUrl: simulator.url,
    warehouse: path,
    at: '2026-01-02T02:00:00Z',
    follow: noFollowers,
  });
  expect(receipt).toMatchObject({ status: 'committed', reports_status: 'complete' });
  expect(receipt.reports.rejected).toBeGreaterThan(0);
  expect(receipt.requests.retried).toBeGreaterThan(0);
  expect((await findingsOf(path)).filter(({ level }) => level !== 'lag')).toEqual([]);
});

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { withReader } from '../../../src/answers/query/reader.js';
import type { AgeRule } from '../../../src/answers/query/reader-options.js';
import { ageText, dataAgeOf } from '../../../src/answers/status/data-age.js';
import { DAY_MS } from '../../../src/base/time.js';
import { once, testAtLength } from '../../given/at-length.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { serveWarehouse } from '../../given/served.js';
import { buildWarehouse, syncAt } from '../../given/warehouse.js';
import { asked, call } from '../../serve/assistant/given.js';
import { OTHER_TOKEN, SHOP_TOKEN, startDashboard } from '../../serve/dashboard/given.js';
import { Visitor } from '../../serve/dashboard/visitor.js';
import { indexed } from '../report/given.js';

const NEWEST = Date.parse('2025-03-03T02:00:00Z');
const SHOP = 'https://shop.example/';
const NO_RUN = 'as of 2025-03-03 02:00 UTC: no run since 2025-03-03 02:00 UTC; check that `indexhouse sync` runs';
/** Of `other`, whose run of the second night failed. */
const FAILED = /as of 2025-03-01 02:00 UTC: the last run got no snapshot: .*127\.0\.0\.1:1/;

const { path } = await buildWarehouse([
  { at: '2025-03-01T02:00:00Z', lists: { shop: [indexed(SHOP)], other: [indexed('https://other.example/')] } },
  { at: '2025-03-03T02:00:00Z', lists: { shop: [indexed(SHOP)] } },
]);
await syncAt({ baseUrl: 'http://127.0.0.1:1', warehouse: path, at: '2025-03-03T03:00:00Z', websites: ['other'] });

/** What is said of a website, or of all, so many days after the newest snapshot. */
function said(days: number, website: string | null, ageRule?: AgeRule, warehouse = path) {
  return withReader({ warehouse, memoryLimit: 256e6, ageRule }, async (reader) => {
    const age = await dataAgeOf(reader, await reader.newest(website), NEWEST + days * DAY_MS);
    return age && ageText(age);
  });
}

once('data that is too old is said to be, with the reason; of several websites, that of the oldest', async () => {
  expect([await said(2, 'shop'), await said(10, 'none')]).toEqual(['as of 2025-03-03 02:00 UTC', null]);
  expect(await said(10, 'shop')).toBe(`this data is 10 days old, ${NO_RUN}`);
  expect(await said(10, null)).toMatch(/^the data of https:\/\/other\.example is 12 days old, as of 2025-03-01 /);
  const rule = { maxAge: 30 * DAY_MS, websites: [] };
  expect(await said(10, null, rule)).toBe('as of 2025-03-01 02:00 UTC (https://other.example, the oldest)');
  expect(await said(10, null, { ...rule, websites: [{ id: 'shop' }] })).toBe('as of 2025-03-03 02:00 UTC');
  const exceptOther = { ...rule, isExcepted: (id: string) => id === 'other' };
  expect(await said(10, null, exceptOther)).toBe('as of 2025-03-03 02:00 UTC');
  const copy = copyOf(path);
  mkdirSync(join(copy, 'runs', '01955a2b-1400-7000-8000-000000000000', 'shop'), { recursive: true });
  expect(await said(10, 'shop', undefined, copy)).toMatch(/: the run of 2025-03-03 04:02 UTC is not finished$/);
});

once('query says so on stderr, and of fresh data only as of when it is', async () => {
  const sql = ['query', '--sql', 'select 1 as one', '--format', 'csv', '--log-level', 'warn'];
  const stderr = expect.stringMatching(/^indexhouse: the data of https:\/\/other\.example is \d+ days old[^\n]*\n$/);
  expect(await run([...sql, '--warehouse', path])).toMatchObject({ code: 0, stdout: 'one\r\n1\r\n', stderr });
  const sections = { warehouse: { path }, status: { max_age: '3650d' } };
  const config = ['-c', writeConfig(temporaryFolder(), { baseUrl: 'http://127.0.0.1:1', sections })];
  const fresh = await run(['query', 'indexing_trend', 'website=shop', '--format', 'json', ...config]);
  expect(fresh).toMatchObject({ code: 0, stderr: 'indexhouse: as of 2025-03-03 02:00 UTC\n' });
  expect(await run([...sql, ...config])).toMatchObject({ stdout: 'one\r\n1\r\n', stderr: '' });
});

testAtLength('a report says so first: as a page, as a mail, on a terminal and to programs', async () => {
  const out = join(temporaryFolder(), 'r.html');
  const report = (...more: string[]) => run(['report', '--warehouse', path, '-w', 'shop', ...more]);
  expect((await report('--out', out)).stdout).toMatch(
    /^Last night needs attention: .*\n\nThis data is \d+ days old, as of /,
  );
  const first =
    /<body[^>]*>\s*(?:<p><b>Last night needs [^<]*<.b><.p>\s*)?(?:<\w+[^>]*>\s*)?<p[^>]*>This data is \d+ days old, as of 2025-03-03 02:00 UTC: no run since [^<]*\.<\/p>/;
  expect(readFileSync(out, 'utf8')).toMatch(first);
  const mail = await report('--out', '-', '--format', 'mail');
  expect([mail.stdout, mail.stderr]).toEqual([expect.stringMatching(first), expect.stringContaining(NO_RUN)]);
  expect(JSON.parse((await report('--out', out, '--json')).stdout).stale).toContain(NO_RUN);
});

testAtLength('every page of the dashboard says so above all else, whenever it was made', async () => {
  const dashboard = await startDashboard(path);
  const visitor = new Visitor(dashboard.origin);
  const routes = ['', '/changes', '/pages', `/page?url=${encodeURIComponent(SHOP)}`, '/compare', '/runs'];
  const addresses = ['/dashboard/', ...routes.map((route) => `/dashboard/websites/shop${route}`)];
  const bandOf = async (address: string) =>
    /<header>\s*<p class="(\w+)"[^>]*>([^<]*)<\/p>/.exec((await visitor.get(address)).text)?.slice(1);
  const bands = { 1: ['note', 'As of 2025-03-03 02:00 UTC.'], 10: ['warning', `This data is 10 days old, ${NO_RUN}.`] };
  for (const [days, band] of Object.entries(bands)) {
    dashboard.clock.now = NEWEST + Number(days) * DAY_MS;
    await visitor.signIn(SHOP_TOKEN);
    for (const address of addresses) expect([address, await bandOf(address)]).toEqual([address, band]);
  }
  await visitor.signIn(OTHER_TOKEN);
  expect((await bandOf('/dashboard/'))?.[1]).toMatch(FAILED);
});

testAtLength('the served interface says so in headers', async () => {
  const clock = { now: NEWEST + DAY_MS };
  const served = await serveWarehouse({ warehouse: path, now: () => clock.now, keys: { both: ['shop', 'other'] } });
  const ages = async (address: string) => {
    const { status, headers } = await served.get(address);
    return [status, headers.get('indexhouse-as-of'), headers.get('indexhouse-stale')];
  };
  const asOf = '2025-03-03T02:00:00.000Z';
  expect(await ages('/v1/urls/shop')).toEqual([200, asOf, null]);
  clock.now = NEWEST + 10 * DAY_MS;
  expect(await ages('/v1/urls/shop')).toEqual([200, asOf, `this data is 10 days old, ${NO_RUN}`]);
  expect((await ages(`/v1/url-report?url=${SHOP}`))[2]).toMatch(FAILED);
});

testAtLength('an assistant sees it first, in words and in the basis of each answer', async () => {
  const client = await asked(path);
  const fresh = await call(client, 'run_analysis', { name: 'indexing_trend', parameters: { website: 'shop' } });
  expect(fresh.text).toMatch(/^As of 2025-03-03 02:00 UTC\. All rows: 2\. Mar\u00a01 to 3\. Based on /);
  for (const name of ['list_analyses', 'status', 'report', 'query_sql']) {
    const { text, content } = await call(client, name, name === 'query_sql' ? { sql: 'select 1' } : {});
    expect(text).toMatch(/^This data is 3 days old, as of 2025-03-01 02:00 UTC: `basis\.age` says of what, and why\. /);
    const age = { website: 'https://other.example', old: '3 days', why: expect.stringContaining('no snapshot: ') };
    expect(content['basis']).toMatchObject({ age });
  }
});

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readStatus } from '../../../src/answers/status/status.js';
import { STATUS_DEFAULTS } from '../../../src/answers/status/status-input.js';
import { LiveReader } from '../../../src/serve/store/live-reader.js';
import { keyTo } from '../../given/service.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { type Dashboard, NIGHTS, NOW, OTHER_TOKEN, SECRET, SHARED, SHOP_TOKEN, startDashboard } from './given.js';
import { linksOf, rowsOf, Visitor } from './visitor.js';

const HOUR_MS = 3_600_000;
const ROOMS = [
  ...['', '/changes', '/pages', '/pages.csv', '/pages.xlsx', '/compare', '/runs'],
  `/page?url=${encodeURIComponent(SHARED)}`,
];
/** Headers with which a browser loads only our own files, keeps nothing and sends no referrer. */
const KEPT_NOWHERE = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

const shop = sharedWarehouse(() => buildWarehouse(NIGHTS));
let reader: LiveReader;
let dashboard: Dashboard;
let visitor: Visitor;

beforeAll(() => {
  reader = new LiveReader({ warehouse: shop.path, memoryLimit: 256_000_000 });
  return () => reader.close();
});
beforeEach(async () => {
  dashboard = await start();
  visitor = new Visitor(dashboard.origin);
});

/** All of them ask one reader, which remembers what it has read. */
function start(options: Parameters<typeof startDashboard>[1] = {}): Promise<Dashboard> {
  return startDashboard(shop.path, { reader, ...options });
}

describe('signing in', () => {
  it('opens a session that no script reads and no other site uses, and that does not hold the key', async () => {
    expect((await visitor.get('/dashboard/')).headers.get('location')).toBe('/dashboard/sign-in?to=%2Fdashboard%2F');
    const answer = await visitor.signIn(SHOP_TOKEN);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/dashboard/']);
    const [cookie = ''] = visitor.setCookies;
    expect(cookie).toMatch(/^indexhouse_session=[\w-]{43}; Max-Age=43200; Path=\/dashboard; HttpOnly; SameSite=Lax$/);
    const home = await visitor.get('/dashboard/');
    expect(home.text).toContain('Key &lt;b&gt;of&lt;/b&gt; shop');
    for (const text of [cookie, answer.text, home.text]) expect(text).not.toContain(SHOP_TOKEN);
    // Signing in again ends the session before.
    const first = visitor.cookies.get('indexhouse_session') ?? '';
    await visitor.signIn(SHOP_TOKEN);
    expect(visitor.cookies.get('indexhouse_session')).not.toBe(first);
    visitor.cookies.set('indexhouse_session', first);
    expect((await visitor.get('/dashboard/')).status).toBe(303);
  });

  it('leads to the page that was asked for, also after a wrong key, and never elsewhere', async () => {
    const asked = '/dashboard/websites/shop/pages?q=a&sort=-url';
    const value = 'value="/dashboard/websites/shop/pages?q=a&amp;sort=-url"';
    const refused = await visitor.get(asked);
    expect((await visitor.get(refused.headers.get('location') ?? '')).text).toContain(value);
    for (const token of ['wrong', '', `${SHOP_TOKEN}x`]) {
      const answer = await visitor.signIn(token, { to: asked });
      expect([answer.status, answer.text.includes('This API key is not known.')]).toEqual([401, true]);
      expect(answer.text).toContain(value);
      expect(visitor.cookies.has('indexhouse_session')).toBe(false);
      if (token !== '') expect(answer.text).not.toContain(token);
    }
    const leadsTo = async (to: string) => (await visitor.signIn(SHOP_TOKEN, { to })).headers.get('location');
    expect(await leadsTo(asked)).toBe(asked);
    for (const to of ['//evil.example/dashboard/', '/\\evil.example', 'javascript:alert(1)', '/dashboard/../v1']) {
      expect([to, await leadsTo(to)]).toEqual([to, '/dashboard/']);
    }
  });

  it('believes a trusted proxy alone: about TLS, and whose wrong keys it counts', async () => {
    const trusting = { trustProxy: (address: string) => address === '127.0.0.1' };
    for (const [options, secure] of [
      [trusting, true],
      [{ trustProxy: () => false }, false],
    ] as const) {
      const there = new Visitor((await start(options)).origin);
      await there.post('/dashboard/sign-in', { token: SHOP_TOKEN }, { 'x-forwarded-proto': 'https' });
      expect(there.setCookies[0]?.includes('; Secure')).toBe(secure);
    }
    const there = new Visitor((await start(trusting)).origin);
    const guess = async (from: string) =>
      (await there.post('/dashboard/sign-in', { token: 'wrong' }, { 'x-forwarded-for': from })).status;
    for (let times = 0; times < 10; times++) await guess('192.0.2.1');
    expect([await guess('192.0.2.1'), await guess('192.0.2.2')]).toEqual([429, 401]);
    expect(await guess('192.0.2.3, 192.0.2.1')).toBe(429);
  });

  it('lets nobody guess: after ten wrong keys in a minute the right one has to wait, too', async () => {
    const answers = await Promise.all(Array.from({ length: 14 }, (_, number) => visitor.signIn(`guess ${number}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(401), ...Array(4).fill(429)]);
    const refused = await visitor.signIn(SHOP_TOKEN);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    dashboard.clock.now += 60_000;
    for (let times = 0; times < 12; times++) expect((await visitor.signIn(SHOP_TOKEN)).status).toBe(303);
  });

  it('refuses a form of another site, and takes its own as browsers send it', async () => {
    const send = async (headers: Record<string, string>) =>
      (await visitor.post('/dashboard/sign-in', { token: SHOP_TOKEN }, headers)).status;
    const foreign = [{ origin: 'http://127.0.0.1:1' }, { origin: 'null' }, { 'sec-fetch-site': 'same-site' }];
    for (const headers of foreign as Record<string, string>[])
      expect([headers, await send(headers)]).toEqual([headers, 403]);
    expect(visitor.cookies.size).toBe(0);
    await visitor.get('/dashboard/sign-in');
    for (const headers of [{ origin: 'null', 'sec-fetch-site': 'same-origin' }, { origin: 'null' }, {}]) {
      expect([headers, await send(headers)]).toEqual([headers, 303]);
    }
  });
});

describe('a session', () => {
  it('ends by signing out, on the server too', async () => {
    await visitor.signIn(SHOP_TOKEN);
    const id = visitor.cookies.get('indexhouse_session') ?? '';
    expect((await visitor.post('/dashboard/sign-out', {}, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await visitor.get('/dashboard/')).status).toBe(200);
    const answer = await visitor.post('/dashboard/sign-out', {}, { origin: dashboard.origin });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/dashboard/sign-in']);
    expect(visitor.setCookies[0]).toMatch(/^indexhouse_session=; Max-Age=0; Path=\/dashboard;/);
    visitor.cookies.set('indexhouse_session', id);
    expect((await visitor.get('/dashboard/')).status).toBe(303);
  });

  it('ends after twelve hours', async () => {
    await visitor.signIn(SHOP_TOKEN);
    dashboard.clock.now = NOW + 12 * HOUR_MS - 1;
    expect((await visitor.get('/dashboard/websites/none')).status).toBe(404);
    dashboard.clock.now++;
    expect((await visitor.get('/dashboard/websites/none')).status).toBe(303);
  });

  it('is ended by no other key that signs in again and again, only after 100 times by its own', async () => {
    await visitor.signIn(SHOP_TOKEN);
    for (let time = 0; time < 101; time++) await dashboard.visitor(OTHER_TOKEN);
    for (let time = 0; time < 99; time++) await dashboard.visitor(SHOP_TOKEN);
    expect((await visitor.get('/dashboard/websites/none')).status).toBe(404);
    await dashboard.visitor(SHOP_TOKEN);
    expect((await visitor.get('/dashboard/websites/none')).status).toBe(303);
  });

  it('ends with its key, and no cookie opens one', async () => {
    await visitor.signIn(SHOP_TOKEN);
    dashboard.revoked.add(SHOP_TOKEN);
    expect((await visitor.get('/dashboard/websites/shop')).status).toBe(303);
    for (const id of ['', 'x', '"; DROP', '__proto__']) {
      visitor.cookies.set('indexhouse_session', id);
      expect((await visitor.get('/dashboard/websites/shop')).status).toBe(303);
    }
  });
});

describe('a key', () => {
  it('sees its own websites and no trace of another; no answer is kept or loads from elsewhere', async () => {
    await visitor.signIn(SHOP_TOKEN);
    const home = await visitor.get('/dashboard/');
    expect(linksOf(home)).toContain('/dashboard/websites/shop');
    expect(home.text).not.toContain('other');
    expect(rowsOf(home, 'websites')).toEqual([
      ['empty.example', '–', '–', '–', '–', 'none yet'],
      ['https://shop.example', '123', '77', '62.6%', '–', '2025-03-04'],
    ]);
    expect((await visitor.get('/dashboard/websites/empty')).status).toBe(404);
    // Of these, a page of both websites would show the other's.
    const rooms = ROOMS.slice(-3).map((room) => `/dashboard/websites/shop${room}`);
    for (const path of [...rooms, '/dashboard/sign-in', '/dashboard/assets/style.css', '/dashboard/nothing', '/']) {
      const status = { '/dashboard/nothing': 404, '/': 303 }[path] ?? 200;
      const answer = await visitor.get(path);
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.text).not.toContain('other.example');
      expect(Object.fromEntries(answer.headers)).toMatchObject(KEPT_NOWHERE);
    }
  });

  it('sees 200 websites on one page: first what needs attention, then the largest change; it can search them', async () => {
    const ids = Array.from({ length: 200 }, (_, at) => `site-${String(at).padStart(3, '0')}`);
    const night = (at: string, index_summary: string) => ({
      at,
      lists: { 'site-007': [{ url: 'https://site-007.example/', entry: { index_summary }, report: null }] },
    });
    const nights = [night('2025-02-26T02:00:00Z', 'Indexed'), night('2025-03-05T02:00:00Z', 'Not Indexed')];
    const { path: warehouse } = await buildWarehouse(nights);
    const finding = { kind: 'failed', website_id: 'site-005', website: 'site-005', message: 'x' } as const;
    const status = async () => ({
      ...(await readStatus({ ...STATUS_DEFAULTS, warehouse, now: NOW })),
      findings: [finding],
    });
    const many = await startDashboard(warehouse, { findKey: async () => keyTo(ids), status });
    const seen = await many.visitor('any');
    const shown = async (query: string) => rowsOf(await seen.get(`/dashboard/${query}`), 'websites');
    const rows = (await shown('')).map(([name, , , , change]) => `${name} ${change}`);
    expect(rows).toHaveLength(200);
    expect(rows.slice(0, 3)).toEqual([
      'https://site-005.example –',
      'https://site-007.example −1',
      'https://site-000.example –',
    ]);
    const found = await shown('?q=SITE-19&sort=name&per=25');
    expect([found.length, found[0]?.[0]]).toEqual([10, 'https://site-190.example']);
  });

  it('is refused another website on every page, with the answer for one that does not exist; nobody without a key sees any', async () => {
    await visitor.signIn(SHOP_TOKEN);
    const stranger = new Visitor(dashboard.origin);
    for (const room of [...ROOMS, `/page?url=${encodeURIComponent(SECRET)}`]) {
      const foreign = await visitor.get(`/dashboard/websites/other${room}`);
      const unknown = await visitor.get(`/dashboard/websites/none${room}`);
      expect([foreign.status, unknown.status]).toEqual([404, 404]);
      expect(foreign.text).toBe(unknown.text);
      const signedOut = await stranger.get(`/dashboard/websites/shop${room}`);
      expect(signedOut).toMatchObject({ status: 303, text: '' });
      expect(Object.fromEntries(signedOut.headers)).toMatchObject(KEPT_NOWHERE);
    }
    await visitor.signIn(OTHER_TOKEN);
    expect((await visitor.get(`/dashboard/websites/other/page?url=${encodeURIComponent(SECRET)}`)).status).toBe(200);
  });
});

it('stands under the prefix of the interface', async () => {
  const prefixed = await start({ prefix: '/tenant/api' });
  const there = new Visitor(prefixed.origin);
  expect((await there.get('/tenant/api/')).headers.get('location')).toBe('/tenant/api/dashboard/');
  await there.post('/tenant/api/dashboard/sign-in', { token: SHOP_TOKEN });
  expect(there.setCookies[0]).toContain('Path=/tenant/api/dashboard;');
  for (const link of linksOf(await there.get('/tenant/api/dashboard/websites/shop/runs')))
    expect(link).toMatch(/^(?:\/tenant\/api\/dashboard|#)/);
});

it('shows no details of a failure to the visitor', async () => {
  const broken = await startDashboard(`${shop.path}-gone`);
  const there = await broken.visitor(SHOP_TOKEN);
  const answer = await there.get('/dashboard/websites/shop');
  expect([answer.status, broken.failures]).toEqual([503, []]);
  expect(answer.text).toContain('No warehouse yet');
  expect(answer.text).not.toMatch(/-gone|Error|at .*\.ts/);
});

import { createSign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { type SearchConsole, startSearchConsole } from '../../../../src/app/demo/search-console/search-console.js';
import { wasIndexed } from '../../../../src/app/demo/simulator/page-life.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/base/time.js';

const PROPERTY = 'sc-domain:example.com';
const BLOG = 'https://www.example.com/blog/';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const object = z.record(z.string(), z.unknown());
const texts = z.record(z.string(), z.string());
const row = z.object({ keys: z.tuple([z.string()]), clicks: z.number(), impressions: z.number() });
const resultSchema = z.object({ inspectionResult: z.object({ indexStatusResult: object }) });

let now = Date.parse('2026-01-01T02:00:00Z');
let google: SearchConsole;
beforeAll(async () => {
  const notMine = { siteUrl: 'sc-domain:not.mine', permissionLevel: 'siteUnverifiedUser' } as const;
  google = await startSearchConsole({
    clock: () => now,
    websites: [{ id: 'w', pages: 3000, nasty: true }],
    nights: 20,
    token: 'given',
    properties: [{ siteUrl: BLOG, inspectionsPerDay: 8, usedElsewhere: 3, inspectionsPerMinute: 3 }, notMine],
  });
});
afterAll(() => google.close());
// Each test has a day of its own.
beforeEach(() => {
  now += 2 * DAY_MS;
});

async function ask(path: string, body?: unknown, headers: Record<string, string> = { authorization: 'Bearer given' }) {
  const json = {
    body: JSON.stringify(body),
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
  };
  const answer = await fetch(google.url + path, body === undefined ? { headers } : json);
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), ...object.parse(await answer.json()) };
}

const sites = (headers?: Record<string, string>) => ask('/webmasters/v3/sites', undefined, headers);
const sitemaps = (site: string) => ask(`/webmasters/v3/sites/${encodeURIComponent(site)}/sitemaps`);
const inspect = (inspectionUrl: string, siteUrl = PROPERTY) =>
  ask('/v1/urlInspection/index:inspect', { inspectionUrl, siteUrl });

async function traffic(startDate: string, endDate: string, more = {}) {
  const query = { startDate, endDate, dimensions: ['page'], rowLimit: 25_000, ...more };
  const path = `/webmasters/v3/sites/${PROPERTY}/searchAnalytics/query`;
  return z.object({ rows: z.array(row).default([]) }).parse(await ask(path, query)).rows;
}

/** A file of the simulated website, whose name only the header has. */
async function fromSite(address: string): Promise<string> {
  const { host, pathname } = new URL(address);
  const body = await new Promise<Buffer>((resolve, reject) => {
    get(google.url + pathname, { headers: { host } }, (answer) => resolve(buffer(answer))).on('error', reject);
  });
  return (pathname.endsWith('.gz') ? gunzipSync(body) : body).toString();
}

const locations = (xml: string): string[] => [...xml.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url]) => url ?? '');
const hrefOf = (url: string): string => new URL(url).href.replace(/#.*/, '');

async function signIn(form: Record<string, string>) {
  const answer = await fetch(`${google.url}/token`, { method: 'POST', body: new URLSearchParams(form) });
  const body = object.parse(await answer.json());
  return {
    status: answer.status,
    body,
    authorization: `Bearer ${body['access_token']}`,
    said: body['error_description'],
  };
}

const credentials = async (kind: 'service_account' | 'authorized_user') =>
  texts.parse(JSON.parse(await readFile(await google.credentials(kind), 'utf8')));

/** Signs in as the service account, with some claims that differ. */
async function signInByJwt(claims: Record<string, unknown> = {}) {
  const { client_email: iss, token_uri: aud, private_key: key = '' } = await credentials('service_account');
  const [scope, iat] = ['https://www.googleapis.com/auth/webmasters.readonly', Math.floor(now / 1000)];
  const parts = [{ alg: 'RS256' }, { iss, aud, scope, iat, exp: iat + 3600, ...claims }];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const assertion = `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`;
  return signIn({ grant_type: JWT_BEARER, assertion });
}

it('signs in a service account and a user, and refuses what is wrong with either', async () => {
  expect(await sites({ authorization: (await signInByJwt()).authorization })).toMatchObject({ status: 200 });
  expect((await signInByJwt({ iat: 1, exp: 3601 })).said).toContain('60 minutes');
  expect((await signInByJwt({ aud: 'https://elsewhere.example' })).said).toContain('audience');
  expect((await signIn({ grant_type: JWT_BEARER, assertion: 'a.b.c' })).said).toBe('Invalid JWT Signature.');
  const { authorization: narrow } = await signInByJwt({ scope: 'email' });
  expect(await sites({ authorization: narrow })).toMatchObject({ status: 403 });
  const user = { ...(await credentials('authorized_user')), grant_type: 'refresh_token' };
  const { authorization } = await signIn(user);
  const unpaid = { message: expect.stringContaining('quota project') };
  expect(await sites({ authorization })).toMatchObject({ status: 403, error: unpaid });
  expect(await sites({ authorization, 'x-goog-user-project': 'p' })).toMatchObject({ status: 200 });
  now += HOUR_MS;
  expect(await sites({ authorization })).toMatchObject({ status: 401, error: { status: 'UNAUTHENTICATED' } });
  expect((await signIn({ ...user, refresh_token: 'old' })).said).toBe('Token has been expired or revoked.');
});

it('says whose property it is, and refuses the others in their own words', async () => {
  const { siteEntry } = { siteEntry: null, ...(await sites()) };
  expect(siteEntry).toHaveLength(3);
  expect(siteEntry).toContainEqual({ siteUrl: 'sc-domain:not.mine', permissionLevel: 'siteUnverifiedUser' });
  const index = { path: 'https://www.example.com/sitemap.xml', isSitemapsIndex: true, warnings: '0' };
  expect(await sitemaps(PROPERTY)).toMatchObject({ sitemap: [index] });
  expect(await sitemaps(BLOG)).toEqual({ status: 200, retryAfter: null });
  const message = "User does not have sufficient permission for site 'sc-domain:not.mine'.";
  expect(await sitemaps('sc-domain:not.mine')).toMatchObject({ status: 403, error: { code: 403, message } });
  const elsewhere = 'You do not own this site, or the inspected URL is not part of this property.';
  expect(await inspect('https://www.example.com/x', BLOG)).toMatchObject({
    status: 403,
    error: { message: elsewhere },
  });
  google.setFaults({ '500': 1 }, ['inspect']);
  const failed = { status: 500, error: { message: 'Internal error encountered.', status: 'INTERNAL' } };
  expect(await inspect(BLOG)).toMatchObject(failed);
  google.setFaults({});
  expect(await inspect('nonsense')).toMatchObject({ status: 400, error: { status: 'INVALID_ARGUMENT' } });
});

it('inspects each page as the world has it, in the words of Search Console', async () => {
  const states = new Set<unknown>();
  for (const { report } of [...google.world.pages('w')].slice(0, 500)) {
    const { indexStatusResult: status } = resultSchema.parse(await inspect(hrefOf(report.url))).inspectionResult;
    states.add(status['coverageState']);
    expect(status['verdict'] === 'PASS').toBe(report.index_summary === 'Indexed');
    expect(status['googleCanonical'] ?? null).toBe(report.searchengine_selected_canonical ?? null);
    expect(status['lastCrawlTime']).toBe(report.last_crawl_time?.replace(/\.\d+/, ''));
    expect(Object.values(status)).not.toContain(null);
  }
  expect(states).toContain('Excluded by ‘noindex’ tag');
  const unknown = await inspect('https://www.example.com/none');
  const mobileUsabilityResult = { verdict: 'VERDICT_UNSPECIFIED' };
  expect(unknown).toMatchObject({ status: 200, inspectionResult: { mobileUsabilityResult } });
  const { indexStatusResult } = resultSchema.parse(unknown).inspectionResult;
  const { verdict, coverageState, ...others } = indexStatusResult;
  expect([verdict, coverageState]).toEqual(['NEUTRAL', 'URL is unknown to Google']);
  expect(Object.values(others).every((value) => String(value).endsWith('_UNSPECIFIED'))).toBe(true);
});

it('ends a quota with the same 429 for the minute and the day, which turns in California', async () => {
  const statuses = async (count: number) => {
    const found: number[] = [];
    while (found.length < count) found.push((await inspect(`${BLOG}x`, BLOG)).status);
    return found;
  };
  const error = { message: `Quota exceeded for ${BLOG}.`, errors: [{ reason: 'rateLimitExceeded' }] };
  const spent = { status: 429, error: { ...error, status: 'RESOURCE_EXHAUSTED' }, retryAfter: null };
  expect(await statuses(3)).toEqual([200, 200, 200]);
  expect(await inspect(BLOG, BLOG)).toMatchObject(spent);
  now += MINUTE_MS;
  // Another tool has used up three of this day's eight.
  expect(await statuses(2)).toEqual([200, 200]);
  expect(await inspect(BLOG, BLOG)).toMatchObject(spent);
  expect(await inspect(BLOG)).toMatchObject({ status: 200 });
  now = Math.floor(now / DAY_MS) * DAY_MS + 7.9 * HOUR_MS;
  expect(await statuses(1)).toEqual([429]);
  now += 0.2 * HOUR_MS;
  expect(await statuses(1)).toEqual([200]);
});

it('lists in its sitemaps exactly the pages that are in them', async () => {
  const robots = await fromSite('https://example.com/robots.txt');
  const files = locations(await fromSite(/^Sitemap: (.*)$/m.exec(robots)?.[1] ?? ''));
  expect(files.some((file) => file.endsWith('.gz'))).toBe(true);
  const listed = (await Promise.all(files.map(fromSite))).flatMap(locations);
  const website = google.world.website('w');
  const inThem = website.window(0, website.count).filter(({ inSitemap }) => inSitemap);
  const marked = (url: string): string => url.replaceAll(/&(amp|lt|gt|quot|#39);|[&<>"']/g, '*');
  expect(listed.map(marked).sort()).toEqual(inThem.map(({ number }) => marked(website.urls.url(number))).sort());
});

it('reports impressions of what is in the index, until within two days of its fall', async () => {
  const rows = await traffic('2025-11-01', '2026-03-01');
  const website = google.world.website('w');
  expect(rows.length).toBeGreaterThan(500);
  expect(rows.length).toBeLessThan(website.count / 1.5);
  expect(rows).toEqual([...rows].sort((a, b) => b.clicks - a.clicks || b.impressions - a.impressions));
  expect(await traffic('2025-11-01', '2026-03-01', { startRow: 10, rowLimit: 5 })).toEqual(rows.slice(10, 15));
  // It is the evening of January 20 in California, and data ends three days ago.
  expect(await traffic('2026-01-18', '2026-03-01')).toEqual([]);
  const byUrl = new Map(website.allPages.map((page) => [hrefOf(website.urls.url(page.number)), page]));
  const shown = (await traffic('2026-01-17', '2026-01-17')).map(({ keys: [url] }) => byUrl.get(url));
  expect(shown.filter((page) => !page || ![17, 16, 15].some((night) => wasIndexed(page, night)))).toEqual([]);
  expect(shown.some((page) => page && !page.inSitemap)).toBe(true);
});

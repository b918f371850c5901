import { createSign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { type SearchConsole, startSearchConsole } from '../../../../src/app/demo/search-console/search-console.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/base/time.js';
import { NASTY_PATHS } from '../../../given/nasty-paths.js';
import { pagesOf } from '../../../given/pages-of.js';

const PROPERTY = 'sc-domain:example.com';
const BLOG = 'https://www.example.com/blog/';
const answerSchema = z.looseObject({
  inspectionResult: z
    .looseObject({
      indexStatusResult: z.record(z.string(), z.unknown()),
      richResultsResult: z.looseObject({ verdict: z.string() }).optional(),
    })
    .optional(),
});

let now = Date.parse('2026-01-01T02:00:00Z');
let google: SearchConsole;
beforeAll(async () => {
  google = await startSearchConsole({
    clock: () => now,
    websites: [{ id: 'w', pages: 3000, paths: NASTY_PATHS }],
    nights: 20,
    token: 'given',
    properties: [{ siteUrl: BLOG, inspectionsPerDay: 8, usedElsewhere: 3, inspectionsPerMinute: 3 }],
  });
});
afterAll(() => google.close());
// Each test has a day of its own.
beforeEach(() => {
  now += 2 * DAY_MS;
});

async function ask(path: string, body?: object, own = {}) {
  const headers = { authorization: 'Bearer given', 'content-type': 'application/json', ...own };
  const post = body && { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(google.url + path, { headers, ...post });
  return { status: answer.status, ...answerSchema.parse(await answer.json()) };
}

const sites = (headers = {}) => ask('/webmasters/v3/sites', undefined, headers);
const inspect = (inspectionUrl: string, siteUrl = PROPERTY) =>
  ask('/v1/urlInspection/index:inspect', { inspectionUrl, siteUrl });
const hrefOf = (url: string): string => new URL(url).href.replace(/#.*/, '');

async function signIn(form: Record<string, string>) {
  const answer = await fetch(`${google.url}/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token, error_description: said } = z.looseObject({}).parse(await answer.json());
  return { authorization: `Bearer ${access_token}`, said };
}

const credentials = async (kind: 'service_account' | 'authorized_user') =>
  z.record(z.string(), z.string()).parse(JSON.parse(await readFile(await google.credentials(kind), 'utf8')));

/** Signs in as the service account, with some claims that differ. */
async function signInByJwt(claims = {}) {
  const { client_email: iss, token_uri: aud, private_key: key = '' } = await credentials('service_account');
  const [scope, iat] = ['https://www.googleapis.com/auth/webmasters.readonly', Math.floor(Date.now() / 1000)];
  const parts = [{ alg: 'RS256' }, { iss, aud, scope, iat, exp: iat + 3600, ...claims }];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return signIn({ assertion: `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}` });
}

it('signs in a service account and a user, and refuses what is wrong with either', async () => {
  expect(await sites(await signInByJwt())).toMatchObject({ status: 200 });
  expect((await signInByJwt({ iat: 1, exp: 3601 })).said).toContain('60 minutes');
  expect((await signInByJwt({ aud: 'https://elsewhere.example' })).said).toContain('audience');
  expect((await signInByJwt({ iss: 'other' })).said).toContain('account not found');
  expect((await signIn({ assertion: 'a.b.c' })).said).toBe('Invalid JWT Signature.');
  expect(await sites(await signInByJwt({ scope: 'email' }))).toMatchObject({ status: 403 });
  const scope = 'https://www.googleapis.com/auth/webmasters.readonly';
  const user = { ...(await credentials('authorized_user')), grant_type: 'refresh_token', scope };
  expect((await signIn({ ...user, scope: `${scope} openid` })).said).toBe(`ask for ${scope} alone`);
  const { authorization } = await signIn(user);
  expect(await sites({ authorization })).toMatchObject({ status: 403 });
  expect(await sites({ authorization, 'x-goog-user-project': 'p' })).toMatchObject({ status: 200 });
  now += HOUR_MS;
  expect(await sites({ authorization })).toMatchObject({ status: 401, error: { status: 'UNAUTHENTICATED' } });
  expect((await signIn({ ...user, refresh_token: 'old' })).said).toBe('Token has been expired or revoked.');
});

it('inspects each page as the world has it, in the words of Search Console', async () => {
  const states = new Set<unknown>();
  for (const { report } of pagesOf(google.world, 'w').slice(0, 500)) {
    const status = (await inspect(hrefOf(report.url))).inspectionResult?.indexStatusResult ?? {};
    states.add(status['coverageState']);
    expect(status['verdict'] === 'PASS').toBe(report.index_summary === 'Indexed');
    expect(status['googleCanonical'] ?? null).toBe(report.searchengine_selected_canonical ?? null);
    expect(status['lastCrawlTime']).toBe(report.last_crawl_time?.replace(/\.\d+/, ''));
    expect(Object.values(status)).not.toContain(null);
  }
  for (const state of ['Excluded by ‘noindex’ tag', 'URL is unknown to Google']) expect(states).toContain(state);
  expect(await inspect('https://www.example.com/x', BLOG)).toMatchObject({ status: 403 });
});

it('finds rich results on indexed pages, broken on products that were crawled in some nights, and who refers to them', async () => {
  const found: string[] = [];
  let referring = 0;
  for (const { report, coverage } of pagesOf(google.world, 'w').slice(500, 1000)) {
    const { indexStatusResult = {}, richResultsResult } = (await inspect(hrefOf(report.url))).inspectionResult ?? {};
    referring += z.array(z.url()).default([]).parse(indexStatusResult['referringUrls']).length;
    const night = google.world.website('w').find(report.url)?.crawled ?? -1;
    const isBroken = report.url.includes('/products/') && night >= 6 && night < 16;
    if (coverage.index_summary !== 'Indexed') expect(richResultsResult).toBeUndefined();
    else if (richResultsResult)
      expect([report.url, richResultsResult.verdict]).toEqual([report.url, isBroken ? 'FAIL' : 'PASS']);
    found.push(richResultsResult?.verdict ?? 'none');
  }
  expect([...new Set(found)].sort()).toEqual(['FAIL', 'PASS', 'none']);
  expect(referring).toBeGreaterThan(200);
});

it('ends the quotas of the minute and of the day, which turns in California', async () => {
  const statuses = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await inspect(BLOG, BLOG)).status));
  expect((await statuses(4)).sort()).toEqual([200, 200, 200, 429]);
  now += MINUTE_MS;
  // Another tool has used up three of this day's eight.
  expect((await statuses(3)).sort()).toEqual([200, 200, 429]);
  expect(await inspect(BLOG)).toMatchObject({ status: 200 });
  now = Math.floor(now / DAY_MS) * DAY_MS + 7.9 * HOUR_MS;
  expect(await statuses(1)).toEqual([429]);
  now += 0.2 * HOUR_MS;
  expect(await statuses(1)).toEqual([200]);
});

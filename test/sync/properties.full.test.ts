import { expect, onTestFinished, test } from 'vitest';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { dryRunOf } from '../given/dry-run.js';
import { temporaryFolder } from '../given/folder.js';
import { keyTo, pagesOf as pagesOfApi, startService, windowOf } from '../given/service.js';
import { type Permission, PROPERTY, SHOP, scriptedProperty } from './scripted-property.js';

const PREFIX = `${SHOP}/`;
const BLOG = `${SHOP}/blog/`;
const OTHER = `${SHOP}/b/`;
const ALL_OWNED: Record<string, Permission> = { [PROPERTY]: 'siteOwner', [PREFIX]: 'siteOwner', [BLOG]: 'siteOwner' };
const TOO_LONG = /^this id is too long: it takes more than 240 bytes in a folder name; list the other websites/;

function pagesOf(folder: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => folder + at);
}

/** How often each property was used. */
function countsOf(through: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    [...new Set(through)].sort().map((one) => [one, through.filter((each) => each === one).length]),
  );
}

test('of an account’s properties the widest is the website; those below lend their quotas, the narrowest first', async () => {
  const { pass, calls, config, effects } = await scriptedProperty(onTestFinished, { inspections_per_day: 5 });
  const night = { sites: ALL_OWNED, sitemap: [...pagesOf(BLOG, 13), ...pagesOf(PREFIX, 6)] };
  expect(await pass(night)).toMatchObject({ reports_status: 'budget', reports: { fetched: 15, left: 4 } });
  expect(countsOf(calls.through)).toEqual({ [PROPERTY]: 5, [PREFIX]: 5, [BLOG]: 5 });
  // The warehouse knows how much of the day is used.
  expect(await dryRunOf(config, effects)).toMatchObject([{ reports: { planned: 0, left: 4 }, limit: 'quota' }]);
  const [planned] = await dryRunOf(config);
  const { reports } = await pass(night);
  const { by_reason, left } = reports;
  expect([reports.fetched, planned?.requests, planned?.reports]).toEqual([15, 15, { planned: 15, by_reason, left }]);
});

test('all properties of an account list and inspect each page once; one that is unusable or lost fails alone', async () => {
  const { pass, rows, calls } = await scriptedProperty(onTestFinished, 'all');
  const long = `https://other.example/${'a/'.repeat(120)}`;
  const sites = {
    ...ALL_OWNED,
    [PROPERTY]: 'siteUnverifiedUser',
    [PREFIX]: 'siteUnverifiedUser',
    [OTHER]: 'siteOwner',
    'sc-domain:[': 'siteOwner',
    [long]: 'siteOwner',
  } as const;
  const sitemap = [`${BLOG}1`, `${BLOG}2`, `${OTHER}1`];
  const { websites } = await pass({ sites, sitemap });
  expect(Object.fromEntries(websites.map(({ website_id, error = null }) => [website_id, error]))).toEqual({
    [BLOG]: null,
    [OTHER]: null,
    'sc-domain:[': expect.stringMatching(/is not a property of Search Console; list the other properties/),
    [long]: expect.stringMatching(TOO_LONG),
  });
  expect(countsOf(calls.through)).toEqual({ [BLOG]: 2, [OTHER]: 1 });
  await pass({ sitemap, sites: { [OTHER]: 'siteOwner' } });
  const failed = "select website_id from runs where outcome = 'failed' and error like '%no permission for%'";
  expect(await rows(failed)).toEqual([{ website_id: BLOG }]);
});

test('websites that overlap, or use the same wider property, share the day', async () => {
  // Google is asked about them as it spells them.
  const entries = ['HTTPS://SHOP.example.:443/', `${PREFIX}bl%6Fg/`].map((id) => ({ id, inspections_per_day: 4 }));
  const { pass, calls } = await scriptedProperty(onTestFinished, entries);
  await pass({ sites: ALL_OWNED, sitemap: pagesOf(BLOG, 12) });
  expect(countsOf(calls.through)).toEqual({ [PROPERTY]: 4, [PREFIX]: 4, [BLOG]: 4 });
});

test('a property that refuses every inspection is asked a dozen times', async () => {
  const quota = { id: 'SC-Domain:SHOP.example.', inspections_per_day: 30 };
  const { pass, calls, rows } = await scriptedProperty(onTestFinished, quota);
  const sites = { [PROPERTY]: 'siteRestrictedUser', [PREFIX]: 'siteOwner', [BLOG]: 'siteRestrictedUser' } as const;
  const sitemap = [...pagesOf(BLOG, 15), ...pagesOf('https://www.shop.example/', 15)];
  const { error, inspected, reports } = await pass({ sites, sitemap });
  expect(inspected).toEqual(pagesOf(BLOG, 15).sort());
  expect(error).toMatch(
    /refuses inspections of sc-domain:shop.example \(permission: siteRestrictedUser\) to .*; have an owner give/,
  );
  expect(reports).toMatchObject({ fetched: 15, failed: 0, left: 15 });
  expect([countsOf(calls.through), calls.lists]).toEqual([{ [PROPERTY]: 12, [PREFIX]: 15, [BLOG]: 12 }, 1]);
  // No page is at fault.
  expect(await rows('select count(*)::int as n from page_state where consecutive_failures > 0')).toEqual([{ n: 0 }]);
});

test('an id of the API that is no folder name fails alone, and one that is listed twice counts once', async () => {
  const long = 'ü'.repeat(41);
  const service = await startService({
    shop: { listing: (window) => windowOf(pagesOfApi('shop', 3), window) },
    v1: { listing: () => ({ body: JSON.stringify(keyTo(['shop', long, '..', 'shop'])) }) },
  });
  const config = writeConfig(temporaryFolder(), { baseUrl: service.url });
  const { code, stdout } = await run(['sync', '--json', '--max-reports', '0', '--config', config]);
  const { websites }: { websites: { website_id: string; error?: string }[] } = JSON.parse(stdout);
  expect([code, websites.length]).toEqual([1, 3]);
  expect(Object.fromEntries(websites.map(({ website_id, error = null }) => [website_id, error]))).toEqual({
    shop: null,
    [long]: expect.stringMatching(TOO_LONG),
    '..': expect.stringMatching(/^this id is not the id of/),
  });
  expect(service.requests.filter((path) => !path.startsWith('/v1/urls/shop') && path !== '/v1')).toEqual([]);
});

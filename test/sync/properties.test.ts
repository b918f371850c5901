import { expect, onTestFinished, test } from 'vitest';
import { run } from '../given/cli.js';
import { dryRunOf } from '../given/dry-run.js';
import { type Permission, PROPERTY, SHOP, scriptedProperty } from './scripted-property.js';

const PREFIX = `${SHOP}/`;
const BLOG = `${SHOP}/blog/`;
const ALL_OWNED: Record<string, Permission> = { [PROPERTY]: 'siteOwner', [PREFIX]: 'siteOwner', [BLOG]: 'siteOwner' };

function pagesOf(folder: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => folder + at);
}

/** How often each property was used. */
function countsOf(through: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    [...new Set(through)].sort().map((one) => [one, through.filter((each) => each === one).length]),
  );
}

test.each([
  ['SC-Domain:BÜCHER.example.', 'sc-domain:xn--bcher-kva.example'],
  ['sc-domain:xn--bcher-kva.example', 'sc-domain:bücher.example'],
  ['HTTPS://Xn--Bcher-Kva.example.:443/caf%c3%a9/', 'https://bücher.example/café/'],
  ['https://bücher.example/%7Ea/', 'https://xn--bcher-kva.example/~a/'],
])('Google is asked about %s as it spells it: %s', async (id, spelled) => {
  const { pass, calls } = await scriptedProperty(onTestFinished, { id });
  const page = `${spelled.replace('sc-domain:', 'https://').replace(/\/?$/, '/')}1`;
  const { error, reports } = await pass({ sitemap: [page], sites: { [spelled]: 'siteOwner' } });
  expect([error, reports.fetched]).toEqual([undefined, 1]);
  expect(calls).toMatchObject({ through: [spelled], lists: 1 });
});

test('of an account’s properties the widest is the website; those below lend their quotas, the narrowest first', async () => {
  const { pass, calls, config, rows } = await scriptedProperty(onTestFinished, { inspections_per_day: 5 });
  const night = { sites: ALL_OWNED, sitemap: [...pagesOf(BLOG, 13), ...pagesOf(PREFIX, 6)] };
  expect(await pass(night)).toMatchObject({ reports_status: 'budget', reports: { fetched: 15, left: 4 } });
  expect(countsOf(calls.through)).toEqual({ [PROPERTY]: 5, [PREFIX]: 5, [BLOG]: 5 });
  expect(await pass(night, undefined, 0)).toMatchObject({ reports_status: 'budget', reports: { planned: 0 } });
  expect(calls.through).toEqual([]);
  const [planned] = await dryRunOf(config);
  expect((await run(['status', '-c', config])).stdout).toContain(
    '4 pages not inspected yet, at up to 15 inspections a day',
  );
  const { reports } = await pass(night);
  const { by_reason, left } = reports;
  expect([reports.fetched, planned?.requests, planned?.reports]).toEqual([15, 15, { planned: 15, by_reason, left }]);
  expect(await rows('from drift_observations')).toEqual([]);
});

test('all properties of an account list and inspect each page once', async () => {
  const { pass, rows, calls } = await scriptedProperty(onTestFinished, 'all');
  const sites = {
    ...ALL_OWNED,
    'sc-domain:blog.shop.example': 'siteOwner',
    'sc-domain:a.example': 'siteUnverifiedUser',
  } as const;
  const night = { sites, sitemap: [...pagesOf(PREFIX, 4), 'https://blog.shop.example/1'] };
  expect(await pass(night)).toMatchObject({ website_id: PROPERTY, reports: { fetched: 5 } });
  expect(countsOf(calls.through)).toEqual({ [PREFIX]: 4, 'sc-domain:blog.shop.example': 1 });
  expect(await rows('select distinct website_id from pages')).toEqual([{ website_id: PROPERTY }]);
  const lost = { ...night, sites: { [PROPERTY]: 'siteUnverifiedUser' } } as const;
  expect(await pass(lost)).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/has no access to a property of Search Console; have/),
  });
  // Of two that do not cover each other, each is a website.
  const { pass: again, rows: known } = await scriptedProperty(onTestFinished, 'all');
  await again({
    ...night,
    sites: { [PROPERTY]: 'siteUnverifiedUser', [BLOG]: 'siteOwner', [`${SHOP}/b/`]: 'siteOwner' },
  });
  expect(await known('select count(distinct website_id)::int as n from snapshots')).toEqual([{ n: 2 }]);
  // One that is lost is a failure, however well the other goes.
  await again({ ...night, sites: { [`${SHOP}/b/`]: 'siteOwner' } });
  const failed = "select website_id from runs where outcome = 'failed' and error like '%no permission for%'";
  expect(await known(failed)).toEqual([{ website_id: BLOG }]);
});

test('websites that overlap, or use the same wider property, share the day', async () => {
  const entries = [PREFIX, BLOG].map((id) => ({ id, inspections_per_day: 10 }));
  const { pass, calls, config } = await scriptedProperty(onTestFinished, entries);
  await pass({ sites: ALL_OWNED, sitemap: pagesOf(BLOG, 30) });
  const day = { [PROPERTY]: 10, [PREFIX]: 10, [BLOG]: 10 };
  expect(countsOf(calls.through)).toEqual(day);
  expect(await dryRunOf(config)).toMatchObject([{ reports: { planned: 30 } }, { reports: { planned: 0 } }]);
});

test('a property that refuses every inspection is asked a dozen times, and the permission is named', async () => {
  const { pass, calls, config, rows } = await scriptedProperty(onTestFinished);
  const sitemap = pagesOf(PREFIX, 40);
  const { error, reports, reports_status } = await pass({ sites: { [PROPERTY]: 'siteRestrictedUser' }, sitemap });
  expect([reports_status, reports]).toMatchObject(['failed', { planned: 0, failed: 0, left: 40 }]);
  expect(error).toMatch(
    /refuses inspections of sc-domain:shop.example \(permission: siteRestrictedUser\) to .*; have an/,
  );
  expect([calls.through.length, calls.lists]).toEqual([12, 1]);
  expect(await dryRunOf(config)).toMatchObject([{ reports: { planned: 0, left: 40 }, limit: 'quota' }]);
  // No page is at fault.
  expect(await rows('select count(*)::int as n from page_state where consecutive_failures > 0')).toEqual([{ n: 0 }]);
  expect(await pass({ sitemap })).toMatchObject({ reports: { fetched: 40 } });
});

test('pages that another property has do not depend on one that refuses', async () => {
  const { pass, calls, config } = await scriptedProperty(onTestFinished);
  const sites = { [PROPERTY]: 'siteRestrictedUser', [PREFIX]: 'siteOwner', [BLOG]: 'siteRestrictedUser' } as const;
  const sitemap = [...pagesOf(BLOG, 20), ...pagesOf('https://www.shop.example/', 20)];
  const { error, inspected } = await pass({ sites, sitemap });
  expect([inspected, error]).toEqual([pagesOf(BLOG, 20).sort(), expect.stringContaining('have an owner give')]);
  expect(countsOf(calls.through)).toEqual({ [PROPERTY]: 12, [PREFIX]: 20, [BLOG]: 12 });
  expect(await dryRunOf(config)).toMatchObject([{ pages: 40, reports: { planned: 20, left: 20 }, limit: 'quota' }]);
});

test('a single 403 among good answers is tried again in the same run, within the day’s inspections', async () => {
  const { pass, calls } = await scriptedProperty(onTestFinished, { inspections_per_day: 30 });
  const seen = new Set<string>();
  const refuses = (url: string) => url.endsWith('/29') || (/[37]$/.test(url) && seen.size < seen.add(url).size);
  const night = { sitemap: pagesOf(PREFIX, 30), refuses };
  const { error, ...receipt } = await pass(night);
  expect(receipt).toMatchObject({ reports_status: 'complete', reports: { fetched: 29, failed: 1, left: 0 } });
  expect([calls.through.length, error]).toEqual([30 + 7, undefined]);
});

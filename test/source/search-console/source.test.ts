import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type SearchConsole, startSearchConsole } from '../../../src/app/demo/search-console/search-console.js';
import { DAY_MS } from '../../../src/base/time.js';
import { keyOf } from '../../../src/base/url.js';
import { Clients, configuredWebsites } from '../../../src/source/clients.js';
import { guessedRobotsOf, isOfProperty, propertyOf } from '../../../src/source/search-console/property.js';
import type { ListingSink } from '../../../src/source/source.js';
import type { JudgedEntry } from '../../../src/source/walk/coverage-window.js';
import { load } from '../../base/config/given.js';
import { NASTY_PATHS } from '../../given/nasty-paths.js';

const BLOG = 'https://www.example.com/blog/';
const NOT_MINE = 'sc-domain:not.mine';
const WEBSITE = 'websites:\n  - source: google\n    id:';

let simulated: SearchConsole;
beforeAll(async () => {
  const properties = [
    { siteUrl: BLOG, inspectionsPerDay: 3 },
    { siteUrl: NOT_MINE, permissionLevel: 'siteUnverifiedUser' as const },
    { siteUrl: 'android-app://com.example/' },
  ];
  const start = new Date(Date.now() - 20 * DAY_MS).toISOString();
  simulated = await startSearchConsole({
    websites: [{ id: 'w', pages: 500, paths: NASTY_PATHS }],
    start,
    nights: 20,
    properties,
  });
});
afterAll(() => simulated.close());

function entryOf(url: string): JudgedEntry {
  return { url, verdict: { accepted: true, record: { url }, absent: [], extra: null }, payload: null };
}

/** The sources of configured websites, and what a night does with them. */
async function given(websites: string, kind?: 'service_account' | 'authorized_user') {
  const google = `google:\n  endpoint: ${simulated.url}\n  credentials: ${await simulated.credentials(kind)}\n`;
  const config = await load(`${google}${websites}\n`);
  const clients = new Clients(config, { version: '1' });
  onTestFinished(() => clients.close());
  const all = await configuredWebsites(config, clients);
  const purpose = { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } };
  const notes: string[] = [];
  const sightings: object[] = [];
  const entries: JudgedEntry[] = [];
  const sink: ListingSink = {
    purpose,
    searched: null,
    notAfter: Number.POSITIVE_INFINITY,
    answered: () => {},
    note: (text) => void notes.push(text),
    accept: async ({ fresh }) => void entries.push(...fresh),
    countDistinct: async () => 0,
    sameListing: async () => true,
    async merged(found) {
      for await (const batch of found.sightings()) sightings.push(...batch);
      const urls = new Set(sightings.map((one) => ('url' in one ? String(one.url) : '')));
      const pages = async function* () {
        yield* [...urls].map(entryOf);
      };
      return { pages: pages(), sources: [{ pages: urls.size }], lacks: null };
    },
  };
  return { websites: all, sources: all.map((one) => clients.sourceOf(one)), purpose, sink, notes, sightings, entries };
}

it.each(['service_account', 'authorized_user'] as const)('a %s lists and inspects the pages', async (kind) => {
  const { sources, sink, notes, entries, purpose } = await given(`${WEBSITE} sc-domain:example.com`, kind);
  const [source] = sources;
  const listed = await source?.list(sink, undefined);
  expect(listed).toMatchObject({ complete: true, reason: null, kept: { kept: entries.length, ended: true } });
  expect(notes).toEqual([]);
  const website = simulated.world.website('w');
  const inSitemap = website.window(0, website.count).filter((page) => page.inSitemap);
  const hrefs = inSitemap.map(({ number }) => keyOf(website.urls.url(number)) ?? '');
  expect(entries.map(({ url }) => url)).toEqual(expect.arrayContaining(hrefs));
  expect(await source?.quotas(purpose)).toMatchObject(
    ['sc-domain:example.com', BLOG].map((property) => ({ property, perDay: 2000, left: 2000 })),
  );
  // In English: the simulator marks what is translated.
  const record = { url: hrefs[0], index_coverage_state: expect.not.stringContaining('[') };
  expect(await source?.report({ url: hrefs[0] ?? '' }, purpose)).toMatchObject({ outcome: 'fetched', record });
});

it.each([
  [
    NOT_MINE,
    /^\S+@\S+ is not verified for sc-domain:not\.mine; use one that it may read, .*, or have an owner add \S+@/,
  ],
  [
    'sc-domain:none.example',
    /has no permission for sc-domain:none\.example; use one .*, or have an owner add .* in Search Console under/,
  ],
])('says what a 403 for %s lacks', async (property, message) => {
  const { sources, sink, purpose } = await given(`${WEBSITE} ${property}\n    properties: []`);
  const refused = { kind: 'forbidden', message: expect.stringMatching(message) };
  await expect(sources[0]?.list(sink, undefined)).rejects.toMatchObject(refused);
  await expect(sources[0]?.report({ url: 'https://none.example/' }, purpose)).rejects.toMatchObject(refused);
});

it('knows to which property a page belongs', () => {
  const all = ['sc-domain:example.com', 'https://www.example.com/', BLOG, 'https://example.com/'];
  expect(propertyOf('https://www.example.com/blog/1', all.toReversed())).toBe(BLOG);
  expect(propertyOf('https://example.com/1', all)).toBe('https://example.com/');
  expect(propertyOf('http://a.shop.example.com/', all)).toBe('sc-domain:example.com');
  expect(isOfProperty('sc-domain:example.com', 'https://notexample.com/')).toBe(false);
  expect(isOfProperty('sc-domain:bücher.example', 'HTTPS://WWW.xn--bcher-kva.example/ä')).toBe(true);
  expect(isOfProperty('https://www.example.com/', 'http://www.example.com/')).toBe(false);
  expect(isOfProperty('https://www.example.com/café/', 'https://www.example.com/caf%C3%A9/1')).toBe(true);
  const robots = ['https://example.com/robots.txt', 'https://www.example.com/robots.txt'];
  expect(guessedRobotsOf('sc-domain:example.com')).toEqual(robots);
  expect(guessedRobotsOf(BLOG)).toEqual([]);
});

import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type SearchConsole, startSearchConsole } from '../../../src/app/demo/search-console/search-console.js';
import { Clients, configuredWebsites } from '../../../src/source/clients.js';
import { guessedRobotsOf, isOfProperty, propertyOf, refusalOf } from '../../../src/source/search-console/property.js';
import type { ListingSink } from '../../../src/source/source.js';
import { load } from '../../base/config/given.js';

const BLOG = 'https://www.example.com/blog/';
const NOT_MINE = 'sc-domain:not.mine';

let simulated: SearchConsole;
beforeAll(async () => {
  const properties = [{ siteUrl: NOT_MINE, permissionLevel: 'siteUnverifiedUser' as const }];
  simulated = await startSearchConsole({ websites: [{ id: 'w', pages: 5 }], properties });
});
afterAll(() => simulated.close());

/** The source of a configured website, and what a listing needs. */
async function given(website: string) {
  const google = `google:\n  endpoint: ${simulated.url}\n  credentials: ${await simulated.credentials()}\n`;
  const config = await load(`${google}websites:\n  - source: google\n    id: ${website}\n`);
  const clients = new Clients(config, { version: '1' });
  onTestFinished(() => clients.close());
  const sources = (await configuredWebsites(config, clients)).map((one) => clients.sourceOf(one));
  const purpose = { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } };
  const unused = () => expect.fail('nothing is listed');
  const sink: ListingSink = {
    ...{ purpose, searched: null, notAfter: Number.POSITIVE_INFINITY, answered: () => {}, note: () => {} },
    ...{ accept: unused, countDistinct: unused, sameListing: unused, merged: unused },
  };
  return { sources, purpose, sink };
}

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
  const { sources, sink, purpose } = await given(`${property}\n    properties: []`);
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

it('a refusal to an account that has the permission does not advise to give it', () => {
  const said = (permissionLevel: string) => refusalOf(['a'], [{ siteUrl: 'a', permissionLevel }], 'me');
  expect(said('siteRestrictedUser')).toMatch(/have an owner give it the permission "Full"/);
  expect(said('siteOwner')).toMatch(/it has the permission .*try again later/);
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { googleFor } from '../../../src/base/config/google.js';
import { writeStarterConfig } from '../../../src/base/config/init.js';
import { loadConfig } from '../../../src/base/config/load.js';
import {
  allFrom,
  isExcepted,
  namedWebsites,
  secretsOf,
  websiteOf,
  websitesFor,
} from '../../../src/base/config/websites.js';
import { DAY_MS } from '../../../src/base/time.js';
import { failure, load, MINIMAL, tempFolder } from './given.js';

const SHOP = 'websites:\n  - id: sc-domain:shop.example\n    source: google\n';
const ENDPOINT = 'https://searchconsole.googleapis.com';

test('a property needs nothing but its id, and a new configuration has the same defaults', async () => {
  const config = await load(SHOP);
  const defaults = { history: 480 * DAY_MS, requests_per_minute: 600, accounts: {}, endpoint: ENDPOINT };
  expect(config.google).toEqual(defaults);
  expect(config.api).toMatchObject({ base_url: '', token: '' });
  const [website] = namedWebsites(config) ?? [];
  const settings = { inspectionsPerDay: 2000, properties: 'auto', sitemaps: 'auto' };
  expect(website).toMatchObject({ id: 'sc-domain:shop.example', baseUrl: ENDPOINT, token: '', google: settings });
  expect(website?.places.token).toBe('google.credentials');
  expect(secretsOf(config)).toEqual([]);
  const cwd = await tempFolder();
  await writeStarterConfig(join(cwd, 'indexhouse.yaml'), { source: 'google' });
  const started = await loadConfig({ env: {}, cwd });
  expect(started.google).toEqual(config.google);
  expect(namedWebsites(started)).toEqual([{ ...website, id: 'sc-domain:example.com' }]);
});

test('all keys are read, and credentials count from the folder of the file', async () => {
  const own = {
    inspections_per_day: 500,
    properties: ['https://shop.example/blog/'],
    sitemaps: ['https://shop.example/sitemap.xml.gz'],
  };
  const google = { credentials: 'keys/${' + 'KEY_FILE}', requests_per_minute: 300, endpoint: 'http://127.0.0.1:8091/' };
  const websites = [{ id: 'sc-domain:shop.example', source: 'google', ...own }];
  const config = await load(JSON.stringify({ google, websites }), { KEY_FILE: 'key.json' });
  expect(config.google).toMatchObject({
    credentials: join(config.file, '../keys/key.json'),
    requests_per_minute: 300,
    endpoint: 'http://127.0.0.1:8091',
  });
  const { inspections_per_day: inspectionsPerDay, ...lists } = own;
  expect(websiteOf(config, 'sc-domain:shop.example').google).toEqual({ inspectionsPerDay, ...lists, account: null });
});

test('both sources live in one file, each website with its own access', async () => {
  const config = await load(`${MINIMAL}${SHOP}  - id: "645"\n`);
  const own = { baseUrl: 'https://api.example.com', token: 'abc', google: null };
  expect(namedWebsites(config)).toMatchObject([{ baseUrl: ENDPOINT, token: '', google: {} }, own]);
});

test('all websites of either source but some', async () => {
  const of = (source: string) =>
    load(`${MINIMAL}websites: {all: true${source}, except: [a, "sc-domain:shop.example"]}\n`);
  const [api, google] = [await of(''), await of(', source: google')];
  expect([allFrom(api), allFrom(google)]).toEqual(['api', 'google']);
  const access = ['a', 'b'].map((_id) => ({ _id, url: _id }));
  expect(websitesFor(api, { websites_access: access }).map(({ id }) => id)).toEqual(['b']);
  expect([isExcepted(google, 'sc-domain:SHOP.example'), isExcepted(google, 'b')]).toEqual([true, false]);
});

const of = (keys: string) => `websites:\n  - { source: google, ${keys} }\n`;
const ours = (key: string) => of(`id: sc-domain:a.example, ${key}`);
const ID = 'websites[0]';
/** A configuration with its only problem: path, line and words. */
test.each([
  [of('id: https://shop.example/blog'), `${ID}.id`, 2, 'lacks the slash at its end. Write https://shop.example/blog/.'],
  [of('id: shop.example'), `${ID}.id`, 2, 'is not a property of Search Console. Write sc-domain:example.com for'],
  [ours('token: pass-word'), `${ID}.token`, 2, 'is not for `source: google`. Remove it'],
  [ours('inspections_per_day: 0'), `${ID}.inspections_per_day`, 2, 'from 1 to 100000'],
  [`${MINIMAL}websites:\n  - id: a\n    sitemaps: auto\n`, `${ID}.sitemaps`, 6, 'for `source: google` only'],
  [`google: { history: 2000d }\n${SHOP}`, 'google.history', 1, 'is too long. Write at most 488d'],
  ['websites: { all: true, source: bing }\n', 'websites.source', 1, 'Write `source: google`, or leave it out'],
])('%j is refused', async (text, path, line, words) => {
  const error = await failure(text);
  expect(error.problems).toMatchObject([{ path, line }]);
  expect(error.message).toContain(words);
  expect(error.message).not.toContain('pass-word');
});

test('without `api`, what needs it is named, beside all else that is wrong', async () => {
  const error = await failure(`${SHOP}  - id: a\nreports:\n  max_per_run: -1\n`);
  expect(error.problems.map(({ path }) => path)).toEqual(['api.base_url', 'api.token', 'reports.max_per_run']);
  expect(error.message).toContain('`websites[1]` needs it without `source: google`');
  expect((await failure('sync: {}\n')).message).toContain('`websites: all` needs it');
});

test('a website chooses one of the named accounts, whose paths count from the folder of the file', async () => {
  const accounts = 'google: { credentials: own.json, accounts: { shop: { credentials: shop.json }, blog: {} } }\n';
  const config = await load(`${accounts}${SHOP}    account: shop\n`);
  const account = namedWebsites(config)?.[0]?.google?.account ?? null;
  expect(account).toBe('shop');
  expect(googleFor(config.google, account).credentials).toBe(join(config.file, '../shop.json'));
  expect(googleFor(config.google, 'blog').credentials).toBeUndefined();
  const { message } = await failure(`${accounts}${SHOP}    account: other\n`);
  expect(message).toMatch(/websites\[0\]\.account .*is not one of google.accounts \(shop, blog\)/);
});

import { expect, it, onTestFinished } from 'vitest';
import { startSearchConsole } from '../../src/app/demo/search-console/search-console.js';
import type { Receipt } from '../../src/sync/receipt.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { pagesOf, startService, TOKEN, windowOf } from '../given/service.js';

const TOO_LONG = /^this id is too long: it takes more than 240 bytes in a folder name; list the other websites/;

/** How every website of a sync and of the status after it ended. */
async function ended(config: string) {
  const options = { cwd: temporaryFolder() };
  const synced = await run(['sync', '--json', '--max-reports', '0', '--config', config], options);
  const { websites }: Receipt = JSON.parse(synced.stdout);
  const status = await run(['status', '--config', config], options);
  return {
    codes: [synced.code, status.code],
    errors: Object.fromEntries(websites.map(({ website_id, error = null }) => [website_id, error])),
    count: websites.length,
    warnings: status.stdout.match(/: no snapshot: this id/g)?.length,
  };
}

it('an id of the API that is no folder name fails alone, and one that is listed twice counts once', async () => {
  const id = 'ü'.repeat(41);
  const access = ['shop', id, '..', 'shop'].map((_id) => ({ _id, url: `https://${_id.length}.example` }));
  const key = { _id: 'k', api_key_label: 'k', account: { _id: 'a', email: 'a@example.com' }, websites_access: access };
  const service = await startService({
    shop: { listing: (window) => windowOf(pagesOf('shop', 3), window) },
    v1: { listing: () => ({ body: JSON.stringify(key) }) },
  });
  const found = await ended(writeConfig(temporaryFolder(), { baseUrl: service.url, token: TOKEN }));
  expect(found).toMatchObject({ codes: [1, 1], count: 3, warnings: 2 });
  const unusable = { [id]: expect.stringMatching(TOO_LONG), '..': expect.stringMatching(/^this id is not the id of/) };
  expect(found.errors).toEqual({ shop: null, ...unusable });
  expect(service.requests.filter((path) => !path.startsWith('/v1/urls/shop') && path !== '/v1')).toEqual([]);
});

it('a property that is no folder name, and a malformed one, fail alone', async () => {
  const long = `https://other.example/${'a/'.repeat(120)}`;
  const simulated = await startSearchConsole({
    websites: [{ id: 'w', pages: 20 }],
    nights: 2,
    properties: [{ siteUrl: 'sc-domain:[' }, { siteUrl: long }],
  });
  onTestFinished(() => simulated.close());
  const google = { endpoint: simulated.url, credentials: await simulated.credentials() };
  const sections = { google, websites: { all: true, source: 'google' } };
  const found = await ended(writeConfig(temporaryFolder(), { sections }));
  expect(found).toMatchObject({ codes: [1, 1], count: 3, warnings: 1 });
  expect(found.errors).toEqual({
    'sc-domain:example.com': null,
    'sc-domain:[': expect.stringMatching(/is not a property of Search Console; list the other properties/),
    [long]: expect.stringMatching(TOO_LONG),
  });
});

import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startSearchConsole } from '../../../src/app/demo/search-console/search-console.js';
import type { FaultKind, OperationName } from '../../../src/app/demo/simulator/faults.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const OTHER_KEY = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
const PREFIX = 'https://www.example.com/';
const DOMAIN = 'sc-domain:example.com';

interface Given {
  id?: string;
  file?: object;
  permissionLevel?: 'siteUnverifiedUser' | 'siteRestrictedUser';
  /** What every call of an operation meets. */
  fault?: [FaultKind, OperationName];
}

const CASES: [name: string, given: Given, code: number, words: RegExp][] = [
  [
    'all is well',
    {},
    0,
    /✓ account {4}credentials: google.credentials \(\S+key.json\), since 20.* UTC, until the key is deleted; .*\n✓ account .* may read 2 properties\n✓ property {3}sc-domain:example.com: siteOwner, 1 sitemap listed there, inspections a day: 2,000 through sc-domain:example.com, 2,000 through https:\/\/www.example.com\/\n/,
  ],
  [
    'another property',
    { id: 'sc-domain:other.example' },
    1,
    /✗ property .* has no permission for sc-domain:other.example\n +→ Use one that it may read, .* or have an owner add/,
  ],
  [
    'a key that does not sign',
    { file: { private_key: OTHER_KEY } },
    1,
    /✗ account .*Invalid JWT Signature.*\n +→ .*make another key with/i,
  ],
  ['a Google that is down', { fault: ['500', 'sites'] }, 1, /✗ account .*answered 500 .*\n +→ Try again later\.\n/],
  [
    'inspections that are refused',
    { permissionLevel: 'siteRestrictedUser' },
    1,
    /✗ property .*refuses inspections of sc-domain:example.com \(permission: siteRestrictedUser\).*\n +→ Have an owner/,
  ],
  [
    'a site that refuses us',
    { fault: ['403', 'web'] },
    1,
    /✗ sitemap .*\/sitemap.xml answered 403 to indexhouse\n +→ Let it answer 200 to the user agent indexhouse/,
  ],
];
test.each(CASES)('doctor: %s', async (_, given, code, words) => {
  const { id = DOMAIN, file = {}, permissionLevel, fault } = given;
  const service = await startSearchConsole({
    properties: [{ siteUrl: PREFIX }, { siteUrl: DOMAIN, ...(permissionLevel ? { permissionLevel } : {}) }],
  });
  onTestFinished(() => service.close());
  if (fault) service.setFaults({ [fault[0]]: 1 }, [fault[1]]);
  const folder = temporaryFolder();
  const credentials = join(folder, 'key.json');
  const whole = JSON.parse(readFileSync(await service.credentials(), 'utf8'));
  writeFileSync(credentials, JSON.stringify({ ...whole, ...file }));
  const config = join(folder, 'google.yaml');
  const google = { credentials, endpoint: service.url };
  writeFileSync(config, JSON.stringify({ websites: [{ id, source: 'google' }], google }));
  const ended = await run(['doctor', '-c', config]);
  expect([ended.code, ended.stdout]).toEqual([code, expect.stringMatching(words)]);
  expect(ended.stdout.includes('indexhouse login --client client_secret.json')).toBe(code === 1 && !fault);
  expect(ended.stdout).not.toContain('PRIVATE KEY');
});

test('doctor signs in each account that a website chooses, and says which one is missing', async () => {
  const service = await startSearchConsole({ properties: [{ siteUrl: PREFIX }] });
  onTestFinished(() => service.close());
  const folder = temporaryFolder();
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const accounts = {
    shop: { credentials: await service.credentials() },
    blog: { credentials: await service.credentials('authorized_user') },
    gone: {},
  };
  const ids = { shop: DOMAIN, blog: PREFIX, gone: 'sc-domain:gone.example' };
  const websites = Object.entries(ids).map(([account, id]) => ({ id, source: 'google', account }));
  const config = writeConfig(folder, { websites, sections: { google: { accounts, endpoint: service.url } } });
  const { code, stdout } = await run(['doctor', '-c', config]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/✓ account .*indexhouse@simulated.* signs in \(account shop\)/);
  expect(stdout).toMatch(/✓ account .*your account signs in \(account blog\)/);
  expect(stdout).toMatch(/✗ account .*google-gone.json.*\n +→ Run `indexhouse login --account gone`, or set google/);
  expect(stdout).toMatch(/✓ property {3}https:\/\/www.example.com\//);
});

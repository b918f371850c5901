import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { CredentialsKind } from '../../../src/app/demo/search-console/sign-in.js';
import { Access } from '../../../src/source/search-console/access.js';
import { listSites } from '../../../src/source/search-console/google-client.js';
import { temporaryFolder } from '../../given/folder.js';
import { credentialsFile, credentialsOf, google, googleConfig, refusal } from './given-google.js';

const accessOf = (credentials?: string) =>
  new Access({ google: googleConfig(credentials === undefined ? {} : { credentials }), timeout: 1 });

const service = await credentialsOf('service_account');
const user = await credentialsOf('authorized_user');
it.each([
  ['nothing', '', /\(it is not JSON\)/],
  ['an API key', 'AIzaSyA-very-secret-key', /is not a whole credentials file/],
  ['another kind', { type: 'gdch_service_account', token: 'very-secret' }, /type: Invalid/],
  ['half a key', { ...service, private_key: service.private_key.slice(0, 400) }, /private_key: does not sign/],
  [
    'a workload whose token a program prints',
    { type: 'external_account', credential_source: { executable: { command: '/bin/very-secret' } } },
    /credential_source.executable: Invalid/,
  ],
])('a file that holds %s is refused with the remedy', (_, content, message) => {
  const file = credentialsFile(content);
  const read = () => accessOf(file);
  expect(read).toThrow(message);
  expect(read).toThrow(file);
  expect(read).toThrow(/; run `indexhouse login`, or set google.credentials/);
  expect(read).not.toThrow(/very-secret|PRIVATE KEY/);
});

it('says what a client is for, and waits for no pipe', () => {
  const client = credentialsFile({ installed: { client_secret: 'very-secret' } });
  expect(() => accessOf(client)).toThrow(
    `is the file of an OAuth client, with which nobody has signed in; leave google.credentials out, and run \`indexhouse login --client ${client}\``,
  );
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  expect(() => accessOf(pipe)).toThrow(/it cannot be read \(is a pipe or device, not a file\); run `indexhouse login`/);
});

it('takes the first credentials of the documented order, and never a key in place of a path', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = temporaryFolder();
  const wayOf = (credentials?: string) => accessOf(credentials).credentials.way;
  vi.stubEnv('CLOUDSDK_CONFIG', folder);
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  expect(() => wayOf()).toThrow(
    /there are no credentials .*the metadata server of Google Cloud\); run `indexhouse login`/,
  );
  vi.stubEnv('GCE_METADATA_HOST', '127.0.0.1:1');
  expect(wayOf()).toBe('metadata server');
  writeFileSync(join(folder, 'application_default_credentials.json'), JSON.stringify(user));
  expect(wayOf()).toBe('gcloud');
  mkdirSync(join(folder, 'indexhouse'));
  writeFileSync(join(folder, 'indexhouse', 'google.json'), JSON.stringify(user));
  expect(wayOf()).toBe('login');
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', credentialsFile(service));
  expect([wayOf(), accessOf().account]).toEqual(['GOOGLE_APPLICATION_CREDENTIALS', service.client_email]);
  expect(wayOf(credentialsFile(user))).toBe('google.credentials');
  for (const key of [JSON.stringify(service), 'AIzaSyA-very-secret-key'])
    expect(() => wayOf(key)).toThrow(/^google.credentials holds a key itself: write it to a file, [^A{]*$/);
});

it('signs in once for all calls, and again a minute before the end, or where no end is known', async () => {
  const { client, purpose, signIns, clock } = await google();
  await Promise.all([1, 2, 3].map(() => listSites(client, purpose)));
  for (const later of [3538_000, 2_000]) {
    expect(signIns).toHaveLength(1);
    clock.now += later;
    await listSites(client, purpose);
  }
  expect(signIns).toHaveLength(2);
  const odd = await google(() => ({}), { signIn: () => ({ body: { access_token: 'ya29.x', expires_in: 'soon' } }) });
  for (const later of [0, 0, 86_400_000]) {
    odd.clock.now += later;
    await listSites(odd.client, odd.purpose);
  }
  expect(odd.signIns).toHaveLength(2);
});

it('renews a token that ended early once for all that wait, and ends all calls where that is refused, too', async () => {
  const ended = refusal(401, 'UNAUTHENTICATED', 'Ended.');
  let first: unknown;
  const early = await google(({ headers: { authorization } }) => {
    first ??= authorization;
    return authorization === first ? ended : undefined;
  });
  await Promise.all([1, 2, 3].map(() => listSites(early.client, early.purpose)));
  expect(early.signIns).toHaveLength(2);
  const { client, purpose, calls } = await google(() => ended);
  const refused = { kind: 'unauthorized', message: expect.stringContaining(`the tokens of ${service.client_email}`) };
  await expect(listSites(client, purpose)).rejects.toMatchObject(refused);
  await expect(listSites(client, purpose)).rejects.toMatchObject(refused);
  expect(calls).toHaveLength(2);
});

const login = /correct that in Google Cloud, or make \S+ again in the same way/;
it.each<[CredentialsKind, number, string, string, RegExp]>([
  [
    'service_account',
    400,
    'invalid_grant',
    'Invalid JWT Signature.',
    /keys create key\.json --iam-account=indexhouse@/,
  ],
  [
    'service_account',
    400,
    'invalid_grant',
    'Token must be in a reasonable timeframe.',
    /clock: it shows 2025-03-01 02:00 UTC and Google's Sat, 01 Mar 2025 09:00:00 GMT/,
  ],
  ['authorized_user', 400, 'invalid_grant', 'Token has been expired or revoked.', login],
  ['authorized_user', 404, '', 'No such page.', /check the addresses in/],
])(
  'a refused sign-in of a %s with %i %s %s says what to do',
  async (kind, status, error, error_description, remedy) => {
    const headers = { date: 'Sat, 01 Mar 2025 09:00:00 GMT' };
    const signIn = () => ({ status, body: { error, error_description }, headers });
    const given = await google(undefined, { signIn, kind });
    const refused = { kind: 'unauthorized', message: expect.stringMatching(remedy) };
    await expect(listSites(given.client, given.purpose)).rejects.toMatchObject(refused);
    await expect(listSites(given.client, given.purpose)).rejects.toThrow(given.credentials);
    expect(given.signIns).toHaveLength(1);
  },
);

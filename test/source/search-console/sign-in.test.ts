import { createServer } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startSearchConsole } from '../../../src/app/demo/search-console/search-console.js';
import { Stopped } from '../../../src/base/exit.js';
import type { GoogleClientOptions } from '../../../src/source/search-console/access.js';
import { GoogleClient, listSites } from '../../../src/source/search-console/google-client.js';
import { listenOnLoopback } from '../../given/loopback.js';
import { type Script, type ScriptedAnswer, type ScriptedCall, scripted } from '../../given/scripted.js';
import { credentialsFile, credentialsOf, googleConfig, NO_PAGES } from './given-google.js';

const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q';
const SUBJECT = 'eyJ-subject-token-of-the-workload';
/** The simulator accepts it. */
const TOKEN = 'ya29.of-another-sign-in';

const robot = await credentialsOf('service_account');
const user = await credentialsOf('authorized_user');
/** What no output may show; every token starts with `ya29.`. */
const SECRETS: string[] = [
  ...[robot.private_key.slice(100, 140), user.client_secret, user.refresh_token],
  ...[SUBJECT, 'aws-secret-key', 'ya29.'],
];

const external = (at: string, subject: string, credential_source: object) => ({
  type: 'external_account',
  audience: AUDIENCE,
  subject_token_type: `urn:ietf:params:${subject}`,
  token_url: `${at}/sts`,
  credential_source,
});
const impersonate = (at: string) => ({
  service_account_impersonation_url: `${at}/v1/projects/-/serviceAccounts/robot@project.example:generateAccessToken`,
});

/** Each kind of credentials: its file for a Google at an address, and the scopes that it asks for, one after the other. */
const KINDS: Record<string, { file: (at: string) => object | null; scopes: string[] }> = {
  service_account: { file: (at) => ({ ...robot, token_uri: `${at}/token` }), scopes: ['webmasters.readonly'] },
  authorized_user: { file: (at) => ({ ...user, token_uri: `${at}/token` }), scopes: ['webmasters.readonly'] },
  impersonated_service_account: {
    file: (at) => ({
      type: 'impersonated_service_account',
      ...impersonate(at),
      source_credentials: { ...user, token_uri: `${at}/token` },
    }),
    scopes: ['cloud-platform', 'webmasters.readonly'],
  },
  'external_account with a url': {
    file: (at) => ({
      ...external(at, 'oauth:token-type:jwt', {
        url: `${at}/subject`,
        headers: { authorization: `bearer ${SUBJECT}` },
        format: { type: 'json', subject_token_field_name: 'value' },
      }),
      ...impersonate(at),
    }),
    scopes: ['iam', 'webmasters.readonly'],
  },
  'external_account of AWS': {
    file: (at) => {
      const keys = { REGION: 'eu-west-1', ACCESS_KEY_ID: 'AKIA', SECRET_ACCESS_KEY: 'aws-secret-key' };
      for (const [name, value] of Object.entries(keys)) vi.stubEnv(`AWS_${name}`, value);
      return external(at, 'aws:token-type:aws4_request', {
        environment_id: 'aws1',
        regional_cred_verification_url:
          'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
      });
    },
    scopes: ['webmasters.readonly'],
  },
  'metadata server': {
    file: (at) => {
      vi.stubEnv('GCE_METADATA_HOST', at.replace(/^https?:\/\//, ''));
      for (const name of ['CLOUDSDK_CONFIG', 'XDG_CONFIG_HOME']) vi.stubEnv(name, '/nowhere');
      return null;
    },
    scopes: ['webmasters.readonly'],
  },
};
const kinds = Object.keys(KINDS);

/** The simulated Google, and beside it the other servers that sign in; an answer of the test's own comes first. */
async function startGoogle(answer: Script = () => undefined) {
  const scopes: string[] = [];
  const asked: ScriptedCall[] = [];
  const script: Script = async (call) => {
    asked.push(call);
    const own = await answer(call);
    if (own) return own;
    const [scope, other] = otherSignIn(call, scopes.at(-1)) ?? [];
    if (scope !== undefined) scopes.push(scope.replaceAll('https://www.googleapis.com/auth/', ''));
    return other;
  };
  const service = await startSearchConsole({ websites: NO_PAGES, token: TOKEN, setup: scripted(script) });
  onTestFinished(() => service.close());
  return { url: service.url, asked, scopes };
}

type Answered = [scope: string | undefined, answer?: ScriptedAnswer] | undefined;

/** The scope that a call signs in for, and what servers that are not simulated answer if it proves who signs in. */
function otherSignIn({ line, headers, body }: ScriptedCall, lastScope?: string): Answered {
  const form = formOf(body);
  const [, path = ''] = line.split(' ');
  const token = (isRight: boolean, scope = ''): Answered =>
    isRight ? [scope, { body: { access_token: TOKEN, expires_in: 3599, token_type: 'Bearer' } }] : undefined;
  if (path === '/token') return [form['scope'] ?? claimsOf(form['assertion']).scope];
  if (path === '/subject' && headers.authorization === `bearer ${SUBJECT}`)
    return [undefined, { body: { value: SUBJECT } }];
  if (path === '/sts') {
    const signed = `x-goog-cloud-target-resource","value":"${AUDIENCE}`;
    const isSigned = decodeURIComponent(form['subject_token'] ?? '').includes(signed);
    return token(form['audience'] === AUDIENCE && (form['subject_token'] === SUBJECT || isSigned), form['scope']);
  }
  if (path.startsWith('/computeMetadata/'))
    return token(headers['metadata-flavor'] === 'Google', new URL(path, 'http://x').searchParams.get('scopes') ?? '');
  if (!path.endsWith(':generateAccessToken') || !/^(iam|cloud-platform)$/.test(lastScope ?? '')) return undefined;
  const expireTime = new Date(Date.now() + 3_600_000).toISOString();
  return [String(form['scope']), { body: { accessToken: TOKEN, expireTime } }];
}

/** The fields of a body, parsed or not. */
function formOf(body: unknown): Record<string, string> {
  if (typeof body !== 'string') return Object(body);
  return body.startsWith('{') ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
}

function claimsOf(assertion = ''): { scope: string } {
  return JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString());
}

/** Lists the properties with the credentials of a kind, at a Google at this address. @returns the error, if there is one */
async function list(kind: string, { url }: { url: string }, options: Partial<GoogleClientOptions> = {}) {
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = KINDS[kind]?.file(url);
  const google = { ...googleConfig(), endpoint: url, ...(file && { credentials: credentialsFile(file) }) };
  const client = new GoogleClient({ google, timeout: 2000, maxAttempts: 1, ...options });
  onTestFinished(() => client.close());
  const purpose = { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } };
  return listSites(client, purpose).then(
    () => null,
    (error: Error) => error,
  );
}

/** All that a log or a journal could show of an error. */
function shown(error: Error | null): string {
  return error ? `${error.stack}${JSON.stringify(error)}${error.cause instanceof Error ? shown(error.cause) : ''}` : '';
}

it.each(kinds)('%s signs in for webmasters.readonly, and again when the token is refused', async (kind) => {
  let calls = 0;
  const google = await startGoogle(({ line }) =>
    line.startsWith('GET /webmasters') && ++calls === 1 ? { status: 401 } : undefined,
  );
  const { scopes = [] } = KINDS[kind] ?? {};
  expect(await list(kind, google)).toBeNull();
  expect(google.scopes).toEqual([...scopes, ...scopes]);
});

it.each(kinds)('%s: no message shows a secret, whatever is sent back, and the library logs nothing', async (kind) => {
  vi.stubEnv('GOOGLE_SDK_NODE_LOGGING', '*');
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => printed.mockRestore());
  for (const path of ['/token', '/sts', '/subject', '/computeMetadata', ':generateAccessToken', '/webmasters']) {
    const google = await startGoogle(({ line, headers, body }) => {
      const sent = String(new URLSearchParams(formOf(body)));
      const worst = ['', '%25', '\n'];
      const said = worst.map((before) => `${before}${JSON.stringify(headers)}${decodeURIComponent(sent)}${sent}`);
      return line.includes(path) ? { status: 400, body: said.join() } : undefined;
    });
    const ended = await list(kind, google);
    for (const secret of SECRETS) expect(shown(ended)).not.toContain(secret);
  }
  expect(printed).not.toHaveBeenCalled();
});

it.each(kinds)('%s: GOOGLE_CLOUD_QUOTA_PROJECT pays for the calls, and for an impersonation', async (kind) => {
  const google = await startGoogle();
  vi.stubEnv('GOOGLE_CLOUD_QUOTA_PROJECT', 'mine');
  expect(await list(kind, google)).toBeNull();
  const isPaid = kind.startsWith('impersonated') ? /webmasters\/|:generateAccessToken/ : /webmasters\//;
  const paid = google.asked.filter(({ line }) => isPaid.test(line.split('?')[0] ?? ''));
  expect(paid.map(({ headers }) => headers['x-goog-user-project'])).toEqual(paid.map(() => 'mine'));
});

it.each(kinds)('%s follows no redirect, and sends nothing to an address that is not https', async (kind) => {
  const other = await startGoogle();
  const google = await startGoogle(() => ({ status: 307, headers: { location: other.url } }));
  expect((await list(kind, google))?.message).toMatch(/answered 307 .*; check the addresses in /);
  expect([google.asked.length, other.asked]).toEqual([1, []]);
  if (kind === 'metadata server') return;
  const ended = await list(kind, { url: 'http://example.com' });
  expect(ended).toMatchObject({ kind: 'unauthorized', message: expect.stringContaining('http://example.com in ') });
});

it('waits no longer than the timeout, and stops when it is told to', async () => {
  const silent = createServer(() => undefined);
  const { url, close } = await listenOnLoopback(silent);
  onTestFinished(close);
  expect(await list('service_account', { url }, { timeout: 100 })).toMatchObject({ kind: 'timeout' });
  const stop = new AbortController();
  silent.once('request', () => stop.abort());
  const options = { signal: stop.signal, timeout: 60_000 };
  expect(await list('service_account', { url }, options)).toBeInstanceOf(Stopped);
});

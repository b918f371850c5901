import { onTestFinished, vi } from 'vitest';
import { startSearchConsole } from '../../../src/app/demo/search-console/search-console.js';
import { type Script, type ScriptedAnswer, type ScriptedCall, scripted } from '../../given/scripted.js';
import { credentialsFile, credentialsOf, NO_PAGES } from './given-google.js';

const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q';
const SCOPES = 'https://www.googleapis.com/auth/';
const SUBJECT = 'eyJ-subject-token-of-the-workload';
/** The simulator accepts it. */
const TOKEN = 'ya29.of-another-sign-in';

const robot = await credentialsOf('service_account');
const user = await credentialsOf('authorized_user');
/** What no output may show; every token starts with `ya29.`. */
export const SECRETS: string[] = [
  robot.private_key.slice(100, 140),
  user.client_secret,
  user.refresh_token,
  SUBJECT,
  'aws-secret-key',
  'ya29.',
];

const external = {
  type: 'external_account',
  audience: AUDIENCE,
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
};
const impersonate = (at: string) => `${at}/v1/projects/-/serviceAccounts/robot@project.example:generateAccessToken`;
const impersonated = (at: string, source: object) => ({
  type: 'impersonated_service_account',
  service_account_impersonation_url: impersonate(at),
  source_credentials: { ...source, token_uri: `${at}/token` },
});

/** Each kind of credentials: its file for a Google at an address, and the scopes that it asks for, one after the other. */
export const KINDS: Record<string, { file: (at: string) => object | null; scopes: string[] }> = {
  service_account: { file: (at) => ({ ...robot, token_uri: `${at}/token` }), scopes: ['webmasters.readonly'] },
  authorized_user: { file: (at) => ({ ...user, token_uri: `${at}/token` }), scopes: ['webmasters.readonly'] },
  impersonated_service_account: {
    file: (at) => impersonated(at, user),
    scopes: ['cloud-platform', 'webmasters.readonly'],
  },
  'impersonated_service_account of a key': {
    file: (at) => impersonated(at, robot),
    scopes: ['iam', 'webmasters.readonly'],
  },
  'external_account with a file': {
    file: (at) => ({ ...external, token_url: `${at}/sts`, credential_source: { file: credentialsFile(SUBJECT) } }),
    scopes: ['webmasters.readonly'],
  },
  'external_account with a url': {
    file: (at) => ({
      ...external,
      token_url: `${at}/sts`,
      credential_source: {
        url: `${at}/subject`,
        headers: { authorization: `bearer ${SUBJECT}` },
        format: { type: 'json', subject_token_field_name: 'value' },
      },
      service_account_impersonation_url: impersonate(at),
    }),
    scopes: ['iam', 'webmasters.readonly'],
  },
  'external_account of AWS': {
    file: (at) => {
      for (const [name, value] of Object.entries({
        REGION: 'eu-west-1',
        ACCESS_KEY_ID: 'AKIA',
        SECRET_ACCESS_KEY: 'aws-secret-key',
      }))
        vi.stubEnv(`AWS_${name}`, value);
      return {
        ...external,
        subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
        token_url: `${at}/sts`,
        credential_source: {
          environment_id: 'aws1',
          regional_cred_verification_url:
            'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
        },
      };
    },
    scopes: ['webmasters.readonly'],
  },
  external_account_authorized_user: {
    file: (at) => ({
      ...user,
      type: 'external_account_authorized_user',
      audience: AUDIENCE,
      token_url: `${at}/oauthtoken`,
    }),
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

/** The path of a kind's credentials file; undefined for the metadata server. Its environment lasts as long as the test. */
export function fileOf(kind: string, at: string): string | undefined {
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = KINDS[kind]?.file(at);
  return file ? credentialsFile(file) : undefined;
}

/** The simulated Google, and beside it the other servers that sign in; an answer of the test's own comes first. */
export async function startGoogle(answer: Script = () => undefined) {
  const scopes: string[] = [];
  const asked: ScriptedCall[] = [];
  const service = await startSearchConsole({
    websites: NO_PAGES,
    token: TOKEN,
    setup: scripted(async (call) => {
      asked.push(call);
      const own = await answer(call);
      if (own) return own;
      const [scope, other] = otherSignIn(call, scopes.at(-1)) ?? [];
      if (scope !== undefined) scopes.push(scope.replaceAll(SCOPES, ''));
      return other;
    }),
  });
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
  if (path === '/oauthtoken') {
    const basic = Buffer.from(`${user.client_id}:${user.client_secret}`).toString('base64');
    return token(
      headers.authorization === `Basic ${basic}` && form['refresh_token'] === user.refresh_token,
      form['scope'],
    );
  }
  if (path === '/subject' && headers.authorization === `bearer ${SUBJECT}`)
    return [undefined, { body: { value: SUBJECT } }];
  if (path === '/sts') {
    const isSigned = decodeURIComponent(form['subject_token'] ?? '').includes(
      `x-goog-cloud-target-resource","value":"${AUDIENCE}`,
    );
    return token(form['audience'] === AUDIENCE && (form['subject_token'] === SUBJECT || isSigned), form['scope']);
  }
  if (path.startsWith('/computeMetadata/'))
    return token(headers['metadata-flavor'] === 'Google', new URL(path, 'http://x').searchParams.get('scopes') ?? '');
  if (!path.endsWith(':generateAccessToken') || !/^(iam|cloud-platform)$/.test(lastScope ?? '')) return undefined;
  const expireTime = new Date(Date.now() + 3_600_000).toISOString();
  return [String(form['scope']), { body: { accessToken: TOKEN, expireTime } }];
}

/** The fields of a body, parsed or not. */
export function formOf(body: unknown): Record<string, string> {
  if (typeof body !== 'string') return Object(body);
  return body.startsWith('{') ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
}

function claimsOf(assertion = ''): { scope: string } {
  return JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString());
}

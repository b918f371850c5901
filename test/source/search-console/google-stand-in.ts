import { generateKeyPairSync, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../given/folder.js';
import { listenOnLoopback } from '../../given/loopback.js';

export const ROBOT = 'robot@project.iam.gserviceaccount.com';
const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q';
const SCOPES = 'https://www.googleapis.com/auth/';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const CLIENT = { client_id: 'id.apps.googleusercontent.com', client_secret: 'GOCSPX-secret-of-the-client' };
const USER = { type: 'authorized_user', ...CLIENT, refresh_token: '1//refresh-token-of-a-user' };
const SUBJECT = 'eyJ-subject-token-of-the-workload';
/** What no output may show; every token that the stand-in gives starts with `ya29.`. */
export const SECRETS = [
  private_key.slice(100, 140),
  CLIENT.client_secret,
  USER.refresh_token,
  SUBJECT,
  'aws-secret-key',
  'ya29.',
];

const robot = { type: 'service_account', client_email: ROBOT, private_key };
const external = {
  type: 'external_account',
  audience: AUDIENCE,
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
};
const impersonate = (at: string) => `${at}/v1/projects/-/serviceAccounts/${ROBOT}:generateAccessToken`;

/** Each kind of credentials: its file for a Google at an address, and the scopes that it asks for, one after the other. */
export const KINDS: Record<string, { file: (at: string) => object | null; scopes: string[] }> = {
  service_account: { file: (at) => ({ ...robot, token_uri: `${at}/token` }), scopes: ['webmasters.readonly'] },
  authorized_user: { file: (at) => ({ ...USER, token_uri: `${at}/token` }), scopes: ['webmasters.readonly'] },
  impersonated_service_account: {
    file: (at) => ({
      type: 'impersonated_service_account',
      service_account_impersonation_url: impersonate(at),
      source_credentials: { ...USER, token_uri: `${at}/token` },
    }),
    scopes: ['cloud-platform', 'webmasters.readonly'],
  },
  'impersonated_service_account of a key': {
    file: (at) => ({
      type: 'impersonated_service_account',
      service_account_impersonation_url: impersonate(at),
      source_credentials: { ...robot, token_uri: `${at}/token` },
    }),
    scopes: ['iam', 'webmasters.readonly'],
  },
  'external_account with a file': {
    file: (at) => ({ ...external, token_url: `${at}/sts`, credential_source: { file: written(SUBJECT) } }),
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
      ...USER,
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

function written(content: object | string): string {
  const path = join(temporaryFolder(), 'file.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** The path of a kind's credentials file; undefined for the metadata server. Its environment lasts as long as the test. */
export function fileOf(kind: string, at: string): string | undefined {
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = KINDS[kind]?.file(at);
  return file ? written(file) : undefined;
}

interface Asked {
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}
type Answer = (asked: Asked) => [status: number, body: string, headers?: Record<string, string>] | undefined;

/** The servers that sign in, all at one address, which check what Google checks; an answer of the test's own comes first. */
export async function startGoogle(answer: Answer = () => undefined) {
  const scopes: string[] = [];
  const asked: Asked[] = [];
  const give = (scope = '') => {
    scopes.push(scope.replaceAll(SCOPES, ''));
    return `ya29.${scopes.length}-for-${scopes.at(-1)}`;
  };
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const one = { url: request.url ?? '', headers: request.headers, body: await text(request) };
    asked.push(one);
    const own = answer(one);
    if (own) return void response.writeHead(own[0], own[2]).end(own[1]);
    try {
      response.end(JSON.stringify(answerOf(one, give)));
    } catch (error) {
      response.writeHead(400).end(JSON.stringify({ error: 'invalid_request', error_description: String(error) }));
    }
  };
  const { url, close } = await listenOnLoopback(createServer((request, response) => void reply(request, response)));
  onTestFinished(close);
  return { url, asked, scopes };
}

function answerOf({ url, headers, body }: Asked, give: (scope?: string) => string): object {
  const form = Object.fromEntries(new URLSearchParams(body));
  const check = (isRight: unknown, what: string) => {
    if (!isRight) throw new Error(`${what} is wrong`);
  };
  const token = (scope?: string) => ({ access_token: give(scope), expires_in: 3599, token_type: 'Bearer' });
  if (url === '/token' && form['assertion']) {
    const [header, payload = '', signature = ''] = form['assertion'].split('.');
    check(
      verify('RSA-SHA256', Buffer.from(`${header}.${payload}`), publicKey, Buffer.from(signature, 'base64url')),
      'signature',
    );
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    check(claims.iss === ROBOT && claims.aud === `http://${headers.host}/token`, 'issuer or audience');
    return token(claims.scope);
  }
  if (url === '/token' || url === '/oauthtoken') {
    const basic = `Basic ${Buffer.from(`${CLIENT.client_id}:${CLIENT.client_secret}`).toString('base64')}`;
    check(form['client_secret'] === CLIENT.client_secret || headers.authorization === basic, 'client');
    check(form['refresh_token'] === USER.refresh_token && form['grant_type'] === 'refresh_token', 'refresh_token');
    return token(form['scope']);
  }
  if (url === '/subject') {
    check(headers.authorization === `bearer ${SUBJECT}`, 'header');
    return { value: SUBJECT };
  }
  if (url === '/sts') {
    const isSigned = decodeURIComponent(form['subject_token'] ?? '').includes(
      `x-goog-cloud-target-resource","value":"${AUDIENCE}`,
    );
    check(form['audience'] === AUDIENCE && (form['subject_token'] === SUBJECT || isSigned), 'subject_token');
    return token(form['scope']);
  }
  if (url.startsWith('/computeMetadata/')) {
    check(headers['metadata-flavor'] === 'Google', 'metadata-flavor');
    return token(new URL(url, 'http://x').searchParams.get('scopes') ?? '');
  }
  if (url.endsWith(':generateAccessToken')) {
    check(/^Bearer ya29\.\d+-for-(iam|cloud-platform)$/.test(headers.authorization ?? ''), 'bearer');
    return {
      accessToken: give(JSON.parse(body).scope.join()),
      expireTime: new Date(Date.now() + 3_600_000).toISOString(),
    };
  }
  check(headers.authorization?.endsWith('-for-webmasters.readonly'), 'token');
  return {};
}

import { createPrivateKey } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import type { GoogleConfig } from '../../base/config/google.js';
import { codeOf } from '../../base/storage/durable.js';
import { issuesOf, jsonOf } from '../../base/validate.js';
import { SourceError } from '../errors.js';

export const SCOPE = 'https://www.googleapis.com/auth/webmasters.readonly';
/** Signs a user in; the token of gcloud's own login does not open this API. */
export const GCLOUD_LOGIN = `gcloud auth application-default login --scopes=${SCOPE},https://www.googleapis.com/auth/cloud-platform`;
const OTHERWISE = 'run `indexhouse login`, or set google.credentials to a credentials file';
const ofAccount = (name: string) =>
  `run \`indexhouse login --account ${name}\`, or set google.accounts.${name}.credentials`;
/** Where credentials are looked for, in this order. */
export const ORDER =
  'google.credentials, GOOGLE_APPLICATION_CREDENTIALS, `indexhouse login`, `gcloud auth application-default login`, the metadata server of Google Cloud';

/** A longer value fits in no header, and masking would search every answer for it. */
export const MOST_CHARACTERS = 16_384;

/** Google's library, loaded only when it is needed, because that takes 80 ms. */
export const library = (): typeof import('google-auth-library') =>
  createRequire(import.meta.url)('google-auth-library');

const filled = z.string().min(1).max(MOST_CHARACTERS);
const optional = z.string().exactOptional();
const quota_project_id = optional;
const privateKey = z.string().refine(signs, 'does not sign, because it is no whole RSA key in PEM form');
const user = { client_id: filled, client_secret: filled, refresh_token: filled };
/** Where a workload gets its own token from; AWS has an environment_id. */
const credentialSource = z.object({
  file: optional,
  url: optional,
  headers: z.record(z.string(), z.string()).exactOptional(),
  format: z.object({ type: z.enum(['json', 'text']), subject_token_field_name: optional }).exactOptional(),
  environment_id: optional,
  region_url: optional,
  regional_cred_verification_url: optional,
  imdsv2_session_token_url: optional,
});
const direct = [
  z.object({
    type: z.literal('service_account'),
    client_email: filled,
    private_key: privateKey,
    private_key_id: optional,
    token_uri: optional,
    quota_project_id,
  }),
  z.object({
    type: z.literal('authorized_user'),
    ...user,
    token_uri: optional,
    quota_project_id,
    /** Set by `indexhouse login`, if Google says when the sign-in ends. */
    ends_at: optional,
  }),
  z.object({
    type: z.literal('external_account'),
    audience: filled,
    subject_token_type: filled,
    token_url: filled,
    service_account_impersonation_url: optional,
    service_account_impersonation: z.object({ token_lifetime_seconds: z.number().exactOptional() }).exactOptional(),
    client_id: optional,
    client_secret: optional,
    workforce_pool_user_project: optional,
    credential_source: credentialSource.refine(
      ({ file, url, environment_id }) => environment_id || !file !== !url,
      'names neither a file nor a url (nor AWS)',
    ),
    quota_project_id,
  }),
  z.object({
    type: z.literal('external_account_authorized_user'),
    audience: filled,
    ...user,
    token_url: filled,
    token_info_url: z.string().default(''),
    quota_project_id,
  }),
] as const;
const directSchema = z.discriminatedUnion('type', direct);
const impersonated = z.object({
  type: z.literal('impersonated_service_account'),
  service_account_impersonation_url: z.url().regex(/[^/]+:generateAccessToken$/),
  source_credentials: directSchema,
  delegates: z.array(z.string()).default([]),
  quota_project_id,
});
const fileSchema = z.discriminatedUnion('type', [...direct, impersonated]);

export type DirectFile = z.infer<typeof directSchema>;
/** Who asks Search Console, as a file defines it; on Google Cloud the service account of the machine. */
export type CredentialsFile = z.infer<typeof fileSchema> | { type: 'metadata_server'; quota_project_id?: never };

export interface Credentials {
  way: 'google.credentials' | 'GOOGLE_APPLICATION_CREDENTIALS' | 'login' | 'gcloud' | 'metadata server';
  /** For messages: the path of the file, or `the metadata server`. */
  path: string;
  file: CredentialsFile;
  /** The name of the account, if it signed in with one. */
  account?: string;
  /** When the file was written, in milliseconds since 1970; null without a file. */
  since: number | null;
}

/**
 * The first credentials of `ORDER`.
 *
 * @throws SourceError `unauthorized`, with the file, what is wrong and the remedy
 */
export function findCredentials({ credentials, account }: Pick<GoogleConfig, 'credentials' | 'account'>): Credentials {
  const variable = process.env['GOOGLE_APPLICATION_CREDENTIALS'];
  if (credentials) return credentialsIn(credentials, 'google.credentials');
  // An account with a name shares nothing.
  if (account !== undefined) return { ...credentialsIn(loginFile(account), 'login', ofAccount(account)), account };
  const corrected = 'correct GOOGLE_APPLICATION_CREDENTIALS, or unset it';
  if (variable) return credentialsIn(variable, 'GOOGLE_APPLICATION_CREDENTIALS', corrected);
  for (const [way, path] of [['login', loginFile()] as const, ['gcloud', gcloudsFile()] as const])
    if (existsSync(path)) return credentialsIn(path, way);
  if (isOnGoogleCloud()) {
    return { way: 'metadata server', path: 'the metadata server', file: { type: 'metadata_server' }, since: null };
  }
  throw new SourceError(
    'unauthorized',
    `there are no credentials for Search Console (looked for: ${ORDER}); ${OTHERWISE}`,
  );
}

/** Where `indexhouse login` stores what it got: in the user's configuration folder. */
export function loginFile(account?: string): string {
  const { XDG_CONFIG_HOME: own, APPDATA: windows } = process.env;
  return join(
    (own && isAbsolute(own) ? own : windows) || join(homedir(), '.config'),
    'indexhouse',
    account === undefined ? 'google.json' : `google-${account}.json`,
  );
}

/** Whether this machine has a metadata server that gives tokens. Asks no server. */
function isOnGoogleCloud(): boolean {
  return Boolean(process.env['GCE_METADATA_HOST']) || library().gcpMetadata.getGCPResidency();
}

function gcloudsFile(): string {
  const { CLOUDSDK_CONFIG: own, APPDATA: windows } = process.env;
  const folder = own || (windows ? join(windows, 'gcloud') : join(homedir(), '.config', 'gcloud'));
  return join(folder, 'application_default_credentials.json');
}

function credentialsIn(path: string, way: Credentials['way'], otherwise = OTHERWISE): Credentials {
  if (/\{|PRIVATE KEY|AIza/.test(path))
    throw new SourceError(
      'unauthorized',
      `${way} holds a key itself: write it to a file, and the path of the file here`,
    );
  const json = jsonOf(textOf(path, otherwise));
  const { data, error } = fileSchema.safeParse(json);
  if (data) return { way, path, file: data, since: statSync(path).mtimeMs };
  const issues =
    json === null ? ['it is not JSON'] : issuesOf(error).map(({ path: field, message }) => `${field}: ${message}`);
  throw new SourceError('unauthorized', `${path} is not a whole credentials file (${issues.join(', ')}); ${otherwise}`);
}

function textOf(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const what = codeOf(error) === 'ENOENT' ? 'there is no such file' : `it cannot be read (${codeOf(error)})`;
    throw new SourceError('unauthorized', `no credentials for Search Console in ${path}: ${what}; ${otherwise}`);
  }
}

function signs(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

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

const text = z.string().min(1).max(MOST_CHARACTERS).exactOptional();
/** The library says what else a file must have. */
const directSchema = z.object({
  type: z.enum(['service_account', 'authorized_user', 'external_account', 'external_account_authorized_user']),
  client_email: text,
  private_key: z.string().refine(signs, 'does not sign, because it is no whole RSA key in PEM form').exactOptional(),
  private_key_id: text,
  client_id: text,
  client_secret: text,
  refresh_token: text,
  token_uri: text,
  /** Set by `indexhouse login`, if Google says when the sign-in ends. */
  ends_at: text,
  quota_project_id: text,
  audience: text,
  subject_token_type: text,
  token_url: text,
  service_account_impersonation_url: text,
  service_account_impersonation: z.object({ token_lifetime_seconds: z.number().exactOptional() }).exactOptional(),
  workforce_pool_user_project: text,
  // No program is run, and our transport sends no certificate.
  credential_source: z
    .looseObject({ executable: z.never().exactOptional(), certificate: z.never().exactOptional() })
    .exactOptional(),
});
const impersonated = z.object({
  type: z.literal('impersonated_service_account'),
  service_account_impersonation_url: z.url().regex(/[^/]+:generateAccessToken$/),
  source_credentials: directSchema,
  delegates: z.array(z.string()).default([]),
  quota_project_id: text,
});
const fileSchema = z.discriminatedUnion('type', [directSchema, impersonated]);

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
  const refuse = (why: string) => new SourceError('unauthorized', `${path} ${why}; ${otherwise}`);
  try {
    const json = jsonOf(readFileSync(path, 'utf8'));
    const { data, error } = fileSchema.safeParse(json);
    if (data) return { way, path, file: data, since: statSync(path).mtimeMs };
    const issues = issuesOf(error).map(({ path: field, message }) => `${field}: ${message}`);
    throw refuse(`is not a whole credentials file (${json === null ? 'it is not JSON' : issues.join(', ')})`);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw refuse(`holds no credentials for Search Console: it cannot be read (${codeOf(error)})`);
  }
}

function signs(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

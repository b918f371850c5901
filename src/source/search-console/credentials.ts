import { createPrivateKey } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { type GoogleConfig, googleFor } from '../../base/config/google.js';
import type { Config } from '../../base/config/schema.js';
import { googleAccounts } from '../../base/config/websites.js';
import { messageOf } from '../../base/exit.js';
import { moment, shellWord } from '../../base/observe/format.js';
import { readNamed } from '../../base/storage/durable.js';
import { DAY_MS } from '../../base/time.js';
import { issuesOf, jsonOf } from '../../base/validate.js';
import { SourceError } from '../errors.js';

export const SCOPE = 'https://www.googleapis.com/auth/webmasters.readonly';
/** Signs a user in; the token of gcloud's own login does not open this API. */
export const GCLOUD_LOGIN = `gcloud auth application-default login --scopes=${SCOPE},https://www.googleapis.com/auth/cloud-platform`;
const OTHERWISE = 'run `indexhouse login`, or set google.credentials to a credentials file';
/** Where credentials are looked for, in this order. */
export const ORDER =
  'google.credentials, GOOGLE_APPLICATION_CREDENTIALS, `indexhouse login`, `gcloud auth application-default login`, the metadata server of Google Cloud';

/** A longer value fits in no header, and masking would search every answer for it. */
export const MOST_CHARACTERS = 16_384;
/** How long before its end a sign-in is a finding. */
const ENDING_MS = 2 * DAY_MS;

/** Google's library, loaded only when it is needed, because that takes 80 ms. */
export const library = (): typeof import('google-auth-library') =>
  createRequire(import.meta.url)('google-auth-library');

const text = z.string().min(1).max(MOST_CHARACTERS).exactOptional();
/** The library says what else a file must have. */
const directSchema = z
  .looseObject({
    type: z.enum(['service_account', 'authorized_user', 'external_account', 'external_account_authorized_user']),
    client_email: text,
    private_key: z.string().refine(signs, 'does not sign, because it is no whole RSA key in PEM form').exactOptional(),
    token_uri: text,
    /** Set by `indexhouse login`, if Google says when the sign-in ends. */
    ends_at: text,
    quota_project_id: text,
    service_account_impersonation_url: text,
    // No program is run, and our transport sends no certificate.
    credential_source: z
      .looseObject({ executable: z.never().exactOptional(), certificate: z.never().exactOptional() })
      .exactOptional(),
  })
  .refine((file) => Object.values(file).every((value) => typeof value !== 'string' || value.length <= MOST_CHARACTERS));
const impersonated = z.object({
  type: z.literal('impersonated_service_account'),
  service_account_impersonation_url: z.url().regex(/[^/]+:generateAccessToken$/),
  source_credentials: directSchema,
  delegates: z.array(z.string()).default([]),
  quota_project_id: text,
});
const fileSchema = z.discriminatedUnion('type', [directSchema, impersonated]);
const clientSchema = z.looseObject({}).refine((file) => 'installed' in file || 'web' in file);

export type DirectFile = z.infer<typeof directSchema>;
/** Who asks Search Console, as a file defines it; on Google Cloud the service account of the machine. */
export type CredentialsFile = z.infer<typeof fileSchema> | { type: 'metadata_server'; quota_project_id?: string };

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

const unauthorized = (message: string) => new SourceError('unauthorized', message);

/**
 * The first credentials of `ORDER`.
 *
 * @throws SourceError `unauthorized`, with the file, what is wrong and the remedy
 */
export function findCredentials({ credentials, account }: Pick<GoogleConfig, 'credentials' | 'account'>): Credentials {
  const variable = process.env['GOOGLE_APPLICATION_CREDENTIALS'];
  if (credentials) return credentialsIn(credentials, 'google.credentials');
  // An account with a name shares nothing.
  const own = `run \`indexhouse login --account ${account}\`, or set google.accounts.${account}.credentials`;
  if (account !== undefined) return { ...credentialsIn(loginFile(account), 'login', own), account };
  const corrected = 'correct GOOGLE_APPLICATION_CREDENTIALS, or unset it';
  if (variable) return credentialsIn(variable, 'GOOGLE_APPLICATION_CREDENTIALS', corrected);
  for (const [way, path] of [['login', loginFile()] as const, ['gcloud', gcloudsFile()] as const])
    if (existsSync(path)) return credentialsIn(path, way);
  const [way, file] = ['metadata server' as const, paidBy({ type: 'metadata_server' })];
  if (isOnGoogleCloud()) return { way, path: `the ${way}`, file, since: null };
  throw unauthorized(`there are no credentials for Search Console (looked for: ${ORDER}); ${OTHERWISE}`);
}

/** Where `indexhouse login` stores what it got: in the user's configuration folder. */
export function loginFile(account?: string): string {
  const { XDG_CONFIG_HOME: own, APPDATA: windows } = process.env;
  return join(
    (own && isAbsolute(own) ? own : windows) || configFolder(),
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
  return join(own || join(windows || configFolder(), 'gcloud'), 'application_default_credentials.json');
}

/** A user without HOME and without an entry in passwd has none, so that no file is found there. */
function configFolder(): string {
  try {
    return join(homedir(), '.config');
  } catch {
    return '/dev/null';
  }
}

/** Why others may replace a sign-in that is stored in a folder, with the remedy; null if they may not. */
export function whyOpen(folder: string, isTop = true): string | null {
  const { mode, uid } = statSync(folder);
  const me = process.getuid?.();
  if (me === undefined) return null;
  if (isTop && me !== 0 && uid !== 0 && uid !== me)
    return `${folder} belongs to another user; set XDG_CONFIG_HOME to a folder of your own`;
  // Umask 002 is usual where groups have one user. In a folder like /tmp only its owner may replace a file.
  const isOpen = isTop ? mode & 0o022 : mode & 0o002 && !(mode & 0o1000);
  if (isOpen)
    return `others may write in ${folder}; run \`chmod go-w ${shellWord(folder)}\`, or set XDG_CONFIG_HOME to another one`;
  return dirname(folder) === folder ? null : whyOpen(dirname(folder), false);
}

function credentialsIn(path: string, way: Credentials['way'], otherwise = OTHERWISE): Credentials {
  if (/\{|PRIVATE KEY|AIza/.test(path))
    throw unauthorized(`${way} holds a key itself: write it to a file, and the path of the file here`);
  const refuse = (why: string, remedy = otherwise) => unauthorized(`${path} ${why}; ${remedy}`);
  try {
    const json = jsonOf(readNamed(path));
    const { data, error } = fileSchema.safeParse(json);
    const open = way === 'login' ? whyOpen(dirname(path)) : null;
    if (open) throw refuse(`is not used: ${open}`, 'then sign in again');
    if (data) return { way, path, file: paidBy(data), since: statSync(path).mtimeMs };
    if (clientSchema.safeParse(json).success)
      throw refuse(
        'is the file of an OAuth client, with which nobody has signed in',
        `leave google.credentials out, and run \`indexhouse login --client ${shellWord(path)}\``,
      );
    const issues = issuesOf(error).map(({ path: field, message }) => `${field}: ${message}`);
    throw refuse(`is not a whole credentials file (${json === null ? 'it is not JSON' : issues.join(', ')})`);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw refuse(`holds no credentials for Search Console: it ${messageOf(error)}`);
  }
}

/** Lets the project of the environment pay for all requests, those of a sign-in too. */
function paidBy(file: CredentialsFile): CredentialsFile {
  const quota_project_id = process.env['GOOGLE_CLOUD_QUOTA_PROJECT'];
  if (!quota_project_id) return file;
  if (file.type !== 'impersonated_service_account') return { ...file, quota_project_id };
  return { ...file, quota_project_id, source_credentials: { ...file.source_credentials, quota_project_id } };
}

/** The sign-ins that end within two days, each with when and what to do. Those that cannot be read are no news here. */
export function endingSignIns(config: Pick<Config, 'google' | 'api' | 'websites'>, now: number) {
  return googleAccounts(config).flatMap((name) => {
    const google = googleFor(config.google, name);
    const { credentials = process.env['GOOGLE_APPLICATION_CREDENTIALS'] } = google;
    try {
      if (!existsSync(credentials || loginFile(google.account))) return [];
      const { file } = findCredentials(google);
      const ends = ('ends_at' in file && file.ends_at) || '';
      const left = Date.parse(ends) - now;
      if (!(left <= ENDING_MS)) return [];
      const login = `indexhouse login${name === null ? '' : ` --account ${name}`}`;
      const text = `the sign-in of \`${login}\` ${left > 0 ? 'ends' : 'ended'} at ${moment(ends)}, because its app is in "Testing": publish the app, and run \`${login}\` again`;
      return [{ ends, text }];
    } catch {
      return [];
    }
  });
}

function signs(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

import { generateKeyPairSync, randomUUID, verify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonOf } from '../../../base/validate.js';
import { ServiceError } from '../../../serve/api/errors.js';
import { Consent } from './consent.js';

/** One for all of a process: making it takes long. */
const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ACCOUNT = 'indexhouse@simulated.iam.gserviceaccount.com';
const CLIENT = { client_id: 'simulated', client_secret: 'GOCSPX-simulated-secret' };
/** gcloud's: its client belongs to no project. */
const USER = { ...CLIENT, client_id: 'gcloud', refresh_token: '1//simulated-refresh-token' };
const READ_ONLY = 'https://www.googleapis.com/auth/webmasters.readonly';
/** What a user's sign-in must allow to act as a service account. */
const CLOUD = 'https://www.googleapis.com/auth/cloud-platform';
const LIFE_S = 3600;
const SKEW_S = 300;
const REVOKED = 'Token has been expired or revoked.';
const TIMEFRAME = 'Token must be a short-lived token (60 minutes) and in a reasonable timeframe.';

export type CredentialsKind = 'service_account' | 'authorized_user';
type Form = Readonly<Record<string, string>>;
const claimsSchema = z.object({ iss: z.string(), aud: z.string(), scope: z.string(), iat: z.int(), exp: z.int() });

/** One service account and one user: their files, and the access tokens that they sign in for. */
export class SignIn {
  readonly consent = new Consent();
  /** Those of `indexhouse login`, and the time when they end, in milliseconds since 1970. */
  readonly #logins = new Map<string, number>();
  readonly #grants = new Map<string, { isUser: boolean; scope: string; endsAt: number }>();

  /** @param token an access token that never ends, for trying out */
  constructor(
    private readonly clock: () => number,
    token?: string,
    private readonly jwtClock: () => number = Date.now,
  ) {
    if (token) this.#grants.set(token, { isUser: false, scope: READ_ONLY, endsAt: Number.POSITIVE_INFINITY });
  }

  /** Writes a credentials file into a folder, for its owner only, and returns its path. */
  async write(kind: CredentialsKind, token_uri: string, folder: string): Promise<string> {
    const private_key = KEYS.privateKey.export({ type: 'pkcs8', format: 'pem' });
    const account = { client_email: ACCOUNT, private_key_id: 'simulated', private_key };
    const own = kind === 'service_account' ? account : { ...USER, quota_project_id: 'simulated' };
    const path = join(folder, `${kind}.json`);
    await writeFile(path, JSON.stringify({ type: kind, ...own, token_uri }, null, 2), { mode: 0o600 });
    return path;
  }

  /** Writes the file of an OAuth client for `indexhouse login`, and returns its path. */
  async writeClient(origin: string, folder: string): Promise<string> {
    const path = join(folder, 'client_secret.json');
    const installed = { ...CLIENT, auth_uri: `${origin}/auth`, token_uri: `${origin}/token` };
    await writeFile(path, JSON.stringify({ installed }, null, 2), { mode: 0o600 });
    return path;
  }

  /** Ends a sign-in. */
  revoke({ token = '' }: Form): Record<string, never> {
    if (!this.#logins.delete(token)) throw new ServiceError(400, 'Token expired or revoked.');
    return {};
  }

  /** Answers the form that a client signs in with. */
  grant(form: Form, tokenUri: string): Record<string, unknown> {
    if (form['grant_type'] === 'authorization_code') return this.#login(form);
    const isRefresh = form['grant_type'] === 'refresh_token';
    const ownEnd = this.#logins.get(form['refresh_token'] ?? '');
    const isUser = isRefresh && ownEnd === undefined;
    if (ownEnd !== undefined && ownEnd <= this.clock()) throw new ServiceError(400, REVOKED);
    const user = isUser ? USER : { ...CLIENT, refresh_token: form['refresh_token'] ?? '' };
    const scope = isRefresh ? userScope(form, user) : this.#accountScope(form['assertion'] ?? '', tokenUri);
    return this.#token(isUser, scope);
  }

  #login(form: Form): Record<string, unknown> {
    if (form['client_secret'] !== CLIENT.client_secret) throw new ServiceError(401, 'invalid_client');
    const granted = this.consent.redeem(form);
    if (!granted) throw new ServiceError(400, 'Malformed auth code.');
    const refresh_token = `1//${randomUUID()}`;
    const { refresh_token_expires_in: lasts = Number.POSITIVE_INFINITY } = granted;
    this.#logins.set(refresh_token, this.clock() + lasts * 1000);
    return { ...this.#token(false, granted.scope), ...granted, refresh_token };
  }

  #token(isUser: boolean, scope: string): Record<string, unknown> {
    const access_token = `ya29.${randomUUID()}`;
    this.#grants.set(access_token, { isUser, scope, endsAt: this.clock() + (LIFE_S - 1) * 1000 });
    return { access_token, expires_in: LIFE_S - 1, token_type: 'Bearer' };
  }

  /** Refuses a request without a token that suffices. */
  admit(authorization = '', quotaProject?: unknown): void {
    const grant = this.#grants.get(authorization.replace(/^Bearer /, ''));
    if (!grant || grant.endsAt <= this.clock())
      throw new ServiceError(401, 'Request had invalid authentication credentials.');
    if (!/auth\/webmasters(\.readonly)?( |$)/.test(grant.scope))
      throw new ServiceError(403, 'Request had insufficient authentication scopes.');
    if (grant.isUser && !quotaProject)
      throw new ServiceError(403, 'The API requires a quota project, which is not set by default.');
  }

  #accountScope(assertion: string, tokenUri: string): string {
    const [header = '', payload = '', signature = ''] = assertion.split('.');
    const signed = Buffer.from(`${header}.${payload}`);
    if (!verify('RSA-SHA256', signed, KEYS.publicKey, Buffer.from(signature, 'base64url')))
      throw new ServiceError(400, 'Invalid JWT Signature.');
    const { iss, aud, scope, iat, exp } = claimsSchema.parse(jsonOf(Buffer.from(payload, 'base64url').toString()));
    if (iss !== ACCOUNT) throw new ServiceError(400, 'Invalid grant: account not found');
    if (aud !== tokenUri) throw new ServiceError(400, 'Invalid JWT: Failed audience check.');
    const now = this.jwtClock() / 1000;
    if (now < iat - SKEW_S || now > exp + SKEW_S || exp - iat > LIFE_S)
      throw new ServiceError(400, `Invalid JWT: ${TIMEFRAME}`);
    return scope;
  }
}

/** Google grants whatever the user agreed to; here more than is needed is refused. */
function userScope({ client_secret, refresh_token, scope }: Form, user: typeof USER): string {
  if (client_secret !== user.client_secret) throw new ServiceError(400, 'Unauthorized');
  if (refresh_token !== user.refresh_token) throw new ServiceError(400, REVOKED);
  if (scope !== READ_ONLY && scope !== CLOUD) throw new ServiceError(400, `ask for ${READ_ONLY} alone`);
  return scope;
}

import { createHash, generateKeyPairSync, randomUUID, verify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { html } from '../../../answers/html/html.js';
import { isLoopback } from '../../../base/config/scalars.js';
import { urlOf } from '../../../base/url.js';
import { jsonOf } from '../../../base/validate.js';
import { ServiceError } from '../../../serve/api/errors.js';

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

/** What somebody may do on the consent page; each but the first is a refusal that Google documents. */
const OUTCOMES: Readonly<Record<string, string>> = {
  allow: 'Allow',
  testing: 'Allow, with an app in "Testing" (ends after 7 days)',
  unticked: 'Allow, without the permission for Search Console',
  access_denied: 'Do not allow',
  admin_policy_enforced: 'A policy of the organisation blocks the client',
  org_internal: 'The app is for another organisation',
  redirect_uri_mismatch: 'The client has the wrong type',
  deleted_client: 'The client was deleted',
};
/** What Google sends back to the program; it shows the others as an error page. */
const SENT_BACK = ['access_denied', 'allow', 'testing', 'unticked'];
const TESTING_S = 604_799;

const askedSchema = z.object({
  client_id: z.string(),
  redirect_uri: z.string().refine((uri) => isLoopback(urlOf(uri)?.hostname ?? ''), 'redirect_uri_mismatch'),
  response_type: z.literal('code'),
  scope: z.string(),
  state: z.string(),
  code_challenge: z.string().regex(/^[\w-]{43}$/),
  code_challenge_method: z.literal('S256'),
  access_type: z.literal('offline'),
  outcome: z.enum(Object.keys(OUTCOMES)).optional(),
});

/** The page where a user allows the access, and the codes that it gives. */
class Consent {
  readonly #codes = new Map<string, { asked: z.infer<typeof askedSchema>; outcome: string }>();

  /** @returns the page, or where the browser goes from it. @throws ZodError for a request that Google refuses */
  answer(query: unknown): { page: string } | { location: string } {
    const asked = askedSchema.parse(query);
    const { outcome, redirect_uri, state, scope } = asked;
    if (outcome === undefined) return { page: consentPage(asked) };
    if (!SENT_BACK.includes(outcome)) return { page: html`<h1>Access blocked</h1><p>Error 400: ${outcome}</p>`.text };
    const code = `4/${randomUUID()}`;
    this.#codes.set(code, { asked, outcome });
    const answer = outcome === 'access_denied' ? { error: outcome } : { code, scope };
    return { location: `${redirect_uri}/?${new URLSearchParams({ ...answer, state })}` };
  }

  /** What a code was given for, once. Undefined for a wrong code, verifier or redirect. */
  redeem({ code = '', code_verifier = '', redirect_uri }: Readonly<Record<string, string>>) {
    const { asked, outcome } = this.#codes.get(code) ?? {};
    this.#codes.delete(code);
    const challenge = createHash('sha256').update(code_verifier).digest('base64url');
    if (!asked || asked.code_challenge !== challenge || asked.redirect_uri !== redirect_uri) return undefined;
    const scope = outcome === 'unticked' ? '' : asked.scope;
    return { scope, ...(outcome === 'testing' ? { refresh_token_expires_in: TESTING_S } : {}) };
  }
}

function consentPage({ outcome: _, ...asked }: z.infer<typeof askedSchema>): string {
  const links = Object.entries(OUTCOMES).map(([outcome, title]) => {
    const query = new URLSearchParams({ ...asked, outcome });
    return html`<li><a href="?${query.toString()}">${title}</a></li>`;
  });
  const head = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>Simulated Google</title>`;
  return html`${head}<main><h1>indexhouse wants to read Search Console</h1><p>${asked.scope}</p><ul>${links}</ul></main></html>`
    .text;
}

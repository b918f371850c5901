import type { gaxios } from 'google-auth-library';
import { z } from 'zod';
import type { HttpAnswer } from '../../base/http/exchange.js';
import { SECOND_MS } from '../../base/time.js';
import { jsonOf } from '../../base/validate.js';
import { type CredentialsFile, type DirectFile, library, SCOPE } from './credentials.js';

/** A sign-in that impersonates a service account asks for a token that opens nothing but this, and then for `SCOPE`. */
const IAM = 'https://www.googleapis.com/auth/iam';
/** gcloud's users granted this, and `iam` not by name. */
const CLOUD_PLATFORM = 'https://www.googleapis.com/auth/cloud-platform';

/** The longest that Google lets an assertion live. */
const ASSERTION_S = 3600;
const tokenSchema = z.looseObject({ access_token: z.string() });

/** One request of a sign-in. */
export interface TokenRequest {
  url: URL;
  method: 'GET' | 'POST' | 'PUT';
  headers: Record<string, string>;
  body: URLSearchParams | string | null;
}
/** Sends a request of a sign-in; throws for every answer but a good one. */
export type Send = (request: TokenRequest) => Promise<HttpAnswer>;

/**
 * Signs in. The library decides what is sent; every request passes `send`, so that redirects, proxies, timeouts, Ctrl-C
 * and secrets are handled as elsewhere, and the library neither logs nor retries.
 *
 * @param now in milliseconds since 1970
 * @returns an access token for `SCOPE` alone; undefined if the answer has none
 */
export async function signIn(file: CredentialsFile, send: Send, now: number): Promise<string | null | undefined> {
  if (file.type === 'metadata_server') return machinesToken(send);
  if (file.type !== 'impersonated_service_account')
    return (await clientOf(file, SCOPE, send, now).getAccessToken()).token;
  const { service_account_impersonation_url: url, source_credentials, delegates } = file;
  const client = new (library().Impersonated)({
    sourceClient: clientOf(source_credentials, IAM, send, now),
    targetPrincipal: /([^/]+):\w+$/.exec(url)?.[1] ?? '',
    targetScopes: [SCOPE],
    delegates,
    endpoint: new URL(url).origin,
  });
  return (await client.getAccessToken()).token;
}

function clientOf(file: DirectFile, scope: string, send: Send, now: number) {
  const { JWT, UserRefreshClient, ExternalAccountClient, ExternalAccountAuthorizedUserClient } = library();
  const transporter = transporterOf(scope, send);
  if (file.type === 'service_account') {
    const { client_email: email, private_key: key, token_uri: aud = 'https://oauth2.googleapis.com/token' } = file;
    const iat = Math.floor(now / SECOND_MS);
    // The library knows one token address only, and one clock.
    const own = transporterOf(scope, (request) =>
      send(request.body instanceof URLSearchParams ? { ...request, url: new URL(aud) } : request),
    );
    return new JWT({
      email,
      key,
      scopes: [scope],
      additionalClaims: { aud, iat, exp: iat + ASSERTION_S },
      transporter: own,
    });
  }
  if (file.type === 'authorized_user') {
    const { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken, token_uri } = file;
    const endpoints = token_uri ? { oauth2TokenUrl: token_uri } : {};
    return new UserRefreshClient({ clientId, clientSecret, refreshToken, transporter, endpoints });
  }
  if (file.type === 'external_account_authorized_user')
    return new ExternalAccountAuthorizedUserClient({ ...file, transporter });
  const client = ExternalAccountClient.fromJSON({ ...file, scopes: [scope], transporter });
  if (client === null) throw new Error('this kind of external account is not known');
  // The library exchanges tokens through a transporter of its own.
  client['stsCredential']['transporter'] = transporter;
  return client;
}

/** Hands the library's requests to `send`, and narrows the scope of those that ask for a wider one or for none. */
export function transporterOf(scope: string, send: Send): gaxios.Gaxios {
  class Transporter extends library().gaxios.Gaxios {
    override async request<T>(options: gaxios.GaxiosOptions): gaxios.GaxiosPromise<T> {
      const { url = '', method, data, responseType } = options;
      const headers = new Headers(options.headers);
      const isForm = data instanceof URLSearchParams;
      if (isForm && data.get('grant_type') === 'refresh_token')
        data.set('scope', scope === IAM ? CLOUD_PLATFORM : scope);
      if (isForm && data.get('scope') === CLOUD_PLATFORM && data.has('subject_token')) data.set('scope', IAM);
      if (data && !headers.has('content-type'))
        headers.set('content-type', isForm ? 'application/x-www-form-urlencoded' : 'application/json');
      const body = isForm ? data : data ? JSON.stringify(data) : null;
      const request = {
        url: new URL(url),
        method: z.enum(['GET', 'POST', 'PUT']).default('GET').parse(method),
        headers: Object.fromEntries(headers),
        body,
      };
      const { status, text } = await send(request);
      const answer = responseType === 'text' ? text : (jsonOf(text ?? '') ?? text);
      const config = { ...options, url: request.url, headers };
      return Object.assign(new Response(null, { status }), { config, data: answer as T });
    }
  }
  return new Transporter();
}

/** The token of the service account that this machine of Google Cloud has. The library would not ask through `send`. */
async function machinesToken(send: Send): Promise<string | undefined> {
  const host = process.env['GCE_METADATA_HOST'] || 'metadata.google.internal';
  const url = new URL(`http://${host}/computeMetadata/v1/instance/service-accounts/default/token?scopes=${SCOPE}`);
  const { text } = await send({ url, method: 'GET', headers: { 'metadata-flavor': 'Google' }, body: null });
  return tokenSchema.safeParse(jsonOf(text ?? '')).data?.access_token;
}

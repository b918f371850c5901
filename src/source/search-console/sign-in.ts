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

const tokenSchema = z.looseObject({ access_token: z.string(), expires_in: z.number().default(0) });

/** One request of a sign-in. */
export interface TokenRequest {
  url: URL;
  method: 'GET' | 'POST' | 'PUT';
  headers: Record<string, string>;
  body: URLSearchParams | string | null;
}
/** Sends a request of a sign-in; throws for every answer but a good one. */
export type Send = (request: TokenRequest) => Promise<HttpAnswer>;

/** What a sign-in gives. */
interface Granted {
  token?: string | null | undefined;
  /** When it ends, in milliseconds since 1970, by this machine's clock. */
  endsAt: number;
}

/**
 * Signs in for `SCOPE` alone. The library decides what is sent; every request passes `send`, so that redirects, proxies,
 * timeouts, Ctrl-C and secrets are handled as elsewhere, and the library neither logs nor retries.
 */
export async function signIn(file: CredentialsFile, send: Send): Promise<Granted> {
  if (file.type === 'metadata_server') return machinesToken(send);
  const client = file.type === 'impersonated_service_account' ? impersonating(file, send) : clientOf(file, SCOPE, send);
  const { token } = await client.getAccessToken();
  return { token, endsAt: client.credentials.expiry_date ?? 0 };
}

type Impersonating = Extract<CredentialsFile, { type: 'impersonated_service_account' }>;

/** As the library makes it of such a file, but for the transporter and the scope of its source. */
function impersonating(
  { service_account_impersonation_url: url, source_credentials, delegates }: Impersonating,
  send: Send,
) {
  return new (library().Impersonated)({
    sourceClient: clientOf(source_credentials, IAM, send),
    targetPrincipal: /([^/]+):\w+$/.exec(url)?.[1] ?? '',
    targetScopes: [SCOPE],
    delegates,
    endpoint: new URL(url).origin,
  });
}

function clientOf(file: DirectFile, scope: string, send: Send) {
  const { BaseExternalAccountClient, GoogleAuth } = library();
  const { token_uri: uri } = file;
  // For a key the library knows one token address only.
  const transporter = transporterOf(scope, (request) =>
    send(uri && request.body instanceof URLSearchParams ? { ...request, url: new URL(uri) } : request),
  );
  const options = { transporter, ...(uri && { additionalClaims: { aud: uri } }) };
  const client = new GoogleAuth({ scopes: [scope] }).fromJSON(file, options);
  // The library exchanges tokens through a transporter of its own.
  if (client instanceof BaseExternalAccountClient) client['stsCredential']['transporter'] = transporter;
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
async function machinesToken(send: Send): Promise<Granted> {
  const host = process.env['GCE_METADATA_HOST'] || 'metadata.google.internal';
  const url = new URL(`http://${host}/computeMetadata/v1/instance/service-accounts/default/token?scopes=${SCOPE}`);
  const { text } = await send({ url, method: 'GET', headers: { 'metadata-flavor': 'Google' }, body: null });
  const { access_token: token, expires_in = 0 } = tokenSchema.safeParse(jsonOf(text ?? '')).data ?? {};
  return { token, endsAt: Date.now() + expires_in * SECOND_MS };
}

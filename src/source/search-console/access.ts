import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { GoogleConfig } from '../../base/config/google.js';
import { webhookUrl } from '../../base/config/scalars.js';
import { type Effects, realEffects } from '../../base/effects.js';
import type { HttpAnswer } from '../../base/http/exchange.js';
import { moment } from '../../base/observe/format.js';
import { masker } from '../../base/observe/masker.js';
import { codeOf } from '../../base/storage/durable.js';
import { SECOND_MS } from '../../base/time.js';
import { issuesOf, jsonOf } from '../../base/validate.js';
import type { ClientOptions } from '../client.js';
import { SourceError } from '../errors.js';
import { excerpt, MOST_WORDS } from '../failures.js';
import { Transport } from '../transport.js';

const SCOPE = 'https://www.googleapis.com/auth/webmasters.readonly';
/** Signs a user in; the token of gcloud's own login does not open this interface. */
export const GCLOUD_LOGIN = `gcloud auth application-default login --scopes=${SCOPE},https://www.googleapis.com/auth/cloud-platform`;
const OTHERWISE = `run \`${GCLOUD_LOGIN}\`, or set google.credentials to the key file of a service account`;
/** The longest that Google lets an assertion live. */
const ASSERTION_S = 3600;
/** A token is renewed this long before its end. */
const EARLY_S = 60;
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** What is longer fits in no header, and would be searched for in every answer. */
const MOST_CHARACTERS = 16_384;

const filled = z.string().min(1).max(MOST_CHARACTERS);
const common = {
  token_uri: z
    .string()
    .refine((uri) => webhookUrl().safeParse(uri).success, 'is not an https address')
    .default('https://oauth2.googleapis.com/token'),
  quota_project_id: z.string().optional(),
};
const privateKey = z.string().refine(signs, 'does not sign, because it is no whole RSA key in PEM form');
const serviceAccount = { client_email: filled, private_key: privateKey, private_key_id: z.string().optional() };
const user = { client_id: filled, client_secret: filled, refresh_token: filled };
/** Who asks Search Console, as a file says it. */
const fileSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('service_account'), ...serviceAccount, ...common }),
  z.object({ type: z.literal('authorized_user'), ...user, ...common }),
]);
const tokenSchema = z.looseObject({ access_token: filled, expires_in: z.number().positive() });
const refusalSchema = z.looseObject({ error: z.string(), error_description: z.string().default('') });

export interface GoogleClientOptions
  extends Pick<ClientOptions, 'timeout' | 'maxAttempts' | 'signal' | 'effects' | 'onNotice' | 'onAnswer'> {
  google: GoogleConfig;
}

/** One account's access: signs in when a token is first needed, and again before its end or when it is refused. */
export class Access {
  /** The credentials file: the configured one, else that of GOOGLE_APPLICATION_CREDENTIALS, else gcloud's. */
  readonly path: string;
  readonly file: z.infer<typeof fileSchema>;
  /** For messages: the account's e-mail address, or `your account`. */
  readonly account: string;
  readonly #transport: Transport;
  readonly #effects: Effects;
  /** What the newest two sign-ins sent, and the newest two tokens: answers to older ones have long come. */
  #sent: string[][] = [];
  #tokens: string[] = [];
  #held = { token: '', until: 0 };
  #pending: Promise<string> | null = null;
  /** Masks what was lately sent to sign in or received. */
  redact = (text: string): string => text;

  /** @throws SourceError `unauthorized`, with the file, what is wrong and the remedy */
  constructor({ google, timeout, effects = realEffects, signal }: GoogleClientOptions) {
    this.path = google.credentials || process.env['GOOGLE_APPLICATION_CREDENTIALS'] || gcloudsFile();
    this.file = readCredentials(this.path);
    this.account = this.file.type === 'service_account' ? this.file.client_email : 'your account';
    const places = { baseUrl: `token_uri in ${this.path}`, token: this.path };
    this.#transport = new Transport({ baseUrl: this.file.token_uri, places, timeout, connections: 1 });
    this.#effects = effects;
    signal?.addEventListener('abort', () => this.#transport.abort(), { once: true });
  }

  /**
   * Those who ask at the same time share one sign-in.
   *
   * @param refused a token that was answered with a 401, and is not handed out again
   * @throws SourceError `unauthorized` with the remedy; another if signing in may work later
   */
  token(refused?: string): Promise<string> {
    const { token, until } = this.#held;
    if (token !== refused && this.#effects.now() < until) return Promise.resolve(token);
    this.#pending ??= this.#signIn().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #signIn(): Promise<string> {
    const now = this.#effects.now();
    const { open, secrets } = this.#request(Math.floor(now / SECOND_MS));
    this.#sent = [Object.values(secrets), ...this.#sent].slice(0, 2);
    this.#hide();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ ...open, ...secrets }).toString();
    const answer = await this.#transport.send({ method: 'POST', path: '', headers, body });
    const { data } = tokenSchema.safeParse(jsonOf(answer.text ?? ''));
    if (answer.status !== 200 || !data) throw this.#refusal(answer, now);
    const { access_token: token, expires_in } = data;
    this.#tokens = [token, ...this.#tokens].slice(0, 2);
    this.#hide();
    this.#held = { token, until: now + Math.max(expires_in - EARLY_S, expires_in / 2) * SECOND_MS };
    return token;
  }

  #hide(): void {
    this.redact = masker([...this.#sent.flat(), ...this.#tokens]);
  }

  /** The form to sign in with. @param now in seconds since 1970 */
  #request(now: number): Record<'open' | 'secrets', Record<string, string>> {
    if (this.file.type === 'authorized_user') {
      const { client_id, client_secret, refresh_token } = this.file;
      // The user may have granted more, which a stolen token must not open.
      const open = { grant_type: 'refresh_token', scope: SCOPE };
      return { open, secrets: { client_id, client_secret, refresh_token } };
    }
    const { private_key_id: kid, private_key, client_email: iss, token_uri: aud } = this.file;
    const parts = [
      { alg: 'RS256', typ: 'JWT', kid },
      { iss, scope: SCOPE, aud, iat: now, exp: now + ASSERTION_S },
    ];
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const signature = sign('sha256', Buffer.from(signed), private_key).toString('base64url');
    return { open: { grant_type: JWT_BEARER }, secrets: { assertion: `${signed}.${signature}` } };
  }

  #refusal({ status, text, headers }: HttpAnswer, now: number): SourceError {
    const { data } = refusalSchema.safeParse(jsonOf(text ?? ''));
    const words = this.redact(data ? `${data.error}: ${data.error_description}` : (text ?? ''));
    const said =
      status === 200 ? `without a token of at most ${MOST_CHARACTERS} characters` : excerpt(words, data && MOST_WORDS);
    const what = `signing in with ${this.path} failed, ${new URL(this.file.token_uri).origin} answered ${status} (${said})`;
    if (status === 429 || status >= 500) return new SourceError('server', `${what}; try again later`, { status });
    const clocks = `${moment(new Date(now).toISOString())}${headers.date ? ` and Google's ${headers.date}` : ''}`;
    const isRefused = status === 400 || status === 401;
    const remedy = isRefused ? this.#remedy(words, clocks) : `check token_uri in ${this.path}`;
    return new SourceError('unauthorized', `${what}; ${remedy}`, { status });
  }

  /** What to do about a refusal, by Google's own words for it. */
  #remedy(words: string, clocks: string): string {
    const { account, file } = this;
    if (/timeframe|short-lived/i.test(words)) return `set this machine's clock: it shows ${clocks}`;
    if (file.type === 'authorized_user')
      return `the sign-in ended, or its client is gone: run \`${GCLOUD_LOGIN}\` again`;
    if (/account not found/i.test(words)) return `${account} was deleted: ${OTHERWISE}`;
    return `the key of ${account} was deleted or changed: make another one with \`gcloud iam service-accounts keys create key.json --iam-account=${account}\``;
  }
}

function gcloudsFile(): string {
  const { CLOUDSDK_CONFIG: own, APPDATA: windows } = process.env;
  const folder = own || (windows ? join(windows, 'gcloud') : join(homedir(), '.config', 'gcloud'));
  return join(folder, 'application_default_credentials.json');
}

function readCredentials(path: string): z.infer<typeof fileSchema> {
  if (/\{|PRIVATE KEY|AIza/.test(path)) {
    throw new SourceError(
      'unauthorized',
      'google.credentials holds a key itself: write it to a file, and the path of the file here',
    );
  }
  const json = jsonOf(textOf(path));
  const { data, error } = fileSchema.safeParse(json);
  if (data) return data;
  const issues =
    json === null ? ['it is not JSON'] : issuesOf(error).map(({ path: field, message }) => `${field}: ${message}`);
  const what = `is not the whole JSON file of a service account or of a user (${issues.join(', ')})`;
  throw new SourceError('unauthorized', `${path} ${what}; ${OTHERWISE}`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const what = codeOf(error) === 'ENOENT' ? 'there is no such file' : `it cannot be read (${codeOf(error)})`;
    throw new SourceError('unauthorized', `no credentials for Search Console in ${path}: ${what}; ${OTHERWISE}`);
  }
}

function signs(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

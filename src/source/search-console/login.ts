import { randomBytes } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { webhookUrl } from '../../base/config/scalars.js';
import { Failure, messageOf, Stopped, UsageError } from '../../base/exit.js';
import { shellWord } from '../../base/observe/format.js';
import { codeOf, ifThere, makeFolder, readIfThere, writeDurably } from '../../base/storage/durable.js';
import { whyNotFile } from '../../base/storage/only-files.js';
import { SECOND_MS } from '../../base/time.js';
import { jsonOf } from '../../base/validate.js';
import { SourceError } from '../errors.js';
import { library, loginFile, SCOPE } from './credentials.js';
import { CREATE, REFUSALS } from './remedy.js';
import type { SecretExchange } from './secret-exchange.js';
import { type Send, transporterOf } from './sign-in.js';

const GOOGLES_TOKEN_URI = 'https://oauth2.googleapis.com/token';
const secure = webhookUrl();
const clientSchema = z.object({
  installed: z.object({
    client_id: z.string().min(1),
    client_secret: z.string().min(1),
    auth_uri: secure.default('https://accounts.google.com/o/oauth2/v2/auth'),
    token_uri: secure.default(GOOGLES_TOKEN_URI),
  }),
});
export type OAuthClient = z.infer<typeof clientSchema>['installed'];
const answerSchema = z.object({
  access_token: z.string(),
  refresh_token: z.string().optional(),
  scope: z.string().default(''),
  refresh_token_expires_in: z.number().optional(),
});

const storedSchema = z.object({ refresh_token: z.string(), token_uri: z.string().default(GOOGLES_TOKEN_URI) });

/** Reads the file of an OAuth client. @throws UsageError */
export async function readClient(path: string): Promise<OAuthClient> {
  const strange = whyNotFile(path);
  if (strange) throw new UsageError(`${path} ${strange}; name the JSON file of your OAuth client`);
  const text = await ifThere(readFile(path, 'utf8'), null).catch((cause) => {
    throw new UsageError(`${path} cannot be read (${codeOf(cause)}); let this user read it, or name another file`, {
      cause,
    });
  });
  const json = jsonOf((text ?? '').replace(/^\uFEFF/, ''));
  const { data } = clientSchema.safeParse(json);
  if (data) return data.installed;
  const isOf = (key: string) => typeof json === 'object' && json !== null && key in json;
  if (isOf('type'))
    throw new UsageError(`${path} is a credentials file, no OAuth client: set google.credentials to it`);
  const other = isOf('web') ? 'is an OAuth client for a web application' : 'is not the JSON file of an OAuth client';
  throw new UsageError(`${path} ${text === null ? 'does not exist' : other}; ${CREATE}`);
}

/** The file where a sign-in will be stored; makes its folder, and tries to write there. @throws UsageError */
export async function placeOfLogin(account: string | undefined): Promise<string> {
  const path = loginFile(account);
  const folder = dirname(path);
  const refuse = (why: string, remedy: string) =>
    new UsageError(`cannot store a sign-in in ${path}: ${why}; ${remedy}`);
  try {
    await makeFolder(folder);
    // A link in its place must not be followed.
    await rm(`${path}.tmp`, { force: true });
    await writeFile(`${path}.tmp`, '', { flag: 'wx', mode: 0o600 });
    await rm(`${path}.tmp`);
  } catch (cause) {
    throw refuse(messageOf(cause), `let this user write in ${folder}, or set XDG_CONFIG_HOME to another folder`);
  }
  const strange = whyNotFile(path);
  if (strange) throw refuse(`it ${strange}`, 'move it away');
  if (process.getuid && (await stat(folder)).mode & 0o002)
    throw refuse('others may write in its folder', `run \`chmod o-w ${shellWord(folder)}\``);
  return path;
}

/** The address where a user allows the access, and what proves that the answer is for us. */
export async function authorizationFor({ client_id, auth_uri }: OAuthClient, redirectUri: string) {
  const { OAuth2Client, CodeChallengeMethod } = library();
  const asking = new OAuth2Client({ clientId: client_id, redirectUri, endpoints: { oauth2AuthBaseUrl: auth_uri } });
  const { codeVerifier, codeChallenge = '' } = await asking.generateCodeVerifierAsync();
  const state = randomBytes(24).toString('base64url');
  const challenge = { code_challenge: codeChallenge, code_challenge_method: CodeChallengeMethod.S256 };
  // Without `consent` Google gives a refresh token the first time only.
  const url = asking.generateAuthUrl({ ...challenge, scope: SCOPE, state, access_type: 'offline', prompt: 'consent' });
  return { url, state, codeVerifier };
}

/** Why Google did not allow the access, with the remedy. */
export function refusalOf(code: string): SourceError {
  return new SourceError(
    'unauthorized',
    `Google answered ${code.slice(0, 40)}: ${REFUSALS[code] ?? 'run `indexhouse login` again'}`,
  );
}

interface Granted {
  client: OAuthClient;
  code: string;
  codeVerifier: string;
  redirectUri: string;
  exchange: SecretExchange;
  /** Where it is stored: `placeOfLogin`. */
  path: string;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * Exchanges a code for a sign-in, and stores that for its owner only.
 *
 * @returns when Google ends it, if it says so
 * @throws SourceError
 */
export async function storeLogin({ client, code, codeVerifier, redirectUri, exchange, path, now }: Granted) {
  const { client_id, client_secret, token_uri } = client;
  const {
    access_token,
    refresh_token,
    scope,
    refresh_token_expires_in: lasts,
  } = await exchange.run([client_secret, code, codeVerifier], async (send) => {
    const options = {
      clientId: client_id,
      clientSecret: client_secret,
      redirectUri,
      transporter: transporterOf(SCOPE, send),
    };
    const asking = new (library().OAuth2Client)({ ...options, endpoints: { oauth2TokenUrl: token_uri } });
    return answerSchema.parse((await asking.getToken({ code, codeVerifier })).tokens);
  });
  const what = !scope.split(' ').includes(SCOPE)
    ? 'the access to Search Console was not ticked'
    : refresh_token
      ? ''
      : 'Google gave no refresh token';
  if (what || !access_token)
    throw new SourceError('unauthorized', `${what}: run \`indexhouse login\` again, and allow what it asks for`);
  const ends_at = lasts === undefined ? {} : { ends_at: new Date(now + lasts * SECOND_MS).toISOString() };
  const file = { type: 'authorized_user', client_id, client_secret, refresh_token, token_uri, ...ends_at };
  await writeDurably(path, `${JSON.stringify(file, null, 2)}\n`, 0o600);
  return { endsAt: ends_at.ends_at ?? null };
}

/**
 * Revokes the stored sign-in at Google, and deletes its file; but if Google cannot be asked now, that stays.
 *
 * @returns the file, and why it may not be revoked; null if there is none
 * @throws SourceError if Google cannot be asked; Failure if the file cannot be deleted
 */
export async function removeLogin(
  exchange: SecretExchange,
  account?: string,
): Promise<{ path: string; problem: string | null } | null> {
  const path = loginFile(account);
  const text = await readIfThere(path);
  if (text === null) return null;
  const { data } = storedSchema.safeParse(jsonOf(text));
  const failure = await exchange
    .run([data?.refresh_token ?? ''], async (send) => revoke(data, send))
    .then(
      () => null,
      (error: Error) => error,
    );
  if (failure instanceof Stopped) throw failure;
  if (failure instanceof SourceError && failure.kind !== 'unauthorized')
    throw new SourceError(failure.kind, `the sign-in stays, because Google did not revoke it: ${failure.message}`);
  await rm(path).catch((cause) => {
    const done = failure ? `Google did not revoke it (${failure.message})` : 'Google revoked the sign-in';
    throw new Failure(`${done}, but ${path} cannot be deleted: delete it yourself`, { cause });
  });
  return { path, problem: failure?.message ?? null };
}

function revoke(stored: z.infer<typeof storedSchema> | undefined, send: Send) {
  if (!stored) throw new Error('the file was damaged; remove the access at https://myaccount.google.com/connections');
  const url = new URL(stored.token_uri.replace(/token$/, 'revoke'));
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return send({ url, method: 'POST', headers, body: new URLSearchParams({ token: stored.refresh_token }) });
}

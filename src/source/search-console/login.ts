import { access, constants, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { webhookUrl } from '../../base/config/scalars.js';
import { realEffects } from '../../base/effects.js';
import { Failure, messageOf, UsageError } from '../../base/exit.js';
import { shellWord } from '../../base/observe/format.js';
import { codeOf, makeFolder, readIfThere, writeDurably } from '../../base/storage/durable.js';
import { MINUTE_MS, SECOND_MS } from '../../base/time.js';
import { jsonOf } from '../../base/validate.js';
import { SourceError } from '../errors.js';
import { library, loginFile, SCOPE } from './credentials.js';
import { CREATE, REFUSALS } from './refusals.js';
import { type ExchangeOptions, SecretExchange } from './secret-exchange.js';
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
  refresh_token: z.string().optional(),
  scope: z.string().default(''),
  refresh_token_expires_in: z.number().optional(),
});

const CONNECTIONS = 'remove the access at https://myaccount.google.com/connections';
const storedSchema = z.object({ refresh_token: z.string(), token_uri: z.string().default(GOOGLES_TOKEN_URI) });

/** Reads the file of an OAuth client. @throws UsageError */
export async function readClient(path: string): Promise<OAuthClient> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    throw new UsageError(`${path} cannot be read (${codeOf(cause)}); name the JSON file of your OAuth client`, {
      cause,
    });
  });
  const { data } = clientSchema.safeParse(jsonOf(text.replace(/^\uFEFF/, '')));
  if (data) return data.installed;
  throw new UsageError(
    `${path} is not the JSON file of an OAuth client for the desktop (a credentials file goes into google.credentials); ${CREATE}`,
  );
}

/** The file where a sign-in will be stored; makes its folder. @throws UsageError if that cannot be written, or others may */
export async function placeOfLogin(account: string | undefined): Promise<string> {
  const path = loginFile(account);
  const folder = dirname(path);
  const refuse = (why: string, remedy: string) =>
    new UsageError(`cannot store a sign-in in ${path}: ${why}; ${remedy}`);
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw refuse(messageOf(cause), `let this user write in ${folder}, or set XDG_CONFIG_HOME to another folder`);
  }
  if (process.getuid && (await stat(folder)).mode & 0o002)
    throw refuse('others may write in its folder', `run \`chmod o-w ${shellWord(folder)}\``);
  return path;
}

/** The address where a user allows the access, and what proves that we asked. */
export async function authorizationFor({ client_id, auth_uri }: OAuthClient, redirectUri: string, state: string) {
  const { OAuth2Client, CodeChallengeMethod } = library();
  const asking = new OAuth2Client({ clientId: client_id, redirectUri, endpoints: { oauth2AuthBaseUrl: auth_uri } });
  const { codeVerifier, codeChallenge = '' } = await asking.generateCodeVerifierAsync();
  const challenge = { code_challenge: codeChallenge, code_challenge_method: CodeChallengeMethod.S256 };
  // Without `consent` Google gives a refresh token the first time only.
  const url = asking.generateAuthUrl({ ...challenge, scope: SCOPE, state, access_type: 'offline', prompt: 'consent' });
  return { url, codeVerifier };
}

/** Why Google did not allow the access, with the remedy. */
export function refusalOf(code: string): SourceError {
  return new SourceError('unauthorized', `Google answered ${code.slice(0, 40)}: ${remedyOf(code)}`);
}

function remedyOf(words: string): string {
  return REFUSALS[/^\w+/.exec(words)?.[0] ?? ''] ?? 'run `indexhouse login` again';
}

/** Sends requests with these secrets. @throws SourceError; `Stopped` */
async function exchange<T>(
  options: Pick<ExchangeOptions, 'path' | 'signal' | 'remedyFor'>,
  secrets: string[],
  work: (send: Send) => Promise<T>,
): Promise<T> {
  const own = new SecretExchange({ ...options, timeout: MINUTE_MS, effects: realEffects });
  try {
    return await own.run(secrets, work);
  } finally {
    await own.close();
  }
}

interface Granted {
  client: OAuthClient;
  /** The file of the client, for messages. */
  clientFile: string;
  code: string;
  codeVerifier: string;
  redirectUri: string;
  /** Where it is stored: `placeOfLogin`. */
  path: string;
  signal: AbortSignal;
}

/**
 * Exchanges a code for a sign-in, and stores that for its owner only.
 *
 * @returns when Google ends it, if it says so
 * @throws SourceError
 */
export async function storeLogin({ client, clientFile, code, codeVerifier, redirectUri, path, signal }: Granted) {
  const { client_id, client_secret, token_uri } = client;
  const options = { path: clientFile, signal, remedyFor: remedyOf };
  const tokens = await exchange(options, [client_secret, code, codeVerifier], async (send) => {
    const own = { clientId: client_id, clientSecret: client_secret, redirectUri };
    const reached = { transporter: transporterOf(SCOPE, send), endpoints: { oauth2TokenUrl: token_uri } };
    const asking = new (library().OAuth2Client)({ ...own, ...reached });
    return answerSchema.parse((await asking.getToken({ code, codeVerifier })).tokens);
  });
  const { refresh_token, scope, refresh_token_expires_in: lasts } = tokens;
  const isGranted = scope.split(' ').includes(SCOPE);
  if (!isGranted || !refresh_token) {
    const what = isGranted ? 'Google gave no refresh token' : 'the access to Search Console was not ticked';
    throw new SourceError('unauthorized', `${what}: run \`indexhouse login\` again, and allow what it asks for`);
  }
  const ends_at = lasts === undefined ? {} : { ends_at: new Date(Date.now() + lasts * SECOND_MS).toISOString() };
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
  signal: AbortSignal,
  account?: string,
): Promise<{ path: string; problem: string | null } | null> {
  const path = loginFile(account);
  const text = await readIfThere(path);
  if (text === null) return null;
  const { data } = storedSchema.safeParse(jsonOf(text));
  const why = data ? await revoke(data, signal) : `${path} was damaged; ${CONNECTIONS}`;
  const problem = why && `Google did not revoke it: ${why}`;
  await rm(path).catch((cause) => {
    const done = problem ?? 'Google revoked the sign-in';
    throw new Failure(`${done}, but ${path} cannot be deleted: delete it yourself`, { cause });
  });
  return { path, problem };
}

/** @returns why Google refuses to; null if it did */
async function revoke({ refresh_token: token, token_uri }: z.infer<typeof storedSchema>, signal: AbortSignal) {
  const url = new URL(token_uri.replace(/token$/, 'revoke'));
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const options = { path: 'the stored sign-in', signal, remedyFor: () => CONNECTIONS };
  try {
    await exchange(options, [token], (send) =>
      send({ url, method: 'POST', headers, body: new URLSearchParams({ token }) }),
    );
    return null;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    if (error.kind === 'unauthorized') return error.message;
    throw new SourceError(error.kind, `the sign-in stays, because Google did not revoke it: ${error.message}`);
  }
}

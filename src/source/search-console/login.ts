import { existsSync } from 'node:fs';
import { access, constants, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { webhookUrl } from '../../base/config/scalars.js';
import { messageOf, UsageError } from '../../base/exit.js';
import { makeFolder, readIfThere, readNamed, writeDurably } from '../../base/storage/durable.js';
import { MINUTE_MS, realEffects, SECOND_MS } from '../../base/time.js';
import { jsonOf } from '../../base/validate.js';
import { SourceError } from '../errors.js';
import { library, loginFile, SCOPE, whyOpen } from './credentials.js';
import { LOGIN_AGAIN } from './remedy.js';
import { SecretExchange } from './secret-exchange.js';
import { transporterOf } from './sign-in.js';

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
/** Ten years: longer than any sign-in lasts, in seconds. */
const LONGEST_S = 315_360_000;
const answerSchema = z.object({
  refresh_token: z.string(),
  scope: z.string().default(''),
  refresh_token_expires_in: z.number().positive().max(LONGEST_S).optional().catch(undefined),
});
/** How to get an OAuth client that can sign in. */
const CREATE = 'create one of the type "Desktop app" (docs/search-console.md, "Set up") and download its JSON file';
const CONNECTIONS = 'remove the access at https://myaccount.google.com/connections';
const COMMON = { timeout: MINUTE_MS, effects: realEffects };
const storedSchema = z.object({ refresh_token: z.string(), token_uri: z.string().default(GOOGLES_TOKEN_URI) });

/** Reads the file of an OAuth client. @throws UsageError */
export function readClient(path: string): OAuthClient {
  const refuse = (why: string) => new UsageError(`${path} ${why}; ${CREATE}`);
  try {
    const { data } = clientSchema.safeParse(jsonOf(readNamed(path).replace(/^\uFEFF/, '')));
    if (data) return data.installed;
  } catch (cause) {
    throw refuse(messageOf(cause));
  }
  throw refuse(
    'is not the JSON file of an OAuth client for the desktop (a credentials file goes into google.credentials)',
  );
}

/** The file where a sign-in will be stored; makes its folder. @throws UsageError if that cannot be written, or others may */
export async function placeOfLogin(account: string | undefined): Promise<string> {
  const path = loginFile(account);
  const folder = dirname(path);
  const refuse = (why: string) => new UsageError(`cannot store a sign-in in ${path}: ${why}`);
  try {
    await makeFolder(folder, 0o700);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw refuse(`${messageOf(cause)}; let this user write in ${folder}, or set XDG_CONFIG_HOME to another folder`);
  }
  const open = whyOpen(folder);
  if (open) throw refuse(open);
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

/** That Google did not allow the access, with the remedy. */
export function refusalOf(code: string): SourceError {
  return new SourceError('unauthorized', `Google answered ${code.slice(0, 40)}; ${LOGIN_AGAIN}`);
}

type GrantedText = 'clientFile' | 'code' | 'codeVerifier' | 'redirectUri' | 'path';

/**
 * Exchanges a code for a sign-in, and stores that for its owner only.
 *
 * @param granted `clientFile`: for messages; `path`: where it is stored, as `placeOfLogin` has it
 * @returns when Google ends it, if it says so
 * @throws SourceError
 */
export async function storeLogin(
  { client_id, client_secret, token_uri }: OAuthClient,
  { signal, ...granted }: Record<GrantedText, string> & { signal: AbortSignal },
) {
  const { clientFile, code, codeVerifier, redirectUri, path } = granted;
  const exchange = new SecretExchange({ ...COMMON, path: clientFile, signal, remedy: LOGIN_AGAIN });
  const tokens = await exchange.run([client_secret, code, codeVerifier], async (send) => {
    const own = { clientId: client_id, clientSecret: client_secret, redirectUri };
    const reached = { transporter: transporterOf(SCOPE, send), endpoints: { oauth2TokenUrl: token_uri } };
    const asking = new (library().OAuth2Client)({ ...own, ...reached });
    return answerSchema.safeParse((await asking.getToken({ code, codeVerifier })).tokens).data;
  });
  const isGranted = tokens?.scope.split(' ').includes(SCOPE);
  if (!tokens || !isGranted) {
    const what = tokens ? 'the access to Search Console was not ticked' : 'Google gave no refresh token';
    throw new SourceError('unauthorized', `${what}; ${LOGIN_AGAIN}`);
  }
  const { refresh_token, refresh_token_expires_in: lasts } = tokens;
  const ends_at = lasts === undefined ? {} : { ends_at: new Date(Date.now() + lasts * SECOND_MS).toISOString() };
  const file = { type: 'authorized_user', client_id, client_secret, refresh_token, token_uri, ...ends_at };
  await writeDurably(path, `${JSON.stringify(file, null, 2)}\n`, 0o600);
  return { endsAt: ends_at.ends_at ?? null };
}

/**
 * Revokes the stored sign-in at Google, and deletes its file; but if Google cannot be asked now, that stays.
 *
 * @returns the file, and why it may not be revoked; null if there is none
 * @throws SourceError if Google cannot be asked
 */
export async function removeLogin(signal: AbortSignal, account?: string) {
  const path = loginFile(account);
  // A user without a home has no such folder.
  const text = existsSync(path) ? await readIfThere(path) : null;
  if (text === null) return null;
  const { data } = storedSchema.safeParse(jsonOf(text));
  const why = data ? await revoke(data, signal) : `${path} was damaged; ${CONNECTIONS}`;
  await rm(path);
  return { path, problem: why && `Google did not revoke it: ${why}` };
}

/** @returns why Google refuses to; null if it is revoked */
async function revoke({ refresh_token: token, token_uri }: z.infer<typeof storedSchema>, signal: AbortSignal) {
  const url = new URL(token_uri.replace(/token$/, 'revoke'));
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const exchange = new SecretExchange({ ...COMMON, path: 'the stored sign-in', signal, remedy: CONNECTIONS });
  try {
    await exchange.run([token], (send) => send({ url, method: 'POST', headers, body: new URLSearchParams({ token }) }));
    return null;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    // Google or the user had ended it before.
    if (error.status === 400 && /invalid_token|expired or revoked/.test(error.message)) return null;
    if (error.kind === 'unauthorized') return error.message;
    throw new SourceError(error.kind, `the sign-in stays, because Google did not revoke it: ${error.message}`);
  }
}

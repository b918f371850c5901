import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { GoogleConfig } from '../../../base/config/google.js';
import { configFile } from '../../../base/config/load.js';
import { Failure, messageOf, Stopped, UsageError } from '../../../base/exit.js';
import { moment, shellWord } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { MINUTE_MS } from '../../../base/time.js';
import { urlOf } from '../../../base/url.js';
import { readableSites } from '../../../source/search-console/account.js';
import {
  authorizationFor,
  type OAuthClient,
  placeOfLogin,
  readClient,
  refusalOf,
  removeLogin,
  storeLogin,
} from '../../../source/search-console/login.js';
import { countedProperties } from '../../../source/search-console/property.js';
import { googleSettings } from '../configured.js';
import { EXIT, type Globals, type Io, stoppable } from '../io.js';
import { formatJson } from '../output/output.js';

/** How long somebody may take to sign in. */
const PATIENCE_MS = 10 * MINUTE_MS;

export interface Flags extends Globals {
  client?: string;
  account?: string;
  browser: boolean;
}

/** `indexhouse login`: signs a user in with an OAuth client of their own, and says what the account can read. */
export function run(flags: Flags, io: Io): Promise<number> {
  return stoppable(io, async (signal) => {
    const google = await googleSettings(flags, io);
    const path = flags.client;
    if (!path)
      throw new UsageError(
        'name the JSON file of your OAuth client: --client client_secret.json (docs/search-console.md, "Set up")',
      );
    const client = readClient(path);
    const file = await placeOfLogin(flags.account);
    const { endsAt } = await signedIn(client, { path, file, browser: flags.browser }, io, signal);
    let problem = firstOf(google, flags);
    const sites = await readableSites({ google: { ...google, credentials: file }, signal }).catch((error) => {
      if (error instanceof Stopped) throw error;
      problem = `What it can read is unknown: ${messageOf(error)}`;
      return [];
    });
    const next = nextStep(flags, io);
    const properties = sites.map(({ siteUrl, permissionLevel }) => ({ id: siteUrl, permission: permissionLevel }));
    const until = endsAt
      ? `ends ${moment(endsAt)}, because the app is in "Testing": publish it and sign in again`
      : 'lasts until you revoke it';
    if (properties.length === 0) problem ||= 'It can read no property: sign in with the Google account that can';
    const found = properties.map(({ id, permission }) => `  ${id}  ${permission}\n`).join('');
    const heading = found && `It can read ${countedProperties(properties.length)}:\n`;
    const warning = problem && `! ${safe(problem)}.\n`;
    const text = `Signed in. ${file} holds the sign-in, which ${until}.\n\n${heading}${found}${warning}\nNext: ${next}\n`;
    const answer = { file, ends_at: endsAt, properties, problem: problem || null, next };
    io.stdout.write(flags.json ? formatJson(answer) : text);
    return problem ? EXIT.warnings : EXIT.done;
  });
}

/** That other credentials are used before this sign-in, if there are some. */
function firstOf({ credentials }: GoogleConfig, { account }: Flags): string {
  const variable = account === undefined && process.env['GOOGLE_APPLICATION_CREDENTIALS'];
  const other = credentials ? 'google.credentials' : variable ? 'GOOGLE_APPLICATION_CREDENTIALS' : '';
  return other && `${other} is set and comes first: unset it to use this sign-in`;
}

/** @param at `path`: of the client; `file`: where the sign-in is stored */
async function signedIn(
  client: OAuthClient,
  { path, file, browser }: { path: string; file: string; browser: boolean },
  io: Io,
  signal: AbortSignal,
) {
  const listening = await listenForAnswer();
  const over = new AbortController();
  try {
    const { redirectUri, state } = listening;
    const { url, codeVerifier } = await authorizationFor(client, redirectUri, state);
    const isOpen = browser && openBrowser(url, io);
    const hint = isOpen ? 'If no browser opens, open' : 'Open';
    io.stderr.write(`${hint} this address, and allow the access:\n\n  ${url}\n\n${PASTE}\n`);
    // A browser that opened may be on another screen, so what is pasted always counts.
    const typed = pastedAnswer(io.stdin, state, { over: over.signal, onStrange: () => void io.stderr.write(STRANGE) });
    const pasted = typed.then(
      (found) => found ?? (isOpen ? listening.answer : Promise.reject(new Failure(NOT_PASTED))),
    );
    const answer = await Promise.race([listening.answer, ended(signal), pasted]);
    const code = answer.get('code');
    if (!code) throw refusalOf(answer.get('error') ?? 'access_denied');
    return await storeLogin(client, { clientFile: path, code, codeVerifier, redirectUri, path: file, signal });
  } finally {
    over.abort();
    listening.close();
  }
}

const PASTE = `On another machine the browser then shows an address that it cannot open (http://127.0.0.1…).
Paste that address here, or the name of the error that Google shows:`;
const STRANGE = 'That is not the answer to this sign-in: paste the whole address.\n';
const NOT_PASTED = 'no answer was pasted; run `indexhouse login --no-browser` again, and paste the whole address';
const HELP = 'If Google shows an error page: docs/search-console.md, "What Google may refuse", has the fix';

/** Rejects at Ctrl-C, and when nobody answers for long. */
async function ended(signal: AbortSignal): Promise<never> {
  await once(AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]), 'abort');
  throw signal.aborted
    ? new Stopped(`stopped before anybody signed in. ${HELP}`)
    : new Failure(`nobody answered within 10 minutes. ${HELP}`);
}

const OPENERS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'open',
  win32: 'rundll32 url.dll,FileProtocolHandler',
};

/** @returns whether there is a browser to open */
function openBrowser(url: string, { env }: Io): boolean {
  const { BROWSER: own, DISPLAY: x11, WAYLAND_DISPLAY: wayland } = env;
  if (process.platform === 'linux' && !own && !x11 && !wayland) return false;
  const [command = '', ...words] = own ? [own] : (OPENERS[process.platform] ?? 'xdg-open').split(' ');
  const browser = spawn(command, [...words, url], { stdio: 'ignore', detached: true });
  browser.on('error', () => {}).unref();
  return true;
}

function nextStep({ config }: Flags, { env, cwd, program }: Io): string {
  const isConfigured = existsSync(configFile({ file: config, env, cwd }));
  const flag = config === undefined ? '' : ` --config ${shellWord(config)}`;
  return `${program} ${isConfigured ? 'doctor' : 'init --source google'}${flag}`;
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};
const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>indexhouse</title><main><h1>indexhouse</h1><p>${text}</p></main></html>`;
const DONE = page('Google answered. You can close this window: the terminal says how it went.');
const NOT_OURS = page('This is not the answer that indexhouse waits for.');

/** Waits for Google's answer on a free port of 127.0.0.1. */
async function listenForAnswer() {
  // Any website could send a browser here: only Google learns the state.
  const state = randomBytes(24).toString('base64url');
  const server = createServer();
  const answer = new Promise<URLSearchParams>((resolve) => {
    server.on('request', ({ method, url = '' }, response) => {
      const asked = urlOf(url, 'http://127.0.0.1')?.searchParams;
      const isOurs = method === 'GET' && asked?.get('state') === state;
      response.writeHead(isOurs ? 200 : 400, HEADERS).end(isOurs ? DONE : NOT_OURS);
      if (isOurs) resolve(asked);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { redirectUri: `http://127.0.0.1:${port}`, state, answer, close };
}

/**
 * The address that a user pastes, or the name of the error that Google shows instead; null at the end of the input.
 *
 * @param waiting `over` ends the wait; `onStrange` is called for each line that is neither
 */
async function pastedAnswer(
  input: Readable,
  state: string,
  { over, onStrange }: { over: AbortSignal; onStrange: () => void },
): Promise<URLSearchParams | null> {
  const lines = createInterface({ input, signal: over });
  try {
    for await (const line of lines) {
      const answer = urlOf(line.trim())?.searchParams;
      if (answer?.get('state') === state) return answer;
      const error = /[a-z]+(?:_[a-z]+)+/.exec(answer?.get('error') ?? (answer ? '' : line))?.[0];
      if (error) return new URLSearchParams({ error });
      onStrange();
    }
    return null;
  } finally {
    lines.close();
  }
}

/** `indexhouse logout`: revokes the sign-in of `indexhouse login`, and deletes its file. */
export function logout(flags: Globals & { account?: string }, io: Io): Promise<number> {
  return stoppable(io, async (signal) => {
    await googleSettings(flags, io);
    const removed = await removeLogin(signal, flags.account);
    const { path: file = null, problem = null } = removed ?? {};
    const text = removed
      ? `Signed out: ${file} is deleted${problem ? `. ${problem}` : ', and the sign-in revoked'}.\n`
      : 'Nobody is signed in.\n';
    io.stdout.write(flags.json ? formatJson({ file, problem }) : text);
    return problem ? EXIT.warnings : EXIT.done;
  });
}

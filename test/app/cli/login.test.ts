import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type SearchConsole, startSearchConsole } from '../../../src/app/demo/search-console/search-console.js';
import { run } from '../../given/cli.js';
import { atFileEnd, temporaryFolder } from '../../given/folder.js';
import { type Script, scripted } from '../../given/scripted.js';
import { startReceiver } from '../notify/given.js';

let google: SearchConsole;
/** What Google answers instead. */
let answers: Script = () => undefined;
beforeAll(async () => {
  google = await startSearchConsole({
    websites: [{ id: 'w', pages: 20 }],
    setup: scripted((call) => answers(call)),
  });
  atFileEnd(() => google.close());
});

const allow = (asked: string) => fetch(`${asked}&outcome=allow`);

/** Somebody who signs in. @param browse what their browser does with the address that it opens */
async function given(browse: (asked: string) => Promise<unknown> = allow) {
  answers = () => undefined;
  const folder = temporaryFolder();
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const browser = join(folder, 'browser');
  writeFileSync(browser, '#!/bin/sh\nprintf %s "$1" > "$0.opened"\n', { mode: 0o755 });
  const env = { BROWSER: browser, INDEXHOUSE_GOOGLE_ENDPOINT: google.url };
  const client = await google.client();
  const onPrinted = (text: string) => {
    const asked = /http:\S+code_challenge\S+/.exec(text)?.[0];
    if (asked) void browse(asked);
  };
  const indexhouse = (...words: string[]) => run(words, { env, cwd: folder, onPrinted });
  const login = (...words: string[]) => indexhouse('login', '--client', client, ...words);
  return { folder, env, client, onPrinted, indexhouse, login, stored: join(folder, 'indexhouse', 'google.json') };
}

it('signs in, stores the sign-in for its owner only, lists the properties, and signs out', async () => {
  const { login, indexhouse, stored, folder } = await given();
  const { code, stdout, stderr } = await login();
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^Signed in\. [\s\S]+It can read 1 property:\n {2}sc-domain:example.com {2}siteOwner\n\nNext: /,
  );
  expect(stdout).toContain(`${stored} holds the sign-in, which lasts until you revoke it.`);
  expect(stderr).toMatch(/code_challenge_method=S256.*scope=\S+webmasters.readonly&state=.*access_type=offline/);
  await vi.waitFor(() => expect(stderr).toContain(readFileSync(join(folder, 'browser.opened'), 'utf8') || '?'), 20_000);
  expect(statSync(stored).mode & 0o777).toBe(0o600);
  const { refresh_token, client_secret } = JSON.parse(readFileSync(stored, 'utf8'));
  for (const secret of [refresh_token, client_secret]) expect(stdout + stderr).not.toContain(secret);
  answers = ({ line }) => (line === 'POST /revoke' ? { status: 500 } : undefined);
  const kept = expect.stringContaining('stays, because Google did not revoke it');
  expect(await indexhouse('logout')).toMatchObject({ code: 1, stderr: kept });
  expect(existsSync(stored)).toBe(true);
  // A sign-in that Google has ended before is deleted, too.
  answers = () => undefined;
  await fetch(`${google.url}/revoke`, { method: 'POST', body: new URLSearchParams({ token: refresh_token }) });
  expect((await indexhouse('logout')).stdout).toBe(`Signed out: ${stored} is deleted, and the sign-in revoked.\n`);
  expect(existsSync(stored)).toBe(false);
  expect((await indexhouse('logout')).stdout).toBe('Nobody is signed in.\n');
});

it('keeps the sign-ins of several accounts apart', async () => {
  const { login, indexhouse, folder, stored } = await given();
  const settings = { websites: { all: true, source: 'google', account: 'shop' }, google: { accounts: { shop: {} } } };
  writeFileSync(join(folder, 'indexhouse.yaml'), JSON.stringify(settings));
  const unknown = expect.stringContaining('--account other is not one of google.accounts (shop)');
  expect(await login('--account', 'other')).toMatchObject({ code: 2, stderr: unknown });
  expect(await login('--account', 'shop')).toMatchObject({ code: 0 });
  const own = stored.replace('google.json', 'google-shop.json');
  expect([existsSync(own), existsSync(stored)]).toEqual([true, false]);
  expect(await indexhouse('doctor')).toMatchObject({ code: 0 });
  await indexhouse('logout', '--account', 'shop');
  expect(existsSync(own)).toBe(false);
});

it('says when the sign-in of an app in "Testing" ends', async () => {
  const { login, indexhouse, folder, stored } = await given((asked) => fetch(`${asked}&outcome=testing`));
  const { ends_at } = JSON.parse((await login('--json')).stdout);
  expect(Date.parse(ends_at) - Date.now()).toBeLessThan(7 * 86_400_000);
  const receiver = await startReceiver();
  const notify = { channels: [{ type: 'webhook', url: receiver.url }] };
  const settings = { websites: { all: true, source: 'google' }, google: { history: '1d' }, notify };
  writeFileSync(join(folder, 'indexhouse.yaml'), JSON.stringify(settings));
  const told = async (command: string) => {
    await indexhouse(...command.split(' '));
    const sent = receiver.take().flatMap(({ body }) => JSON.parse(body).notices);
    return sent.filter(({ kind }) => kind === 'sign_in').map(({ what }) => what);
  };
  expect(await told('sync --max-reports 1')).toEqual([]);
  const soon = new Date(Date.now() + 47 * 3_600_000).toISOString();
  writeFileSync(stored, readFileSync(stored, 'utf8').replace(ends_at, soon));
  const ends = /^the sign-in of `indexhouse login` ends at 20.* UTC, because its app is in "Testing"/;
  expect(await told('notify')).toEqual([expect.stringMatching(ends)]);
  const { sign_ins } = JSON.parse((await indexhouse('status', '--json')).stdout);
  expect(sign_ins).toEqual([expect.stringMatching(ends)]);
});

it.each([
  ['outcome=access_denied', /Google answered access_denied; run `indexhouse login` again, .*What Google may refuse/],
  ['outcome=unticked', /the access to Search Console was not ticked; run/],
  [`outcome=allow&code_challenge=${'a'.repeat(43)}`, /answered 400 \(invalid_grant: Malformed auth code\.\); run/],
])('refuses %s with its remedy, and stores nothing', async (outcome, message) => {
  const { login, stored } = await given((asked) => {
    const url = new URL(asked);
    for (const [name, value] of new URLSearchParams(outcome)) url.searchParams.set(name, value);
    return fetch(url);
  });
  expect(await login()).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
  expect(existsSync(stored)).toBe(false);
});

it('takes no answer without the state that it sent', async () => {
  const stop = new AbortController();
  let said = '';
  const { client, env, folder, onPrinted, stored } = await given(async (asked) => {
    const to = new URL(asked).searchParams.get('redirect_uri');
    const answer = await fetch(`${to}/?code=4/x&state=other`);
    said = `${answer.status} ${await answer.text()}`;
    stop.abort();
  });
  const ended = await run(['login', '--client', client], { env, cwd: folder, onPrinted, signal: stop.signal });
  expect(said).toMatch(/^400.*not the answer/);
  expect(ended).toMatchObject({ code: 130, stderr: expect.stringMatching(/stopped before anybody signed in\. If/) });
  expect(existsSync(stored)).toBe(false);
});

it('takes the pasted address, or the name of the error that Google shows', async () => {
  let pasted = '';
  const { client, folder, stored, env, onPrinted } = await given(async (asked) => {
    const { headers } = await fetch(`${asked}&outcome=allow`, { redirect: 'manual' });
    pasted = ` ${headers.get('location')}`;
  });
  async function* typed() {
    yield 'x';
    await vi.waitFor(() => expect(pasted).not.toBe(''), 20_000);
    yield pasted;
  }
  const words = ['login', '--client', client, '--no-browser'];
  expect(await run(words, { cwd: folder, env, onPrinted, typed: typed() })).toMatchObject({ code: 0 });
  expect(existsSync(stored)).toBe(true);
  const refused = await run(words, { cwd: folder, env, typed: ['Error 403: org_internal'] });
  expect(refused.stderr).toMatch(/Google answered org_internal; run `indexhouse login` again/);
});

it.each([
  [{ web: { client_id: 'a', client_secret: 'very-secret' } }, /is not the JSON file .* type "Desktop app"/],
  [{ type: 'service_account', private_key: 'very-secret' }, /a credentials file goes into google.credentials/],
])('refuses a file that is no client for the desktop: %o', async (content, message) => {
  const client = join(temporaryFolder(), 'other.json');
  writeFileSync(client, JSON.stringify(content));
  const { code, stderr } = await run(['login', '--client', client], { cwd: temporaryFolder() });
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(stderr).not.toContain('very-secret');
});

it('stores a sign-in that only its owner may read and replace', async () => {
  const { login, stored, folder, indexhouse } = await given();
  const umask = process.umask(0o002);
  onTestFinished(() => void process.umask(umask));
  expect((await login()).code).toBe(0);
  expect(statSync(join(folder, 'indexhouse')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, 'indexhouse'))).toEqual(['google.json']);
  writeFileSync(join(folder, 'indexhouse.yaml'), 'websites: {all: true, source: google}\n');
  chmodSync(stored, 0o644);
  const warned = /! account +others may read \S+google.json\n +→ Run `chmod 600 \S+google.json`\./;
  expect(await indexhouse('doctor')).toMatchObject({ code: 0, stdout: expect.stringMatching(warned) });
  // Others could put another sign-in into its place.
  chmodSync(folder, 0o777);
  const refused = expect.stringContaining(`others may write in ${folder}; run \`chmod go-w ${folder}\``);
  expect(await indexhouse('doctor')).toMatchObject({ code: 1, stdout: refused });
});

it('stores nothing of an answer that is no sign-in', async () => {
  const { login, stored } = await given();
  let body: object | string = '<!doctype html><title>Sign in to the network</title>';
  answers = ({ line }) => (line === 'POST /token' ? { body } : undefined);
  const portal = await login();
  expect(portal).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/the sign-in with an HTML page; check whether/),
  });
  body = { refresh_token: 5 };
  expect((await login()).stderr).toMatch(/Google gave no refresh token; run/);
  expect(existsSync(stored)).toBe(false);
});

it('checks the place of the sign-in before it opens a browser', async () => {
  const { login, folder } = await given();
  const home = join(folder, 'indexhouse');
  writeFileSync(home, '');
  const blocked = /^indexhouse: cannot store a sign-in in \S+google.json: .*; let this user write in \S+, or set/;
  expect(await login()).toMatchObject({ code: 2, stderr: expect.stringMatching(blocked) });
  expect(existsSync(join(folder, 'browser.opened'))).toBe(false);
});

it('says that it signed in, also if other credentials come first', async () => {
  const { login, stored } = await given();
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', await google.credentials());
  const first = expect.stringContaining('! GOOGLE_APPLICATION_CREDENTIALS is set and comes first');
  expect(await login()).toMatchObject({ code: 3, stdout: first });
  expect(existsSync(stored)).toBe(true);
});

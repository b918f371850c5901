import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runCli } from '../../../src/app/cli/program.js';
import { startSearchConsole } from '../../../src/app/demo/search-console/search-console.js';
import { run } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';
import { type Script, scripted } from '../../given/scripted.js';
import { startReceiver } from '../notify/given.js';

/** A simulated Google, and a browser in which somebody chooses an outcome at once. @param url what it opens, in JavaScript */
async function given(outcome = 'allow', url = 'asked', answers: Script = () => undefined) {
  const google = await startSearchConsole({ websites: [{ id: 'w', pages: 20 }], setup: scripted(answers) });
  onTestFinished(() => google.close());
  const folder = temporaryFolder();
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const browser = join(folder, 'browser');
  const script = `const asked = process.argv[2] + '&outcome=${outcome}'; fetch(${url});`;
  writeFileSync(browser, `#!${process.execPath}\n${script}`);
  chmodSync(browser, 0o755);
  const env = { BROWSER: browser, INDEXHOUSE_GOOGLE_ENDPOINT: google.url };
  const client = await google.client();
  const login = (...words: string[]) => run(['login', '--client', client, ...words], { env, cwd: folder });
  return { google, folder, env, client, login, stored: join(folder, 'indexhouse', 'google.json') };
}

it('signs in, stores the sign-in for its owner only, lists the properties, and signs out', async () => {
  const { login, stored, folder, env } = await given();
  const { code, stdout, stderr } = await login();
  expect([code, stdout]).toEqual([
    0,
    `Signed in. ${stored} holds the sign-in, which lasts until you revoke it.

It can read 1 property:
  sc-domain:example.com  siteOwner

Next: indexhouse init --source google
`,
  ]);
  expect(stderr).toMatch(/code_challenge_method=S256.*scope=\S+webmasters.readonly&state=.*access_type=offline/);
  expect(statSync(stored).mode & 0o777).toBe(0o600);
  const { refresh_token, client_secret } = JSON.parse(readFileSync(stored, 'utf8'));
  expect(stdout + stderr).not.toContain(refresh_token);
  expect(stdout + stderr).not.toContain(client_secret);
  expect((await run(['logout'], { env, cwd: folder })).stdout).toBe(
    `Signed out: ${stored} is deleted, and the sign-in revoked.\n`,
  );
  expect(existsSync(stored)).toBe(false);
  expect((await run(['logout'], { env, cwd: folder })).stdout).toBe('Nobody is signed in.\n');
});

it('keeps the sign-ins of several accounts apart', async () => {
  const { login, folder, env, stored } = await given();
  const settings = { websites: { all: true, source: 'google', account: 'shop' }, google: { accounts: { shop: {} } } };
  writeFileSync(join(folder, 'indexhouse.yaml'), JSON.stringify(settings));
  const unknown = await login('--account', 'other');
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringMatching(/--account other is not one of google.accounts \(shop\)/),
  ]);
  const { code, stdout } = await login('--account', 'shop');
  expect([code, stdout]).toEqual([0, expect.stringContaining('Next: indexhouse doctor')]);
  const own = stored.replace('google.json', 'google-shop.json');
  expect([existsSync(own), existsSync(stored)]).toEqual([true, false]);
  const { stdout: synced } = await run(['sync', '--max-reports', '1', '--json'], { env, cwd: folder });
  expect(JSON.parse(synced)).toMatchObject({ websites: [{ website_id: 'sc-domain:example.com' }] });
  await run(['logout', '--account', 'shop'], { env, cwd: folder });
  expect(existsSync(own)).toBe(false);
});

it('says when the sign-in of an app in "Testing" ends', async () => {
  const { login, env, folder, stored } = await given('testing');
  const { stdout } = await login('--json');
  const { ends_at, properties } = JSON.parse(stdout);
  expect(Date.parse(ends_at) - Date.now()).toBeLessThan(7 * 86_400_000);
  expect(properties).toEqual([{ id: 'sc-domain:example.com', permission: 'siteOwner' }]);
  await run(['init', '--source', 'google'], { env, cwd: folder });
  const { stdout: checked } = await run(['doctor'], { env, cwd: folder });
  expect(checked).toMatch(/! account .*login \(\S+\), since 20.*, until 20.*\n +→ Its app is in "Testing": publish it/);
  const receiver = await startReceiver();
  const config = join(folder, 'indexhouse.yaml');
  const channels = `notify: { channels: [{ type: webhook, url: "${receiver.url}" }], except: [indexed_drop] }\n`;
  writeFileSync(config, `${readFileSync(config, 'utf8')}\n${channels}`);
  const told = async () => {
    await run(['sync', '--max-reports', '1'], { env, cwd: folder });
    const status = JSON.parse((await run(['status', '--json'], { env, cwd: folder })).stdout);
    const sent = receiver.take().flatMap(({ body }) => JSON.parse(body).notices);
    return [status.sign_ins, sent.filter(({ kind }) => kind === 'sign_in').map(({ what }) => what)];
  };
  expect(await told()).toEqual([[], []]);
  const soon = new Date(Date.now() + 47 * 3_600_000).toISOString();
  writeFileSync(stored, readFileSync(stored, 'utf8').replace(ends_at, soon));
  const words = [
    expect.stringMatching(/^the sign-in of `indexhouse login` ends at 20.* UTC, because its app is in "Testing"/),
  ];
  expect(await told()).toEqual([words, words]);
  expect(await told()).toEqual([words, []]);
});

it.each([
  ['access_denied', 'asked', /Google answered access_denied; run `indexhouse login` again, .*What Google may refuse/],
  ['unticked', 'asked', /the access to Search Console was not ticked; run/],
  [
    'allow',
    "asked.replace(/challenge=[^&]*/, 'challenge=' + 'a'.repeat(43))",
    /answered 400 \(invalid_grant: Malformed auth code\.\); run `indexhouse login` again/,
  ],
])('refuses %s with its remedy, and stores nothing', async (outcome, url, message) => {
  const { login, stored } = await given(outcome, url);
  const { code, stderr } = await login();
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  expect(existsSync(stored)).toBe(false);
});

it('takes no answer without the state that it sent', async () => {
  const stop = new AbortController();
  const { client, env, folder, stored } = await given(
    'allow',
    "decodeURIComponent(/redirect_uri=([^&]*)/.exec(asked)[1]) + '/?code=4/x&state=other').then(async (answer) => require('fs').writeFileSync(__filename + '.said', answer.status + await answer.text())",
  );
  const ended = run(['login', '--client', client], { env, cwd: folder, signal: stop.signal });
  await vi.waitFor(
    () => expect(readFileSync(join(folder, 'browser.said'), 'utf8')).toMatch(/^400.*not the answer/),
    20_000,
  );
  stop.abort();
  expect(await ended).toMatchObject({
    code: 130,
    stderr: expect.stringMatching(/stopped before anybody signed in\. If Google/),
  });
  expect(existsSync(stored)).toBe(false);
});

it.each([
  ['without a browser', ['--no-browser']],
  ['with a browser that leads nowhere', []],
])('%s it takes the pasted address, or the name of the error that Google shows', async (_, flags) => {
  const { client, folder, stored, env } = await given();
  vi.stubEnv('BROWSER', 'true');
  vi.stubEnv('INDEXHOUSE_GOOGLE_ENDPOINT', env.INDEXHOUSE_GOOGLE_ENDPOINT);
  const stdin = Object.assign(new PassThrough(), { isTTY: false });
  const stderr = new Writable({
    write: (text, _, done) => {
      done();
      const url = /http:\S+/.exec(String(text))?.[0];
      if (url)
        void fetch(`${url}&outcome=allow`, { redirect: 'manual' }).then(({ headers }) =>
          stdin.write(`x\n ${headers.get('location')}\n`),
        );
    },
  });
  const stdout = new Writable({ write: (_text, _, done) => done() });
  const stopSignal = () => ({ signal: new AbortController().signal, release: () => {} });
  const io = { stdin, stdout, stderr, env: process.env, cwd: folder, program: 'indexhouse', stopSignal };
  expect(await runCli(['login', '--client', client, ...flags], io)).toBe(0);
  expect(existsSync(stored)).toBe(true);
  const pasted = await run(['login', '--client', client, ...flags], {
    cwd: folder,
    env: { BROWSER: 'true' },
    typed: ['Error 403: org_internal'],
  });
  expect(pasted.stderr).toMatch(/Google answered org_internal; run `indexhouse login` again/);
});

it.each([
  [
    { web: { client_id: 'a', client_secret: 'very-secret' } },
    /is not the JSON file of an OAuth client for the desktop .*; create one of the type "Desktop app"/,
  ],
  [{ type: 'service_account', private_key: 'very-secret' }, /a credentials file goes into google.credentials/],
  [
    { installed: { client_id: 'a', client_secret: 'very-secret', auth_uri: 'http://example.com' } },
    /not the JSON file of an OAuth client/,
  ],
  [null, /cannot be read \(is a pipe or device, not a file\); create one of the type "Desktop app"/],
])('refuses a file that is no client for the desktop: %o', async (content, message) => {
  const { folder, env } = await given();
  const client = join(folder, 'other.json');
  if (content) writeFileSync(client, JSON.stringify(content));
  else execFileSync('mkfifo', [client]);
  const { code, stderr } = await run(['login', '--client', client], { env, cwd: folder });
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(stderr).not.toContain('very-secret');
});

it('signs out of a sign-in that Google has ended before', async () => {
  const { google, login, stored, folder, env } = await given();
  await login();
  const { refresh_token: token } = JSON.parse(readFileSync(stored, 'utf8'));
  await fetch(`${google.url}/revoke`, { method: 'POST', body: new URLSearchParams({ token }) });
  const { code, stdout } = await run(['logout'], { env, cwd: folder });
  expect([code, stdout]).toEqual([0, `Signed out: ${stored} is deleted, and the sign-in revoked.\n`]);
  expect(existsSync(stored)).toBe(false);
});

it('stores one sign-in whole if two sign in at once, in a folder of its owner alone', async () => {
  const { login, stored, folder, env } = await given();
  const umask = process.umask(0o002);
  onTestFinished(() => void process.umask(umask));
  const ended = await Promise.all([login(), login(), login()]);
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(statSync(join(folder, 'indexhouse')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, 'indexhouse'))).toEqual(['google.json']);
  await run(['init', '--source', 'google'], { env, cwd: folder });
  expect((await run(['doctor'], { env, cwd: folder })).code).toBe(0);
  // Others could put another sign-in into its place.
  for (const [open, mode] of [
    [join(stored, '..'), 0o770],
    [folder, 0o777],
  ] as const) {
    chmodSync(open, mode);
    const { code, stdout } = await run(['doctor'], { env, cwd: folder });
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining(`others may write in ${open}; run \`chmod go-w ${open}\``),
    ]);
    chmodSync(open, 0o700);
  }
});

it('stores nothing of an answer that is no sign-in, and no end that no calendar has', async () => {
  let body: object | string = '<!doctype html><title>Sign in to the network</title>';
  const { login, stored } = await given('allow', 'asked', ({ line }) =>
    line === 'POST /token' ? { body } : undefined,
  );
  const portal = await login();
  expect([portal.code, portal.stderr]).toEqual([
    1,
    expect.stringMatching(/answered the sign-in with an HTML page; check whether a proxy, or a network's sign-in page/),
  ]);
  for (body of [[], 'no', { refresh_token: 5 }])
    expect((await login()).stderr).toMatch(/Google gave no refresh token; run/);
  expect(existsSync(stored)).toBe(false);
  const scope = 'https://www.googleapis.com/auth/webmasters.readonly';
  body = { access_token: 'x', refresh_token: '1//x', scope, expires_in: 1e300, refresh_token_expires_in: 1e300 };
  expect((await login('--json')).stdout).toContain('"ends_at": null');
});

it('keeps a sign-in while Google cannot be asked to revoke it', async () => {
  const { google, login, stored, folder, env } = await given();
  await login();
  await google.close();
  const { code, stderr } = await run(['logout'], { env, cwd: folder });
  expect([code, stderr]).toEqual([1, expect.stringContaining('the sign-in stays, because Google did not revoke it')]);
  expect(existsSync(stored)).toBe(true);
});

it('checks the place of the sign-in before it opens a browser', async () => {
  const { login, folder, env } = await given();
  const home = join(folder, 'indexhouse');
  writeFileSync(home, '');
  const blocked = await login();
  expect([blocked.code, blocked.stderr]).toEqual([
    2,
    expect.stringMatching(
      /^indexhouse: cannot store a sign-in in \S+google.json: .*; let this user write in \S+indexhouse, or set/,
    ),
  ]);
  expect((await run(['logout'], { env, cwd: folder })).stdout).toBe('Nobody is signed in.\n');
  rmSync(home);
  mkdirSync(home);
  chmodSync(home, 0o777);
  expect((await login()).stderr).toMatch(
    /^indexhouse: cannot store .*: others may write in \S+indexhouse; run `chmod go-w /,
  );
  expect(readdirSync(home)).toEqual([]);
});

it('doctor warns of a stored sign-in that others may read', async () => {
  const { login, stored, folder, env } = await given();
  await login();
  await run(['init', '--source', 'google'], { env, cwd: folder });
  chmodSync(stored, 0o644);
  const { stdout } = await run(['doctor'], { env, cwd: folder });
  expect(stdout).toMatch(/! account +others may read \S+google.json\n +→ Run `chmod 600 \S+google.json`\./);
});

it('says that it signed in, also if the properties cannot be listed', async () => {
  const { client, env, folder, stored } = await given();
  const elsewhere = { ...env, INDEXHOUSE_GOOGLE_ENDPOINT: 'http://127.0.0.1:9' };
  const { code, stdout } = await run(['login', '--client', client], { env: elsewhere, cwd: folder });
  expect([code, stdout]).toEqual([
    3,
    expect.stringMatching(/^Signed in\.[\s\S]*What it can read is unknown: .*ECONNREFUSED/),
  ]);
  expect(existsSync(stored)).toBe(true);
});

it('says that other credentials come before the sign-in', async () => {
  const { google, login } = await given();
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', await google.credentials());
  const { code, stdout } = await login();
  expect([code, stdout]).toEqual([
    3,
    expect.stringContaining('! GOOGLE_APPLICATION_CREDENTIALS is set and comes first'),
  ]);
});

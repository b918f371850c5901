import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Stopped } from '../../../src/base/exit.js';
import type { GoogleClientOptions } from '../../../src/source/search-console/access.js';
import { listSites } from '../../../src/source/search-console/calls.js';
import { GoogleClient } from '../../../src/source/search-console/google-client.js';
import { listenOnLoopback } from '../../given/loopback.js';
import { googleConfig } from './given-google.js';
import { fileOf, formOf, KINDS, SECRETS, startGoogle } from './sign-in-kinds.js';

const kinds = Object.keys(KINDS);
const WORST = ['', '%25', '\n'];

/** Lists the properties with the credentials of a kind, at a Google at this address. @returns the error, if there is one */
async function list(
  kind: string,
  { url }: { url: string },
  options: Partial<GoogleClientOptions> = {},
): Promise<Error | null> {
  const credentials = fileOf(kind, url);
  const google = { ...googleConfig(), endpoint: url, ...(credentials && { credentials }) };
  const client = new GoogleClient({ google, timeout: 2000, maxAttempts: 1, ...options });
  onTestFinished(() => client.close());
  const purpose = { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } };
  return listSites(client, purpose).then(
    () => null,
    (error: Error) => error,
  );
}

/** All that a log or a journal could show of an error. */
function shown(error: Error | null): string {
  return error ? `${error.stack}${JSON.stringify(error)}${error.cause instanceof Error ? shown(error.cause) : ''}` : '';
}

it.each(kinds)('%s signs in for webmasters.readonly, and again when the token is refused', async (kind) => {
  let calls = 0;
  const google = await startGoogle(({ line }) =>
    line.startsWith('GET /webmasters') && ++calls === 1 ? { status: 401 } : undefined,
  );
  const { scopes = [] } = KINDS[kind] ?? {};
  expect(await list(kind, google)).toBeNull();
  expect(google.scopes).toEqual([...scopes, ...scopes]);
});

it.each(kinds)('%s: no message shows a secret, whatever is sent back, and the library logs nothing', async (kind) => {
  vi.stubEnv('GOOGLE_SDK_NODE_LOGGING', '*');
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => printed.mockRestore());
  const paths = [
    '/token',
    '/sts',
    '/oauthtoken',
    '/subject',
    '/computeMetadata',
    ':generateAccessToken',
    '/webmasters',
  ];
  for (const path of paths) {
    const google = await startGoogle(({ line, headers, body }) => {
      const sent = String(new URLSearchParams(formOf(body)));
      const said = WORST.map((before) => `${before}${JSON.stringify(headers)}${decodeURIComponent(sent)}${sent}`);
      return line.includes(path) ? { status: 400, body: said.join() } : undefined;
    });
    const ended = await list(kind, google);
    for (const secret of SECRETS) expect(shown(ended)).not.toContain(secret);
  }
  expect(printed).not.toHaveBeenCalled();
});

it.each(kinds)('%s: GOOGLE_CLOUD_QUOTA_PROJECT pays for the calls, and for an impersonation', async (kind) => {
  const google = await startGoogle();
  vi.stubEnv('GOOGLE_CLOUD_QUOTA_PROJECT', 'mine');
  expect(await list(kind, google)).toBeNull();
  const isPaid = kind.startsWith('impersonated') ? /webmasters\/|:generateAccessToken/ : /webmasters\//;
  const paid = google.asked.filter(({ line }) => isPaid.test(line.split('?')[0] ?? ''));
  expect(paid.map(({ headers }) => headers['x-goog-user-project'])).toEqual(paid.map(() => 'mine'));
});

it.each(kinds)('%s follows no redirect', async (kind) => {
  const other = await startGoogle();
  const google = await startGoogle(() => ({ status: 307, headers: { location: other.url } }));
  expect((await list(kind, google))?.message).toMatch(/answered 307 .*; check the addresses in /);
  expect([google.asked.length, other.asked]).toEqual([1, []]);
});

it.each(kinds.filter((kind) => kind !== 'metadata server'))(
  '%s: sends nothing to an address that is not https',
  async (kind) => {
    const ended = await list(kind, { url: 'http://example.com' });
    expect(ended).toMatchObject({ kind: 'unauthorized', message: expect.stringContaining('http://example.com in ') });
  },
);

it.each(kinds.filter((kind) => kind !== 'metadata server'))('%s goes through the proxy', async (kind) => {
  const seen: (string | undefined)[] = [];
  const proxy = createServer().on('connect', ({ url }: IncomingMessage, socket: Socket) => {
    seen.push(url);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  const { url, close } = await listenOnLoopback(proxy);
  onTestFinished(close);
  vi.stubEnv('HTTPS_PROXY', url);
  expect(await list(kind, { url: 'https://google.invalid' })).toMatchObject({ kind: 'network' });
  expect(seen).toEqual(['google.invalid:443']);
});

it.each(kinds.slice(0, 2))('%s waits no longer than the timeout, and stops when it is told to', async (kind) => {
  const silent = createServer(() => undefined);
  const { url, close } = await listenOnLoopback(silent);
  onTestFinished(close);
  expect(await list(kind, { url }, { timeout: 100 })).toMatchObject({ kind: 'timeout' });
  const stop = new AbortController();
  silent.once('request', () => stop.abort());
  expect(await list(kind, { url }, { signal: stop.signal, timeout: 60_000 })).toBeInstanceOf(Stopped);
});

import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Stopped } from '../../../src/base/exit.js';
import type { GoogleClientOptions } from '../../../src/source/search-console/access.js';
import { listSites } from '../../../src/source/search-console/calls.js';
import { GoogleClient } from '../../../src/source/search-console/google-client.js';
import { atLength } from '../../given/at-length.js';
import { listenOnLoopback } from '../../given/loopback.js';
import { fileOf, KINDS, SECRETS, startGoogle } from './google-stand-in.js';

const kinds = Object.keys(KINDS);
const WORST = ['', '%25', '\n'];

/** Lists the properties with the credentials of a kind, at a Google at this address. */
async function list(kind: string, at: string, options: Partial<GoogleClientOptions> = {}, endpoint = at) {
  const credentials = fileOf(kind, at);
  const settings = {
    requests_per_minute: 6000,
    concurrency: 1,
    accounts: {},
    forget_after: 1,
    history: 1,
    history_days_per_night: 1,
    fresh: true,
    endpoint,
    ...(credentials && { credentials }),
  };
  const client = new GoogleClient({ google: settings, timeout: 2000, maxAttempts: 1, ...options });
  onTestFinished(() => client.close());
  const purpose = { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } };
  const ended = await listSites(client, purpose).then(
    () => null,
    (error: Error) => error,
  );
  return { client, ended, again: () => listSites(client, purpose) };
}

/** All that a log or a journal could show of an error. */
function shown(error: Error | null): string {
  return error ? `${error.stack}${JSON.stringify(error)}${error.cause instanceof Error ? shown(error.cause) : ''}` : '';
}

it.each(kinds)('%s signs in for webmasters.readonly, and again when the token is refused', async (kind) => {
  let refused = '';
  const google = await startGoogle(({ headers: { authorization = '' }, url }) => {
    if (!url.startsWith('/webmasters') || (refused !== '' && authorization !== refused)) return undefined;
    refused = authorization;
    return [401, '{}'];
  });
  const { ended } = await list(kind, google.url);
  const { scopes = [] } = KINDS[kind] ?? {};
  expect(ended).toBeNull();
  expect(google.scopes).toEqual([...scopes, ...scopes]);
});

it.each(kinds)('%s: no message shows a secret, whatever is sent back, and the library logs nothing', async (kind) => {
  vi.stubEnv('GOOGLE_SDK_NODE_LOGGING', '*');
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => printed.mockRestore());
  for (const path of [
    '/token',
    '/sts',
    '/oauthtoken',
    '/subject',
    '/computeMetadata',
    ':generateAccessToken',
    '/webmasters',
  ]) {
    const google = await startGoogle(({ url, headers, body }) => {
      const said = WORST.map((before) => `${before}${JSON.stringify(headers)}${decodeURIComponent(body)}${body}`);
      return url.includes(path) ? [400, said.join()] : undefined;
    });
    const { ended } = await list(kind, google.url);
    for (const secret of SECRETS) expect(shown(ended)).not.toContain(secret);
  }
  expect(printed).not.toHaveBeenCalled();
});

it.each(kinds)('%s follows no redirect', async (kind) => {
  const other = await startGoogle();
  const google = await startGoogle(({ url }) => [307, '', { location: other.url + url }]);
  const { ended } = await list(kind, google.url);
  expect(ended?.message).toMatch(/answered 307 .*; check the addresses in /);
  expect([google.asked.length, other.asked]).toEqual([1, []]);
});

it.each(kinds.filter((kind) => kind !== 'metadata server'))(
  '%s: sends nothing to an address that is not https',
  async (kind) => {
    const { ended } = await list(kind, 'http://example.com');
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
  const { ended } = await list(kind, 'https://google.invalid');
  expect(ended).toMatchObject({ kind: 'network' });
  expect(seen).toEqual(['google.invalid:443']);
});

it.each(atLength(kinds.slice(0, 2), kinds))(
  '%s waits no longer than the timeout, and stops when it is told to',
  async (kind) => {
    const silent = createServer(() => undefined);
    const { url, close } = await listenOnLoopback(silent);
    onTestFinished(close);
    expect((await list(kind, url, { timeout: 100 })).ended).toMatchObject({ kind: 'timeout' });
    const stop = new AbortController();
    silent.once('request', () => stop.abort());
    expect((await list(kind, url, { signal: stop.signal, timeout: 60_000 })).ended).toBeInstanceOf(Stopped);
  },
);

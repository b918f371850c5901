import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Stopped } from '../../src/base/exit.js';
import { Client } from '../../src/source/client.js';
import { Transport, type TransportOptions } from '../../src/source/transport.js';
import { failure } from '../given/failure.js';
import { listenOnLoopback } from '../given/loopback.js';
import { EARLY_HINTS, http, type RawAnswer, startRawServer, trickle } from '../given/raw-server.js';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** Sends a request to a server, or to another address. */
async function given(answer: RawAnswer, options: Partial<TransportOptions> = {}) {
  const { url } = await startRawServer(answer);
  const transport = new Transport({ baseUrl: url, token: 'tok-secret', timeout: 150, connections: 2, ...options });
  onTestFinished(() => transport.close());
  return (path = '/v1') => transport.send({ path });
}

const BROKEN: [string, string | null, RawAnswer][] = [
  ['a body shorter than its content-length', 'network', () => `${HEAD}content-length: 100\r\n\r\n{"a":`],
  ['a close before the headers', 'network', (_, socket) => void socket.end()],
  ['something that is no HTTP', 'network', () => 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
  ['nothing at all', 'timeout', () => undefined],
  ['early hints that never end', 'timeout', (_, socket) => trickle(socket, EARLY_HINTS)],
  ['a body that trickles for ever', 'timeout', (_, socket) => trickle(socket, `${HEAD}\r\n`)],
];
it.each(BROKEN)('an answer that does not come whole may be retried: %s', async (_, kind, answer) => {
  const error = await failure((await given(answer))());
  expect(error).toMatchObject({ kind, retryable: true });
  expect(error.message).toMatch(
    kind === 'timeout' ? /150 ms; try again later$/ : /the connection to http:\/\/127\.0\.0\.1:\d+ failed: ./,
  );
});

it('a body is cut off above its limit, whether its length is known or it has no end', async () => {
  const answer: RawAnswer = ({ target }, socket) => {
    if (target !== '/endless') return http(200, 'a'.repeat(Number(target.slice(1))));
    return void socket.write(`${HEAD}\r\n${'a'.repeat(1001)}`);
  };
  const send = await given(answer, { maxBodyBytes: 1000, timeout: 5000 });
  expect((await send('/1000')).text).toHaveLength(1000);
  for (const path of ['/1001', '/endless']) {
    const error = await failure(send(path));
    expect(error).toMatchObject({ kind: 'too_large', retryable: false });
    expect(error.message).toMatch(/larger than 1 kB; .*api\.base_url/);
  }
});

it('a body without a content-length ends with the connection, after early hints', async () => {
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
  const send = await given(() => `${hints}${HEAD}connection: close\r\n\r\n{"a":"ä`);
  expect(await send()).toMatchObject({ status: 200, text: '{"a":"ä' });
});

it.each<[string, string, RawAnswer]>([
  ['the answer is awaited', 'http', () => undefined],
  ['the connection is made', 'https', () => undefined],
  ['the key pauses', 'http', () => http(429, '', { 'retry-after': '3000' })],
])('a stop ends every request at once while %s', async (_, scheme, answer) => {
  const server = await startRawServer(answer);
  const stop = new AbortController();
  const settings = { requestsPerMinute: Number.POSITIVE_INFINITY, concurrency: 1, timeout: 60_000, maxAttempts: 3 };
  const baseUrl = server.url.replace('http:', `${scheme}:`);
  const client = new Client({ baseUrl, token: 't', ...settings, signal: stop.signal });
  onTestFinished(() => client.close());
  const send = (path: string) => client.send({ path }, { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } });
  const ends = ['/a', '/b'].map((path) => expect(send(path)).rejects.toBeInstanceOf(Stopped));
  await sleep(80);
  const before = performance.now();
  stop.abort();
  await expect(send('/c')).rejects.toBeInstanceOf(Stopped);
  await Promise.all(ends);
  expect(performance.now() - before).toBeLessThan(1000);
});

it('goes through the proxy of HTTPS_PROXY, which never sees the token, but not to hosts of NO_PROXY', async () => {
  const seen: string[] = [];
  const proxy = createServer().on('connect', (request: IncomingMessage, socket: Socket) => {
    seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  const { url, close } = await listenOnLoopback(proxy);
  onTestFinished(close);
  vi.stubEnv('HTTPS_PROXY', url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const send = async () => failure((await given(() => '', { baseUrl: 'https://api.invalid', timeout: 5000 }))());
  expect((await send()).kind).toBe('network');
  expect(seen).toEqual([expect.stringContaining('CONNECT api.invalid:443')]);
  expect(seen.join()).not.toContain('tok-secret');
  vi.stubEnv('NO_PROXY', 'api.invalid');
  await send();
  expect(seen).toHaveLength(1);
});

it('does not wait for a silent proxy longer than for an answer', async () => {
  vi.stubEnv('HTTPS_PROXY', (await startRawServer(() => undefined)).url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const send = await given(() => '', { baseUrl: 'https://api.invalid' });
  expect(await failure(send())).toMatchObject({ kind: 'timeout' });
});

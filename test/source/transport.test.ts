import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Stopped } from '../../src/base/exit.js';
import { Client } from '../../src/source/client.js';
import { Transport, type TransportOptions } from '../../src/source/transport.js';
import { failure } from '../given/failure.js';
import { listenOnLoopback } from '../given/loopback.js';
import { EARLY_HINTS, http, type RawAnswer, startRawServer, trickle } from '../given/raw-server.js';

const get = (path: string) => ({ path });

const TIMEOUT_MS = 150;

async function given(answer: RawAnswer, options: Partial<TransportOptions> = {}) {
  const server = await startRawServer(answer);
  const transport = new Transport({ baseUrl: server.url, token: 't', timeout: TIMEOUT_MS, connections: 2, ...options });
  onTestFinished(() => transport.close());
  return { server, transport };
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

describe('an answer that does not come whole', () => {
  const BROKEN: [string, string | null, RawAnswer][] = [
    ['a body shorter than its content-length', 'network', () => `${HEAD}content-length: 100\r\n\r\n{"a":`],
    ['a close before the headers', 'network', (_, socket) => void socket.end()],
    ['something that is no HTTP', 'network', () => 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['nothing at all', 'timeout', () => undefined],
    ['early hints that never end', 'timeout', (_, socket) => trickle(socket, EARLY_HINTS)],
    [
      'a body that trickles for ever',
      'timeout',
      (_, socket) => {
        socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
        return trickle(socket, '1\r\n \r\n');
      },
    ],
  ];
  it.each(BROKEN)('%s', async (_, kind, answer) => {
    const { transport } = await given(answer);
    const error = await failure(transport.send(get('/v1')));
    expect(error).toMatchObject({ kind, retryable: true });
    expect(error.message).toMatch(
      kind === 'timeout' ? /150 ms; try again later$/ : /the connection to http:\/\/127\.0\.0\.1:\d+ failed: ./,
    );
  });
});

describe('a body', () => {
  it('that is endless is cut off at a limit', async () => {
    let stopped = false;
    const { transport } = await given(
      (_, socket) => {
        socket.write(`${HEAD}\r\n`);
        const flood = () => {
          while (!socket.destroyed && socket.write(' '.repeat(65_536)));
        };
        socket.on('drain', flood).on('close', () => {
          stopped = true;
        });
        flood();
        return undefined;
      },
      { maxBodyBytes: 1_000_000, timeout: 5000 },
    );
    const error = await failure(transport.send(get('/v1')));
    expect(error).toMatchObject({ kind: 'too_large', retryable: false });
    expect(error.message).toMatch(/larger than 1 MB; .*api\.base_url/);
    await expect.poll(() => stopped).toBe(true);
  });

  it('exactly at the limit is taken, and one byte more is not', async () => {
    const { transport } = await given(({ target }) => http(200, 'a'.repeat(Number(target.slice(1)))), {
      maxBodyBytes: 1000,
    });
    expect((await transport.send(get('/1000'))).text).toHaveLength(1000);
    expect(await failure(transport.send(get('/1001')))).toMatchObject({ kind: 'too_large' });
  });

  it('without a content-length ends with the connection, after early hints', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
    const { transport } = await given(() => `${hints}${HEAD}connection: close\r\n\r\n{"a":"ä`);
    expect(await transport.send(get('/v1'))).toMatchObject({ status: 200, text: '{"a":"ä' });
  });
});

describe('more requests than connections', () => {
  it('wait for one, first come first served', async () => {
    let open = 0;
    let most = 0;
    const { server, transport } = await given(
      ({ target }, socket) => {
        most = Math.max(most, ++open);
        setTimeout(() => {
          open--;
          socket.end(target === '/3' ? 'no answer' : http(200, target));
        }, 20);
        return undefined;
      },
      { timeout: 5000 },
    );
    const paths = Array.from({ length: 9 }, (_, i) => `/${i}`);
    const ends = await Promise.allSettled(paths.map((path) => transport.send(get(path))));
    const texts = ends.map((end) => (end.status === 'fulfilled' ? end.value.text : end.reason.kind));
    expect(texts).toEqual(paths.map((path) => (path === '/3' ? 'network' : path)));
    expect(most).toBe(2);
    const [first, second] = server.requests.map(({ target }) => target);
    expect([first, second].sort()).toEqual(['/0', '/1']);
  });
});

describe('a stop', () => {
  function client(baseUrl: string, stop: AbortController): Client {
    const settings = { requestsPerMinute: Number.POSITIVE_INFINITY, concurrency: 1, timeout: 60_000, maxAttempts: 3 };
    const made = new Client({ baseUrl, token: 't', ...settings, signal: stop.signal });
    onTestFinished(() => made.close());
    return made;
  }
  const counts = () => ({ sent: 0, throttled: 0, retried: 0 });

  it.each<[string, string, RawAnswer]>([
    ['while the answer is awaited', 'http', () => undefined],
    ['while the connection is made', 'https', () => undefined],
    ['while the key pauses', 'http', () => http(429, '', { 'retry-after': '3000' })],
  ])('%s ends the request at once', async (_, scheme, answer) => {
    const server = await startRawServer(answer);
    const stop = new AbortController();
    const made = client(server.url.replace('http:', `${scheme}:`), stop);
    const first = made.send({ path: '/a' }, { lane: '', counts: counts() });
    const second = made.send({ path: '/b' }, { lane: '', counts: counts() });
    const ends = Promise.allSettled([first, second]);
    await sleep(80);
    const before = performance.now();
    stop.abort();
    const late = await Promise.allSettled([made.send({ path: '/c' }, { lane: '', counts: counts() })]);
    const ended = [...(await ends), ...late];
    expect(ended.map((end) => end.status === 'rejected' && end.reason instanceof Stopped)).toEqual([true, true, true]);
    expect(performance.now() - before).toBeLessThan(1000);
  });
});

it('goes through the proxy of HTTPS_PROXY, which never sees the token', async () => {
  const seen: string[] = [];
  const proxy = createServer().on('connect', (request: IncomingMessage, socket: Socket) => {
    seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  const { url, close } = await listenOnLoopback(proxy);
  onTestFinished(close);
  vi.stubEnv('HTTPS_PROXY', url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const client = (baseUrl: string) => {
    const made = new Transport({ baseUrl, token: 'tok-secret', timeout: 5000, connections: 1 });
    onTestFinished(() => made.close());
    return made;
  };
  expect((await failure(client('https://api.invalid').send(get('/v1')))).kind).toBe('network');
  expect(seen).toEqual([expect.stringContaining('CONNECT api.invalid:443')]);
  expect(seen.join()).not.toContain('tok-secret');
  vi.stubEnv('NO_PROXY', 'api.invalid');
  await failure(client('https://api.invalid').send(get('/v1')));
  expect(seen).toHaveLength(1);
});

it('does not wait for a silent proxy longer than for an answer', async () => {
  vi.stubEnv('HTTPS_PROXY', (await startRawServer(() => undefined)).url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { transport } = await given(() => '', { baseUrl: 'https://api.invalid' });
  expect(await failure(transport.send(get('/v1')))).toMatchObject({ kind: 'timeout' });
});

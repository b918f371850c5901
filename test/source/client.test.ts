import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Client, type ClientOptions } from '../../src/source/client.js';
import { failure } from '../given/failure.js';
import { http, startRawServer } from '../given/raw-server.js';
import { Clock } from '../given/warehouse.js';

const TOKEN = 'tok-7Kf9/secret+value==';
const OK = '{"fine":true}';

function given(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const clock = new Clock();
  const effects = { ...clock.effects, random: () => 0 };
  const counts = { sent: 0, throttled: 0, retried: 0 };
  const settings = { requestsPerMinute: Number.POSITIVE_INFINITY, concurrency: 4, timeout: 2000, maxAttempts: 3 };
  const client = new Client({ baseUrl, token: TOKEN, ...settings, effects, ...options });
  onTestFinished(() => client.close());
  return { client, slept: clock.slept, counts, get: (path = '/v1/x') => client.send({ path }, { lane: '', counts }) };
}

describe('a failed request', () => {
  it('is tried again where that may help, later each time', async () => {
    const server = await startRawServer(({ number }) => http(number < 3 ? 503 : 200, OK));
    const { get, slept, counts } = given(`${server.url}/tenant/api`);
    expect(await get()).toBe(OK);
    expect(server.requests.map(({ target }) => target)).toEqual(Array(3).fill('/tenant/api/v1/x'));
    expect(slept).toEqual([250, 500]);
    expect(counts).toEqual({ sent: 3, throttled: 0, retried: 2 });
  });

  it.each([
    [500, 'server', 3],
    [400, 'bad_request', 1],
    [403, 'forbidden', 1],
    [404, 'not_found', 1],
    [418, 'unexpected_status', 1],
    [204, 'unexpected_status', 1],
  ])('with %i ends as %s after %i tries, with what to do', async (status, kind, sent) => {
    const body = status === 204 ? '' : `{"error":"internal","message":"boom","status":${status}}`;
    const server = await startRawServer(() => http(status, body));
    const { get, counts } = given(server.url);
    const error = await failure(get());
    expect(error).toMatchObject({ kind, status });
    if (status === 500) expect(error.message).toMatch(/500 \(internal: boom\); .*try again later/);
    expect(counts).toEqual({ sent, throttled: 0, retried: sent - 1 });
  });
});

describe('an answer of 429', () => {
  it('stops the whole key; then one request probes, and the others follow', async () => {
    const alone: number[] = [];
    const server = await startRawServer(({ number }, socket) => {
      if (number <= 3) return http(429, '{}', { 'retry-after': '30' });
      if (number > 4) return http(200, OK);
      // The probe: what else is sent before its answer would be a waste.
      setTimeout(() => {
        alone.push(server.requests.length);
        socket.end(http(200, OK));
      }, 60);
      return undefined;
    });
    const clock = new Clock();
    const sleep = async (ms: number) => {
      // All three were under way.
      await vi.waitFor(() => expect(counts.throttled).toBe(3), 30_000);
      await clock.effects.sleep(ms);
    };
    const { client, counts } = given(server.url, { concurrency: 3, effects: { ...clock.effects, sleep } });
    await Promise.all(['/a', '/b', '/c', '/d'].map((path) => client.send({ path }, { lane: '', counts })));
    expect(counts).toMatchObject({ sent: 7, throttled: 3, retried: 3 });
    expect(clock.slept).toEqual([30_000]);
    expect(alone).toEqual([4]);
  });

  it('that asks for a year ends the key for everyone who waits for it', async () => {
    const server = await startRawServer(() => http(429, '{}', { 'retry-after': '31536000' }));
    const { client, counts } = given(server.url, { concurrency: 1, requestsPerMinute: 1 });
    const errors = await Promise.all(
      ['/a', '/b', '/c'].map((path) => failure(client.send({ path }, { lane: path, counts }))),
    );
    expect(errors.map(({ kind }) => kind)).toEqual(['paused', 'paused', 'paused']);
    expect(server.requests).toHaveLength(1);
    expect(await failure(client.send({ path: '/d' }, { lane: '', counts }))).toBe(errors[0]);
  });

  it('is given up at last', async () => {
    const server = await startRawServer(() => http(429));
    const { get, slept } = given(server.url);
    const error = await failure(get());
    expect(error.kind).toBe('throttled');
    expect(error.message).toContain('api.requests_per_minute');
    expect(slept).toHaveLength(30 - 1);
  });
});

describe('an answer of 401', () => {
  it('that is repeated for the key itself stops it for every website', async () => {
    const server = await startRawServer(() => http(401, '{}'));
    const { get } = given(server.url, { places: { baseUrl: 'api.base_url', token: 'websites[1].token' } });
    const errors = await Promise.all([get('/a'), get('/b'), get('/c')].map(failure));
    expect(errors.map(({ kind }) => kind)).toEqual(['unauthorized', 'unauthorized', 'unauthorized']);
    expect(errors[0]?.message).toContain('check websites[1].token (and');
    const { length } = server.requests;
    expect(await failure(get('/d'))).toMatchObject({ kind: 'unauthorized' });
    expect(server.requests).toHaveLength(length);
  });

  it('that does not come again is no failure; to one website alone it is about that website', async () => {
    const server = await startRawServer(({ number, target }) =>
      http(number === 1 || target === '/v1/urls/w' ? 401 : 200, OK),
    );
    const { get } = given(server.url);
    expect(await get()).toBe(OK);
    const error = await failure(get('/v1/urls/w'));
    expect(error).toMatchObject({ kind: 'forbidden', status: 401, final: true });
    expect(error.message).toMatch(/401 .*accepts the key elsewhere/);
    expect(await get('/v1/urls/other')).toBe(OK);
  });
});

describe('a 200 answer', () => {
  it('that is packed is unpacked, without its byte order mark', async () => {
    const packings = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };
    for (const [encoding, pack] of Object.entries(packings)) {
      const server = await startRawServer(() => http(200, pack(`\uFEFF${OK}`), { 'content-encoding': encoding }));
      expect(await given(server.url).get()).toBe(OK);
    }
  });

  it('that is packed is unpacked within the largest body, and retried if it is cut short', async () => {
    const gzip = { 'content-encoding': 'gzip' };
    const bomb = await startRawServer(() => http(200, gzipSync(Buffer.alloc(70e6), { level: 1 }), gzip));
    expect(await failure(given(bomb.url).get())).toMatchObject({ kind: 'too_large' });
    const packed = gzipSync(OK);
    const cut = await startRawServer(({ number }) => http(200, number === 1 ? packed.subarray(0, 12) : packed, gzip));
    expect(await given(cut.url).get()).toBe(OK);
  });

  it.each([
    ['{"error":"rate_limit_exceeded","message":"busy","status":429}', 'throttled', 429],
    ['{"error":"internal","message":"boom","status":500}', 'server', 500],
    ['{"error":"not_found","message":"none","status":404}', 'not_found', 404],
  ])('that holds an error is that error: %s', async (body, kind, status) => {
    const server = await startRawServer(() => http(200, body));
    expect(await failure(given(server.url).get())).toMatchObject({ kind, status });
    const flaky = await startRawServer(({ number }) => http(200, number === 1 ? body : OK));
    if (status !== 404) expect(await given(flaky.url).get()).toBe(OK);
  });
});

describe('the token', () => {
  it('is not carried along by a redirect', async () => {
    const elsewhere = await startRawServer(() => http(200, OK));
    const server = await startRawServer(() => http(307, '', { location: `${elsewhere.url}/v1/x` }));
    const { get } = given(server.url);
    const error = await failure(get());
    expect(error).toMatchObject({ kind: 'redirect', final: true, retryable: false });
    expect(error.message).toContain('api.base_url');
    expect([server.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
    expect(server.requests[0]?.head).toContain(`authorization: Bearer ${TOKEN}`);
  });

  it.each([
    ['plain', TOKEN],
    ['with one letter percent-encoded', `%74${TOKEN.slice(1)}`],
    ['escaped as in JSON', [...TOKEN].map((each) => `\\u00${each.charCodeAt(0).toString(16)}`).join('')],
  ])('is masked where the service repeats it: %s', async (_, echo) => {
    const secret = /7Kf9|value/i;
    for (const body of [`{"error":"e","message":"not ${echo}","status":403}`, `no key ${echo} here`, echo]) {
      const server = await startRawServer(() => http(403, body));
      const error = await failure(given(server.url).get());
      expect(`${error.message} ${error.stack} ${JSON.stringify(error.detail)}`).not.toMatch(secret);
      expect(error.message).toContain('[secret]');
    }
    const server = await startRawServer(() => http(200, `{"url":"https://e.com/","you":"${echo}"}`));
    expect(await given(server.url).get()).toBe('{"url":"https://e.com/","you":"[secret]"}');
  });
});

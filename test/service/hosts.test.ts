import { describe, expect, it, onTestFinished } from 'vitest';
import { addressesIn } from '../../src/service/addresses.js';
import { allowOrigins, refuseOtherHosts } from '../../src/service/hosts.js';
import { buildServer, type ServerOptions } from '../../src/service/http.js';
import { storeOf } from '../given/service.js';

function server(setup: ServerOptions['setup'], options: ServerOptions = {}) {
  const app = buildServer(storeOf(new Map([['w', []]])), {
    representations: true,
    ...(setup ? { setup } : {}),
    ...options,
  });
  onTestFinished(() => app.close());
  return app;
}

describe('a request to another host', () => {
  const cases: [host: string, listensOn: string, allowed: string[], status: number][] = [
    ['127.0.0.1:8090', '127.0.0.1', [], 200],
    ['localhost:8090', '127.0.0.1', [], 200],
    ['LOCALHOST', '127.0.0.1', [], 200],
    ['[::1]:8090', '::1', [], 200],
    ['192.0.2.7', '127.0.0.1', [], 200],
    ['evil.example', '127.0.0.1', [], 421],
    ['evil.example:8090', 'localhost', [], 421],
    ['localhost.evil.example', '127.0.0.1', [], 421],
    ['127.0.0.1.evil.example', '127.0.0.1', [], 421],
    ['evil.example#127.0.0.1', '127.0.0.1', [], 421],
    ['a b', '127.0.0.1', [], 421],
    ['evil.example', '0.0.0.0', [], 200],
    ['house.example', '127.0.0.1', ['House.example'], 200],
    ['house.example:443', '0.0.0.0', ['house.example'], 200],
    ['evil.example', '0.0.0.0', ['house.example'], 421],
    ['192.0.2.7', '0.0.0.0', ['house.example'], 421],
    ['localhost', '0.0.0.0', ['house.example'], 200],
  ];
  it.each(cases)('%s, where it listens on %s and knows %j', async (host, listensOn, allowed, status) => {
    const app = server((each) => refuseOtherHosts(each, { listensOn, allowed }));
    const answer = await app.inject({ url: '/v1', headers: { host, authorization: 'Bearer x' } });
    expect(answer.statusCode).toBe(status);
    if (status === 421) expect(answer.json()).toMatchObject({ error: 'misdirected_request', status });
  });

  it('is named by a trusted proxy only', async () => {
    const app = server((each) => refuseOtherHosts(each, { listensOn: '127.0.0.1', allowed: ['house.example'] }), {
      trustProxy: addressesIn(['192.0.2.0/24']),
    });
    const status = async (remoteAddress: string) => {
      const headers = { host: 'inner', 'x-forwarded-host': 'house.example', authorization: 'Bearer x' };
      return (await app.inject({ url: '/v1', headers, remoteAddress })).statusCode;
    };
    expect([await status('192.0.2.9'), await status('198.51.100.1')]).toEqual([200, 421]);
  });
});

describe('a page of another origin', () => {
  const ORIGIN = 'https://app.example';
  const headers = { origin: ORIGIN, authorization: 'Bearer x' };
  const preflight = { origin: ORIGIN, 'access-control-request-method': 'GET' };

  it('reads nothing unless it is allowed to', async () => {
    const closed = server((app) => allowOrigins(app, [], ''));
    expect((await closed.inject({ url: '/v1', headers })).headers['access-control-allow-origin']).toBeUndefined();
    expect((await closed.inject({ method: 'OPTIONS', url: '/v1', headers: preflight })).statusCode).toBe(405);
    const other = server((app) => allowOrigins(app, ['https://other.example'], ''));
    expect((await other.inject({ url: '/v1', headers })).headers['access-control-allow-origin']).toBeUndefined();
  });

  it('reads the interface where its origin is listed, and nothing else', async () => {
    const app = server(
      (each) => {
        allowOrigins(each, [ORIGIN], '/api');
        each.get('/api/dashboard', async () => 'private');
      },
      { prefix: '/api' },
    );
    const asked = await app.inject({ method: 'OPTIONS', url: '/api/v1/urls/w', headers: preflight });
    expect([asked.statusCode, asked.body]).toEqual([204, '']);
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-headers': expect.stringContaining('Authorization'),
    });
    for (const [url, status] of [
      ['/api/v1', 200],
      ['/api/v1/urls/none', 404],
      ['/api/openapi.json', 200],
    ] as const) {
      const answer = await app.inject({ url, headers });
      expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([status, ORIGIN]);
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
      expect(answer.headers['vary']).toContain('Origin');
    }
    const kept = await app.inject({ url: '/api/v1', headers });
    for (const name of ['ETag', 'X-RateLimit-Remaining', 'X-Snapshot-Id', 'X-Snapshot-Time', 'Last-Modified']) {
      expect(kept.headers['access-control-expose-headers']?.split(', ')).toContain(name);
    }
    expect(kept.headers['vary']).toBe('Origin, Authorization, Accept-Encoding');
    const refused = await app.inject({ url: '/api/v1', headers: { origin: ORIGIN } });
    expect([refused.statusCode, refused.headers['access-control-allow-origin']]).toEqual([401, ORIGIN]);
    const elsewhere = await app.inject({ url: '/api/dashboard', headers });
    expect(elsewhere.headers['access-control-allow-origin']).toBeUndefined();
    const denied = await app.inject({ method: 'OPTIONS', url: '/api/dashboard', headers: preflight });
    expect(denied.statusCode).toBe(405);
  });

  it('may be any where all are allowed', async () => {
    const app = server((each) => allowOrigins(each, ['*'], ''));
    expect((await app.inject({ url: '/v1', headers })).headers['access-control-allow-origin']).toBe('*');
  });
});

it('knows addresses by their ranges, as IPv6 writes them too', () => {
  const isKnown = addressesIn(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);
  const known = ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::7', '192.0.2.1'];
  expect(known.filter(isKnown)).toEqual(known);
  expect(['11.0.0.1', '192.0.2.2', '2001:db9::1', 'x', '', '::ffff:11.0.0.1'].filter(isKnown)).toEqual([]);
});

import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addressesIn, isLoopback, networkOf } from '../../../src/serve/api/addresses.js';
import { buildServer, plainServer } from '../../../src/serve/api/http.js';
import { refuseOtherHosts } from '../../../src/serve/api/refusals.js';
import { errorLog } from '../../../src/serve/api/request-log.js';
import { errorBodySchema } from '../../../src/source/contract/key.js';
import { startSimulator } from '../../given/client-clock.js';
import { storeOf } from '../scripted-store.js';

it('answers 500 without saying why if a store fails, and reports the error to its owner', async () => {
  const findKey = () => Promise.reject(new Error('secret place /var/lib'));
  const reported: unknown[] = [];
  const app = buildServer({ ...storeOf(new Map()), findKey }, { onError: (error) => reported.push(error) });
  const answer = await app.inject({ url: '/v1', headers: { authorization: 'Bearer x' } });
  expect(answer.statusCode).toBe(500);
  expect(answer.body).not.toMatch(/secret|stack|at /);
  expect(errorBodySchema.parse(answer.json()).error).toBe('internal_error');
  expect(reported).toEqual([new Error('secret place /var/lib')]);
  await app.close();
});

it('reports a file that breaks off with its request, once its client has the beginning', async () => {
  const errors: unknown[] = [];
  async function* half() {
    yield 'a'.repeat(100_000);
    throw new Error('the disk failed');
  }
  const app = plainServer({
    onError: errorLog({ error: (line: object) => void errors.push(line) }),
    setup: (server) => void server.get('/pages.csv', async () => Readable.from(half())),
  });
  onTestFinished(() => app.close());
  const answer = await fetch(`${await app.listen({ host: '127.0.0.1', port: 0 })}/pages.csv`);
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
  expect(errors).toEqual([{ err: new Error('the disk failed'), method: 'GET', path: '/pages.csv' }]);
});

it('limits each key by itself and says where it stands on every answer', async () => {
  let now = 1_800_000_000_000;
  const simulator = await startSimulator({
    websites: [{ id: 'w', pages: 3 }],
    keys: [
      { token: 'one', label: 'same', websites: 'all' },
      { token: 'two', label: 'same', websites: [] },
    ],
    rateLimit: 2,
    clock: () => now,
  });
  const get = (path: string, token = 'one'): Promise<Response> =>
    fetch(simulator.url + path, { headers: { authorization: `Bearer ${token}` } });
  const rate = ({ status, headers }: Response): unknown[] => [
    status,
    ...['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`)),
    headers.get('retry-after'),
  ];
  expect(rate(await get('/v1'))).toEqual([200, '2', '1', '1800000060', null]);
  now += 20_500;
  expect(rate(await get('/v1/urls/none'))).toEqual([404, '2', '0', '1800000060', null]);
  const refused = await get('/v1');
  expect(rate(refused)).toEqual([429, '2', '0', '1800000060', '40']);
  expect(errorBodySchema.parse(await refused.json())).toMatchObject({ error: 'rate_limit_exceeded', status: 429 });
  expect(rate(await get('/v1/urls/w', 'two'))).toEqual([403, '2', '1', '1800000081', null]);
  now += 39_500;
  expect(rate(await get('/v1'))).toEqual([200, '2', '1', '1800000120', null]);
});

it.each(['a b/ü?#%', '日本語', '...', '%2e', '"\\'])('gives back the website id %s byte for byte', async (id) => {
  const pages = [1, 2, 3].map((page) => ({ url: `https://w.example/${page}` }));
  const app = buildServer(storeOf(new Map([[id, pages]])));
  onTestFinished(() => app.close());
  const path = `/v1/urls/${encodeURIComponent(id)}`;
  const answer = await app.inject({ url: `${path}?skip=0&limit=2`, headers: { authorization: 'Bearer x' } });
  const next_page = `${path}?skip=2&limit=2`;
  expect(answer.json()).toMatchObject({ urls: pages.slice(0, 2), pagination: { next_page } });
});

describe('a request to another host', () => {
  const cases: [host: string, listensOn: string, allowed: string[], status: number][] = [
    ['LOCALHOST', '127.0.0.1', [], 200],
    ['[::1]:8090', '::1', [], 200],
    ['192.0.2.7', '127.0.0.1', [], 200],
    ['localhost.evil.example', '127.0.0.1', [], 421],
    ['evil.example#127.0.0.1', '127.0.0.1', [], 421],
    ['evil.example', '0.0.0.0', [], 200],
    ['house.example:443', '127.0.0.1', ['House.example'], 200],
    ['192.0.2.7', '0.0.0.0', ['house.example'], 421],
    ['localhost', '0.0.0.0', ['house.example'], 200],
  ];
  it.each(cases)('%s, where it listens on %s and knows %j', async (host, listensOn, allowed, status) => {
    const app = buildServer(storeOf(new Map()), { setup: (each) => refuseOtherHosts(each, { listensOn, allowed }) });
    onTestFinished(() => app.close());
    const answer = await app.inject({ url: '/v1', headers: { host, authorization: 'Bearer x' } });
    expect(answer.statusCode).toBe(status);
    if (status === 421) expect(answer.json()).toMatchObject({ error: 'misdirected_request', status });
  });
});

it('takes this machine alone for local, however it is written', () => {
  const local = ['127.0.0.1', '127.8.9.10', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', 'localhost', 'LocalHost'];
  expect(local.filter(isLoopback)).toEqual(local);
  const others = ['0.0.0.0', '::', '0', '', '128.0.0.1', '192.168.0.1', '127.0.0.1.example', '::ffff:10.0.0.1'];
  expect(others.filter(isLoopback)).toEqual([]);
});

it('knows addresses by their ranges, as IPv6 writes them too', () => {
  const isKnown = addressesIn(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);
  const known = ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::7', '192.0.2.1'];
  expect(known.filter(isKnown)).toEqual(known);
  expect(['11.0.0.1', '192.0.2.2', '2001:db9::1', 'x', '', '::ffff:11.0.0.1'].filter(isKnown)).toEqual([]);
});

it('counts IPv6 clients by their network, and IPv4 clients by their address however it is written', () => {
  const sameClient = [
    ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:192.0.2.1'],
    ['192.0.2.2'],
    ['2001:db8::1', '2001:DB8:0:0:ffff::2', '2001:0db8:0000:0000:1:2:3:4', '2001:db8::1%eth0'],
    ['2001:db8:0:1::1'],
    ['::1', '::2'],
  ].map((addresses) => new Set(addresses.map(networkOf)));
  expect(sameClient.map(({ size }) => size)).toEqual([1, 1, 1, 1, 1]);
  expect(new Set(sameClient.flatMap((networks) => [...networks])).size).toBe(5);
});

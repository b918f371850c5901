import { describe, expect, it, onTestFinished } from 'vitest';
import { addressesIn, isLoopback, networkOf } from '../../../src/serve/api/addresses.js';
import { buildServer } from '../../../src/serve/api/http.js';
import { refuseOtherHosts } from '../../../src/serve/api/refusals.js';
import { storeOf } from '../scripted-store.js';

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

import { expect, it } from 'vitest';
import { isPublic, publicLookup } from '../../../src/source/search-console/public-address.js';
import { SiteFetch } from '../../../src/source/search-console/site-fetch.js';
import { http, startRawServer } from '../../given/raw-server.js';

it.each(
  [
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.31.0.1', '192.168.1.1', '224.0.0.1'],
    ...['255.255.255.255', '::', '::1', '::ffff:10.0.0.1', '64:ff9b::a9fe:a9fe', 'fd00:ec2::254', 'fe80::1', 'ff02::1'],
  ].map((address) => [address]),
)('%s is not public', (address) => {
  expect(isPublic(address)).toBe(false);
});

it.each([['8.8.8.8'], ['172.32.0.1'], ['2606:4700::1111'], ['::ffff:8.8.8.8'], ['64:ff9b::808:808']])(
  '%s is public',
  (address) => {
    expect(isPublic(address)).toBe(true);
  },
);

it('a name with public addresses is looked up as usual', async () => {
  const found = (all: boolean) =>
    new Promise((resolve) => publicLookup('8.8.8.8', { all }, (...answer) => resolve(answer)));
  expect(await found(true)).toEqual([null, [{ address: '8.8.8.8', family: 4 }]]);
  expect(await found(false)).toEqual([null, '8.8.8.8', 4]);
});

it.each(['localhost', '127.0.0.1', '2130706433', '0x7f.1'])('a site at %s is not asked', async (host) => {
  const server = await startRawServer(() => http(200, 'https://shop.example/'));
  const site = new SiteFetch({ origin: null, userAgent: 'x', timeout: 10_000 });
  const url = `http://${host}:${new URL(server.url).port}/a.txt`;
  const reading = { notAfter: Number.POSITIVE_INFINITY, read: async () => true };
  await expect(site.get(url, reading)).rejects.toThrow(/^leads to \S+ \(.*(127\.0\.0\.1|::1).*\), which is no public/);
  expect(server.requests).toEqual([]);
});

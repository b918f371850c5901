import { expect, it } from 'vitest';
import { errorBodySchema } from '../../../src/source/contract/key.js';
import { startSimulator } from '../../given/client-clock.js';

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
  expect(rate(await get('/v1', 'unknown'))).toEqual([401, null, null, null, null]);
  now += 39_500;
  expect(rate(await get('/v1'))).toEqual([200, '2', '1', '1800000120', null]);
});

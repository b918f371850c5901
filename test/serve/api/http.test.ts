import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { buildServer, plainServer } from '../../../src/serve/api/http.js';
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

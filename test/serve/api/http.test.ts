import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildServer, plainServer } from '../../../src/serve/api/http.js';
import { paginationOf } from '../../../src/serve/api/pagination.js';
import { errorLog } from '../../../src/serve/api/request-log.js';
import { errorBodySchema } from '../../../src/source/contract/key.js';
import { startSimulator } from '../../given/client-clock.js';
import { storeOf } from '../scripted-store.js';

it('answers a page of two websites from the one that the key may read', async () => {
  const shared = { domain: 'shared.example', pages: 30 };
  const simulator = await startSimulator({
    websites: [
      { id: 'foreign', ...shared },
      { id: 'own', ...shared },
    ],
    keys: [{ token: 'good', label: 'one', websites: ['own'] }],
  });
  const url = encodeURIComponent(simulator.world.listing('own', 1, 1).entries[0]?.url ?? '');
  const headers = { authorization: 'Bearer good' };
  const answer = await fetch(`${simulator.url}/v1/url-report?url=${url}`, { headers });
  expect(await answer.json()).toMatchObject({ service_link: expect.stringContaining('/websites/own/') });
});

it.each([
  [0, 10, 25, { next: 10, prev: null, end: false, current: 1, total: 3 }],
  [15, 10, 25, { next: null, prev: 5, end: true, current: 2, total: 3 }],
  [5, 10, 25, { next: 15, prev: 0, end: false, current: 1, total: 3 }],
  [0, 10, 0, { next: null, prev: null, end: true, current: 1, total: 1 }],
  [90, 10, 25, { next: null, prev: 80, end: true, current: 10, total: 3 }],
])('the pagination object of skip %i, limit %i of %i', (skip, limit, count, { next, prev, end, current, total }) => {
  const link = (from: number | null): string | null => (from === null ? null : `/v1/urls/w?skip=${from}&limit=10`);
  expect(paginationOf('/v1/urls/w', { skip, limit }, count)).toEqual({
    ...{ next_page: link(next), prev_page: link(prev), end, count, skip, limit },
    ...{ current_page: current, total_page: total },
  });
});

describe('a store that fails', () => {
  it('answers 500 without saying why, and reports the error to its owner', async () => {
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

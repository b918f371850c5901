import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorBodySchema } from '../../src/contract/key.js';
import { buildServer } from '../../src/service/http.js';
import type { Store } from '../../src/service/store.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';

const SHARED = { domain: 'shared.example', pages: 30 };
let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({
    websites: [
      { id: 'own', pages: 30 },
      { id: 'foreign', pages: 30 },
      { id: 'shared-own', ...SHARED },
      { id: 'shared-foreign', ...SHARED },
    ],
    keys: [{ token: 'good', label: 'one', websites: ['own', 'shared-own', 'gone'] }],
    maxLimit: 50,
  });
});
afterAll(() => simulator.close());

async function get(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown; headers: Headers }> {
  const answer = await fetch(simulator.url + path, { headers: { authorization: 'Bearer good' }, ...init });
  return { status: answer.status, body: await answer.json(), headers: answer.headers };
}

function firstUrl(website: string): string {
  return encodeURIComponent(simulator.world.listing(website, 1, 1).entries[0]?.url ?? '');
}

describe('statuses', () => {
  it.each(['/v1', '/v1/urls/own', '/v1/urls/nowhere', '/v1/url-report'])(
    '401 at %s without a known key',
    async (path) => {
      for (const authorization of ['', 'Bearer', 'Bearer bad', 'Basic good', 'good', 'Bearer good good']) {
        const answer = await get(path, { headers: { authorization } });
        expect([answer.status, answer.body]).toEqual([
          401,
          { error: 'unauthorized', message: expect.any(String), status: 401 },
        ]);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    },
  );

  it('answers a page of two websites from the one that the key may read', async () => {
    const answer = await get(`/v1/url-report?url=${firstUrl('shared-own')}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ service_link: expect.stringContaining('/websites/shared-own/') });
  });
});

describe('a store that fails', () => {
  const broken: Store = {
    findKey: async () => {
      throw new Error('secret place /var/lib');
    },
    hasWebsite: async () => true,
    listCoverage: async () => ({ entries: [], count: 0 }),
    findReports: async () => ({ reports: new Map(), elsewhere: new Set() }),
  };

  it('answers 500 without saying why, and reports the error to its owner', async () => {
    const reported: unknown[] = [];
    const app = buildServer(broken, { onError: (error) => reported.push(error) });
    const answer = await app.inject({ url: '/v1', headers: { authorization: 'Bearer x' } });
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toMatch(/secret|stack|at /);
    expect(errorBodySchema.parse(answer.json()).error).toBe('internal_error');
    expect(reported).toEqual([new Error('secret place /var/lib')]);
    await app.close();
  });
});

describe('options', () => {
  it.each([{ prefix: 'api' }, { prefix: '/api/' }, { prefix: '/:id' }, { maxLimit: 0 }])('refuses %o', (options) => {
    expect(() => buildServer({} as Store, options)).toThrow(TypeError);
  });
});

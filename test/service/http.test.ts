import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorBodySchema, keyDetailsSchema } from '../../src/contract/key.js';
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
  const cases: [name: string, path: () => string, status: number, error: string][] = [
    ['a website that the key was not granted', () => '/v1/urls/foreign', 403, 'forbidden'],
    ['an unknown website', () => '/v1/urls/nowhere', 404, 'not_found'],
    ['a granted website that is gone', () => '/v1/urls/gone', 404, 'not_found'],
    ['a negative skip', () => '/v1/urls/own?skip=-1', 400, 'bad_request'],
    ['a fractional skip', () => '/v1/urls/own?skip=1.5', 400, 'bad_request'],
    ['a skip beyond 32 bits', () => '/v1/urls/own?skip=2147483648', 400, 'bad_request'],
    ['an empty skip', () => '/v1/urls/own?skip=', 400, 'bad_request'],
    ['two skips', () => '/v1/urls/own?skip=1&skip=2', 400, 'bad_request'],
    ['a limit of 0', () => '/v1/urls/own?limit=0', 400, 'bad_request'],
    ['a limit in words', () => '/v1/urls/own?limit=all', 400, 'bad_request'],
    ['no url', () => '/v1/url-report', 400, 'bad_request'],
    ['an empty url', () => '/v1/url-report?url=', 400, 'bad_request'],
    ['a relative url', () => '/v1/url-report?url=%2Fblog%2F', 400, 'bad_request'],
    ['a url without a host', () => '/v1/url-report?url=data%3Atext%2Fplain%2Cx', 400, 'bad_request'],
    ['a page of another scheme', () => '/v1/url-report?url=ftp%3A%2F%2Fx.example%2F', 404, 'not_found'],
    ['two urls', () => `/v1/url-report?url=${firstUrl('own')}&url=${firstUrl('own')}`, 400, 'bad_request'],
    ['a page that is not monitored', () => '/v1/url-report?url=https%3A%2F%2Fx.example%2F', 404, 'not_found'],
    ['a page of a foreign website', () => `/v1/url-report?url=${firstUrl('foreign')}`, 403, 'forbidden'],
    ['an unknown path', () => '/v1/nothing', 404, 'not_found'],
    ['an unknown path outside', () => '/', 404, 'not_found'],
    ['a path that cannot be decoded', () => '/v1/urls/%zz', 400, 'bad_request'],
  ];
  it.each(cases)('%s', async (_name, path, status, error) => {
    const answer = await get(path());
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error, message: expect.any(String), status });
    expect(answer.headers.get('content-type')).toContain('application/json');
  });

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

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('405 for %s, whatever the body', async (method) => {
    for (const path of ['/v1', '/v1/urls/own', '/v1/url-report']) {
      const answer = await get(path, { method, body: '{', headers: { 'content-type': 'application/json' } });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect(errorBodySchema.parse(answer.body).error).toBe('method_not_allowed');
    }
  });

  it('answers a page of two websites from the one that the key may read', async () => {
    const answer = await get(`/v1/url-report?url=${firstUrl('shared-own')}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ service_link: expect.stringContaining('/websites/shared-own/') });
  });

  it('gives the details of the key', async () => {
    const details = keyDetailsSchema.parse((await get('/v1')).body);
    expect(details.api_key_label).toBe('one');
    expect(details.websites_access.map(({ _id }) => _id)).toEqual(['own', 'shared-own', 'gone']);
    expect(details.websites_access[0]?.url).toBe('example.com');
    expect(JSON.stringify(details)).not.toContain('good');
  });

  it('answers what is not HTTP with an error body too', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(simulator.url).port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
      let received = '';
      socket.on('data', (data) => {
        received += String(data);
      });
      socket.on('error', reject).on('close', () => resolve(received));
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(errorBodySchema.parse(JSON.parse(text.split('\r\n\r\n')[1] ?? ''))).toMatchObject({ status: 400 });
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

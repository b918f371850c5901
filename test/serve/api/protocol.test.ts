import { METHODS } from 'node:http';
import { beforeAll, expect, it } from 'vitest';
import type { Simulator } from '../../../src/app/demo/simulator/simulator.js';
import { startSimulator } from '../../given/client-clock.js';
import { connection } from '../client.js';

const KEY = 'Authorization: Bearer good\r\n';
const END = 'Host: x\r\nConnection: close\r\n\r\n';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({
    websites: [{ id: 'own', pages: 3 }],
    keys: [{ token: 'good', label: 'one', websites: 'all' }],
    prefix: '/api',
  });
});
async function answerTo(request: string): Promise<{ status: number; head: string; body: string }> {
  const { write, received } = connection(simulator.url);
  write(request);
  const text = (await received).replace('HTTP/1.1 100 Continue\r\n\r\n', '');
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]), head, body };
}

it('answers 405 to every other method, whatever comes with it, and 404 where there is nothing', async () => {
  const others = METHODS.filter((method) => !['GET', 'HEAD', 'CONNECT'].includes(method));
  const body = 'Content-Type: application/json\r\nContent-Length: 1\r\n';
  for (const path of ['/api/v1', '/api/v1/urls/own', 'http://x/api/v1', '/api/v1/?x']) {
    const answers = others.map((method) => answerTo(`${method} ${path} HTTP/1.1\r\n${body}${END}{`));
    for (const { status, head } of await Promise.all(answers)) {
      const isThere = path !== '/api/v1/?x';
      expect([path, status]).toEqual([path, isThere ? 405 : 404]);
      expect(/^allow: GET, HEAD$/im.test(head)).toBe(isThere);
    }
  }
});

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${KEY}${headers}${END}`;
const cases: [name: string, request: string, status: number][] = [
  ['an id that cannot be decoded', get('/api/v1/urls/%zz'), 400],
  ['an id of 5,000 characters', get(`/api/v1/urls/${'a'.repeat(5000)}`), 414],
  ['two keys', get('/api/v1', 'Authorization: Bearer bad\r\n'), 400],
  ['two hosts', get('/api/v1', 'Host: y\r\n'), 400],
  ['no host', `GET /api/v1 HTTP/1.1\r\n${KEY}Connection: close\r\n\r\n`, 400],
  ['a huge header', get('/api/v1', `X: ${'a'.repeat(70_000)}\r\n`), 431],
  ['two lengths of a body', get('/api/v1', 'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n'), 400],
  ['parameters named like parts of an object', get('/api/v1/urls/own?__proto__=1&constructor=2'), 200],
];
it.each(cases)('answers %s', async (_name, request, status) => {
  const answer = await answerTo(request);
  expect(answer.status).toBe(status);
  expect(answer.head).toMatch(/^content-type: application\/json/im);
  expect(answer.head).toMatch(/^x-content-type-options: nosniff$/im);
  if (status >= 400) expect(answer.body).toContain(`"status":${status}}`);
});

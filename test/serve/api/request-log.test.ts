import { expect, it, onTestFinished } from 'vitest';
import { addressesIn } from '../../../src/serve/api/addresses.js';
import { buildServer } from '../../../src/serve/api/http.js';
import { requestLog } from '../../../src/serve/api/request-log.js';
import { storeOf } from '../scripted-store.js';

const TOKEN = `ih_${'x'.repeat(43)}`;

function logged() {
  const lines: unknown[] = [];
  const log = {
    isLevelEnabled: (each: string) => each === 'debug',
    debug: (line: object) => void lines.push(line),
  };
  const trustProxy = addressesIn(['127.0.0.1']);
  const options = requestLog(log);
  const app = buildServer(storeOf(new Map([['w', [{ url: 'https://w.example/' }]]])), { ...options, trustProxy });
  onTestFinished(() => app.close());
  return { app, lines };
}

it('says of each request what was asked, by whom, and what it cost; and no token', async () => {
  const { app, lines } = logged();
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-forwarded-for': '192.0.2.1' };
  const { body } = await app.inject({ url: '/v1/urls/w?limit=1', headers });
  await app.inject({ method: 'HEAD', url: '/v1/urls/w', headers });
  await app.inject({ url: `/v1/urls/%1b?api_key=abc&limit=1&token=${TOKEN}&x=${TOKEN}\u202e`, headers });
  await app.inject({ method: 'POST', url: `/${TOKEN}` });
  // Of a path that is cut short, too.
  await app.inject({ url: `/${'p'.repeat(1970)}${TOKEN}` });
  const from = { key: 'scripted', address: '192.0.2.1', ms: expect.any(Number) };
  const bytes = Buffer.byteLength(body);
  expect(lines).toEqual([
    { ...from, method: 'GET', path: '/v1/urls/w?limit=1', status: 200, bytes },
    { ...from, method: 'HEAD', path: '/v1/urls/w', status: 200, bytes: 0 },
    expect.objectContaining({
      path: expect.stringMatching(/^\/v1\/urls\/%1b\?api_key=\[secret\]&limit=1&token=\[secret\]&x=\[secret\]/),
    }),
    { ...from, method: 'POST', path: '/[secret]', status: 404, bytes: 77, key: null, address: '127.0.0.1' },
    expect.objectContaining({ status: 404 }),
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/ih_|abc|\u202e/);
});

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConnectionLimits } from '../../../src/serve/api/connections.js';
import { buildServer } from '../../../src/serve/api/http.js';
import { errorBodySchema } from '../../../src/source/contract/key.js';
import { connection } from '../client.js';
import { storeOf } from '../scripted-store.js';

/** Of which both sides hold far less in their buffers. */
const LONG_BYTES = 32_000_000;
const IMPATIENT: Partial<ConnectionLimits> = { headersMs: 40, requestMs: 60, stalledMs: 40, checkMs: 10 };

async function serving(connections: Partial<ConnectionLimits> = IMPATIENT) {
  const app = buildServer(storeOf(new Map()), {
    connections,
    setup: (server) => {
      server.post('/form', async () => 'taken');
      server.get('/long', async () => Buffer.alloc(LONG_BYTES));
    },
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  return { app, url };
}

function statusOf(answer: string): number {
  expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /);
  return Number(answer.slice(9, 12));
}

function errorOf(answer: string): unknown {
  return errorBodySchema.parse(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)));
}

describe('a client that goes no further', () => {
  it.each([
    ['nothing', ''],
    ['half a body', 'POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'],
  ])('gets a 408 when it sends %s', async (_name, sent) => {
    const { url } = await serving();
    const { write, received } = connection(url);
    write(sent);
    const answer = await received;
    expect(statusOf(answer)).toBe(408);
    expect(answer).toContain('\r\nConnection: close\r\n');
    expect(errorOf(answer)).toMatchObject({ error: 'request_timeout', status: 408 });
  });

  it('is disconnected if it does not read its answer', async () => {
    const { app, url } = await serving();
    const accepted = once(app.server, 'connection');
    const client = connect(Number(new URL(url).port), '127.0.0.1').pause();
    onTestFinished(() => void client.destroy());
    client.write('GET /long HTTP/1.1\r\nHost: x\r\n\r\n');
    const [socket]: Socket[] = await accepted;
    await once(socket as Socket, 'close');
    let received = 0;
    client.on('data', (piece) => (received += piece.length));
    client.on('error', () => {}).resume();
    await once(client, 'close');
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThan(LONG_BYTES);
  });

  it('is disconnected after the refusal of a request that never ends, even if it goes on sending', async () => {
    const { app, url } = await serving();
    const accepted = once(app.server, 'connection');
    const client = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    const sending = setInterval(() => client.write('x'), 10);
    onTestFinished(() => clearInterval(sending));
    const gone = new Promise((resolve) => client.on('error', () => {}).once('close', resolve));
    client.write('GET /long');
    const [socket]: Socket[] = await accepted;
    await gone;
    expect(socket?.destroyed).toBe(true);
  });

  it('does not end the service when it resets its connection after CONNECT', async () => {
    const { app, url } = await serving({});
    const accepted = once(app.server, 'connection');
    const client = connect(Number(new URL(url).port), '127.0.0.1');
    client.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
    const [socket]: Socket[] = await accepted;
    await once(app.server, 'connect');
    client.resetAndDestroy();
    await expect.poll(() => socket?.destroyed, { timeout: 10_000 }).toBe(true);
    expect((await fetch(url)).status).toBe(404);
  });
});

describe('connections of one address', () => {
  it('are refused beyond the number, until one of them ends', async () => {
    const { url, app } = await serving({ perAddress: 2 });
    const port = Number(new URL(url).port);
    const open = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all(open.map((socket) => once(socket, 'connect')));
    const refused = await connection(url).received;
    expect([statusOf(refused), errorOf(refused)]).toMatchObject([429, { error: 'rate_limit_exceeded' }]);
    open[0]?.destroy();
    await new Promise<void>((resolve) => {
      const look = () => app.server.getConnections((_, count) => (count < 2 ? resolve() : setImmediate(look)));
      look();
    });
    expect((await fetch(url)).status).toBe(404);
    open[1]?.destroy();
  });

  it('are not counted where it connects for others', async () => {
    const { url } = await serving({ perAddress: 0, isProxy: (address) => address.includes('127.0.0.1') });
    expect((await fetch(url)).status).toBe(404);
  });
});

it('answers what came before in a row, and then what it could not read', async () => {
  const { url } = await serving({});
  const { write, received } = connection(url);
  write('GET /v1 HTTP/1.1\r\nHost: x\r\n\r\nNONSENSE\r\n\r\n');
  expect((await received).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 400']);
});

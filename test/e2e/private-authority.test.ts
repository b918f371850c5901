import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.js';
import { testAtLength } from '../given/at-length.js';
import { HAS_OPENSSL, makeCertificate } from '../given/certificate.js';
import { runProcess } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The simulator behind TLS, as behind a company's reverse proxy. */
async function secured(folder: string): Promise<string> {
  const simulator = await startSimulator({ websites: [{ id: 'w', pages: 5 }] });
  onTestFinished(() => simulator.close());
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name)));
  const server = createTlsServer({ key, cert }, ({ url, headers }, response) => {
    const inner = request(new URL(url ?? '', simulator.url), { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    inner.end();
  });
  return `https://127.0.0.1:${await listening(server)}`;
}

/** A proxy that opens tunnels, and which were asked for. */
async function tunnels(): Promise<{ proxy: string; opened: string[] }> {
  const opened: string[] = [];
  const server = createServer().on('connect', ({ url = '' }: IncomingMessage, socket: Socket) => {
    opened.push(url);
    const [host = '', port = ''] = url.split(':');
    const outer = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      outer.pipe(socket).pipe(outer);
    });
    for (const end of [outer, socket]) end.on('error', () => [outer, socket].map((each) => each.destroy()));
  });
  return { proxy: `http://127.0.0.1:${await listening(server)}`, opened };
}

/** A service behind a certificate of an authority that nobody knows, and a sync of it in a process of its own. */
async function given() {
  const folder = temporaryFolder();
  makeCertificate(folder);
  const baseUrl = await secured(folder);
  const config = writeConfig(folder, { baseUrl, websites: ['w'] });
  const sync = (env: Record<string, string>) => runProcess(['sync', '--json', '--config', config], { env });
  return { baseUrl, sync, trusted: { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } };
}

test.runIf(HAS_OPENSSL)('a sync trusts no authority that nobody named, and says how to name one', async () => {
  const { sync } = await given();
  const refused = await sync({});
  expect(refused.code).toBe(1);
  const [{ error }] = JSON.parse(refused.stdout).websites;
  expect(error).toMatch(
    /^the certificate of https:\/\/127\.0\.0\.1:\d+ is not trusted: .*; if your own certificate authority signed it, set NODE_EXTRA_CA_CERTS to its PEM file; otherwise check api\.base_url/,
  );
  expect(refused.stderr.split('\n').filter((line) => line.includes('NODE_EXTRA_CA_CERTS'))).toHaveLength(1);
});

if (HAS_OPENSSL) {
  testAtLength('a sync trusts the authority that NODE_EXTRA_CA_CERTS names', async () => {
    const { sync, trusted } = await given();
    expect(JSON.parse((await sync(trusted)).stdout).websites).toMatchObject([{ status: 'committed' }]);
  });
  testAtLength('behind a proxy, too', throughProxy);
}

async function throughProxy(): Promise<void> {
  const { baseUrl, sync, trusted } = await given();
  const { proxy, opened } = await tunnels();
  expect(JSON.parse((await sync({ ...trusted, HTTPS_PROXY: proxy })).stdout).websites).toMatchObject([
    { status: 'committed' },
  ]);
  expect(new Set(opened)).toEqual(new Set([new URL(baseUrl).host]));
}

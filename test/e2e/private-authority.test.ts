import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../src/app/demo/simulator/simulator.js';
import { testAtLength } from '../given/at-length.js';
import { HAS_OPENSSL, makeCertificate } from '../given/certificate.js';
import { runProcess } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { listenOnLoopback } from '../given/loopback.js';

/** The simulator behind TLS, as behind a company's reverse proxy. */
async function secured(folder: string): Promise<string> {
  const simulator = await startSimulator({ websites: [{ id: 'w', pages: 5 }] });
  onTestFinished(() => simulator.close());
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name)));
  const server = createServer({ key, cert }, ({ url, headers }, response) => {
    const inner = request(new URL(url ?? '', simulator.url), { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    inner.end();
  });
  const { url, close } = await listenOnLoopback(server);
  onTestFinished(close);
  return url.replace('http', 'https');
}

/** A service behind a certificate of an unknown authority, and a sync of it in a process of its own. */
async function given() {
  const folder = temporaryFolder();
  makeCertificate(folder);
  const config = writeConfig(folder, { baseUrl: await secured(folder), websites: ['w'] });
  const sync = (env: Record<string, string>) => runProcess(['sync', '--json', '--config', config], { env });
  return { sync, trusted: { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } };
}

test.runIf(HAS_OPENSSL)('a sync does not trust an unknown authority, and says how to name one', async () => {
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
}

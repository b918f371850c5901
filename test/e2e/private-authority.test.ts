import { request } from 'node:http';
import { createServer } from 'node:https';
import { expect, onTestFinished, test } from 'vitest';
import { testAtLength } from '../given/at-length.js';
import { AUTHORITY, CERTIFICATE } from '../given/certificate.js';
import { runProcess } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { listenOnLoopback } from '../given/loopback.js';

/** The simulator behind TLS, as behind a company's reverse proxy. */
async function secured(): Promise<string> {
  const simulator = await startSimulator({ websites: [{ id: 'w', pages: 5 }] });
  const server = createServer(CERTIFICATE, ({ url, headers }, response) => {
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
  const config = writeConfig(temporaryFolder(), { baseUrl: await secured(), websites: ['w'] });
  return (env: Record<string, string>) => runProcess(['sync', '--json', '--config', config], { env });
}

test('a sync does not trust an unknown authority, and says how to name one', async () => {
  const sync = await given();
  const refused = await sync({});
  expect(refused.code).toBe(1);
  const [{ error }] = JSON.parse(refused.stdout).websites;
  expect(error).toMatch(
    /^the certificate of https:\/\/127\.0\.0\.1:\d+ is not trusted: .*; if your own certificate authority signed it, set NODE_EXTRA_CA_CERTS to its PEM file; otherwise check api\.base_url/,
  );
  expect(
    refused.stderr.split('\n').filter((line) => /"level":"(warn|error)".*NODE_EXTRA_CA_CERTS/.test(line)),
  ).toHaveLength(1);
});

testAtLength('a sync trusts the authority that NODE_EXTRA_CA_CERTS names', async () => {
  const sync = await given();
  const { stdout } = await sync({ NODE_EXTRA_CA_CERTS: AUTHORITY });
  expect(JSON.parse(stdout).websites).toMatchObject([{ status: 'committed' }]);
});

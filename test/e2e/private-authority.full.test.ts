import { request } from 'node:http';
import { createServer } from 'node:https';
import { expect, onTestFinished, test } from 'vitest';
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

test('a sync does not trust an unknown authority, says how to name one, and trusts the one that is named', async () => {
  const config = writeConfig(temporaryFolder(), { baseUrl: await secured(), websites: ['w'] });
  const sync = (env: Record<string, string>) => runProcess(['sync', '--json', '--config', config], { env });
  const refused = await sync({});
  expect(refused.code).toBe(1);
  const [{ error }] = JSON.parse(refused.stdout).websites;
  expect(error).toMatch(
    /^the certificate of https:\/\/127\.0\.0\.1:\d+ is not trusted: .*; if your own certificate authority signed it, set NODE_EXTRA_CA_CERTS to its PEM file; otherwise check api\.base_url/,
  );
  const said = refused.stderr.split('\n').filter((line) => /"level":"(warn|error)".*NODE_EXTRA_CA_CERTS/.test(line));
  expect(said).toHaveLength(1);
  const { stdout } = await sync({ NODE_EXTRA_CA_CERTS: AUTHORITY });
  expect(JSON.parse(stdout).websites).toMatchObject([{ status: 'committed' }]);
});

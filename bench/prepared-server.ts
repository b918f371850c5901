import { createServer } from 'node:http';
import { World } from '../src/app/demo/simulator/world.js';

/**
 * A service with next to no work of its own: every report is one prepared body of about 1.5 KB in which the page's URL
 * is laid in. So what a client costs shows, and not what the service does. `/cpu` names the seconds that it computed.
 */
const BODY_CHARACTERS = 1500;
const QUERY = '/v1/url-report?url=';
const PREPARED_FOR = 500;

function preparedBody(): string[] {
  const world = new World();
  const [website] = world.websites;
  let best: { url: string; text: string } | null = null;
  let pages = 0;
  for (const { report } of world.pages(website?.id ?? '')) {
    const text = JSON.stringify(report);
    if (!best || distance(text) < distance(best.text)) best = { url: report.url, text };
    if (++pages === PREPARED_FOR) break;
  }
  if (!best) throw new Error('the simulated world has no page');
  return best.text.split(best.url);
}

function distance(text: string): number {
  return Math.abs(text.length - BODY_CHARACTERS);
}

const pieces = preparedBody();
const server = createServer((request, response) => {
  if (request.url === '/cpu') {
    const { user, system } = process.cpuUsage();
    response.end(JSON.stringify({ seconds: (user + system) / 1e6 }));
    return;
  }
  const body = Buffer.from(pieces.join(decodeURIComponent(request.url?.slice(QUERY.length) ?? '')));
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length });
  response.end(body);
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  process.stdout.write(`${JSON.stringify({ base_url: `http://127.0.0.1:${port}` })}\n`);
});
process.on('SIGTERM', () => process.exit(0));

import { once as nextEvent } from 'node:events';
import { request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { judged, readStatus } from '../../../src/answers/status/status.js';
import { STATUS_DEFAULTS } from '../../../src/answers/status/status-input.js';
import { KeyClients } from '../../../src/serve/assistant/clients.js';
import { addKey } from '../../../src/serve/keys/manage-keys.js';
import { run } from '../../given/cli.js';
import { serviceOver } from '../../given/served.js';
import { keyTo } from '../../given/service.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { asking, call, ENDLESS, NIGHTS } from './given.js';

const built = sharedWarehouse(() => buildWarehouse(NIGHTS));
let url: string;
const tokens = { shop: '', other: '' };
beforeAll(async () => {
  for (const label of ['shop', 'other'] as const) {
    tokens[label] = (await addKey(built.path, { label, websites: [label] })).token;
  }
  const service = await serviceOver(built.path, {}, { prefix: '/tenant' });
  url = service.url;
  return service.close;
});

async function clientOf(token: string): Promise<Client> {
  const headers = { authorization: `Bearer ${token}` };
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  await client.listTools();
  return client;
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function post(body: unknown, headers: Record<string, string> = {}) {
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...HEADERS, authorization: `Bearer ${tokens.shop}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

describe('two keys', () => {
  /** What each tool is asked by the key of `shop`, its own things and those of others. */
  const asked = (website: string, url: string): [string, Record<string, unknown>][] => [
    ['list_analyses', {}],
    ['status', { website }],
    ['report', { website }],
    ['page', { url }],
    ['run_analysis', { name: 'indexing_trend', parameters: { website } }],
    ['query_sql', { sql: `select * from pages where url = '${url}'` }],
  ];
  const FOREIGN = /other\.example|"other"|website=other|\bother\b/;

  it('do not see each other, whatever tool they ask, and a foreign website is as one that is not there', async () => {
    const client = await clientOf(tokens.shop);
    const foreign = asked('other', 'https://other.example/blog/000');
    const missing = asked('nobody', 'https://nobody.example/blog/000');
    const hidden = async ([name, given]: [string, Record<string, unknown>]) => {
      const { error, content, text } = await call(client, name, given);
      return JSON.stringify([error, content, text])
        .replaceAll(/https:\/\/(other|nobody)\.example|\\?"(other|nobody)\\?"/g, 'ASKED')
        .replaceAll(/"checked_at":"[^"]*"|"age_seconds":\d+|_seconds":\d+/g, 'TIME');
    };
    for (const [at, one] of foreign.entries()) {
      const answer = await hidden(one);
      expect([one, answer]).toEqual([one, await hidden(missing[at] ?? one)]);
      expect([one, answer]).toEqual([one, expect.not.stringMatching(FOREIGN)]);
    }
  });

  it('see of a status neither folders of the machine nor who else writes to the bucket', async () => {
    const input = { ...STATUS_DEFAULTS, warehouse: built.path, now: Date.parse('2025-03-04T00:00:00Z') };
    const followers = [{ name: 'bucket', behind: 1, exact: false, held: null, error: 'secret' }];
    const whole = judged({ ...(await readStatus(input)), set_aside: ['/secret'], clock: 'secret', followers }, input);
    expect(JSON.stringify(whole.warnings)).toMatch(/the bucket .*secret/);
    const status = async () => whole;
    const own = { warehouse: built.path, memoryLimit: 256e6, version: 'test', status, statusInput: input };
    const clients = new KeyClients(own);
    const seen = await clients.clientOf(keyTo(['shop']), new AbortController().signal).status();
    expect(seen.websites.map(({ website_id }) => website_id)).toEqual(['shop']);
    expect(JSON.stringify(seen)).not.toMatch(new RegExp(`secret|${built.path}`));
    clients.close();
  });
});

describe('the address', () => {
  it('answers nobody without a key, nor pages of other origins or hosts', async () => {
    for (const [headers, status] of [
      [{ authorization: '' }, 401],
      [{ authorization: 'Bearer ih_no' }, 401],
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ origin: new URL(url).origin }, 200],
    ] as const)
      expect([headers, (await post(PING, headers)).status]).toEqual([headers, status]);
    const { hostname, port, pathname } = new URL(`${url}/mcp`);
    const headers = { ...HEADERS, host: 'evil.example', authorization: `Bearer ${tokens.shop}` };
    const rebound = request({ hostname, port, path: pathname, method: 'POST', headers });
    rebound.end(JSON.stringify(PING));
    const [answer] = await nextEvent(rebound, 'response');
    expect(answer.statusCode).toBe(421);
    answer.resume();
  });

  it('takes one message a request, of bounded size', async () => {
    expect(await (await post(PING)).json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    for (const body of [[PING, PING], '{', { jsonrpc: '1.0' }]) expect((await post(body)).status).toBe(400);
    expect((await post('x', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(' '.repeat(300_000))).status).toBe(413);
    expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    expect((await fetch(`${url}/mcp`, { headers: { accept: 'text/event-stream' } })).status).toBe(405);
  });
});

it('a client that dies frees the engine', async () => {
  const dying = new AbortController();
  const asked = asking(url, tokens.other, ENDLESS, dying.signal).catch(() => null);
  const processes = () => process.getActiveResourcesInfo().filter((resource) => resource === 'ProcessWrap');
  await vi.waitFor(() => expect(processes()).toHaveLength(1), { timeout: 60_000 });
  dying.abort();
  await asked;
  await vi.waitFor(() => expect(processes()).toEqual([]), { timeout: 10_000 });
});

it('`indexhouse mcp` answers what was asked before stdin ended, and ends', async () => {
  const clientInfo = { name: 'pipe', version: '1' };
  const requests = [
    { method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'tools/call', params: { name: 'list_analyses', arguments: {} } },
  ];
  const typed = requests.map((request, id) => JSON.stringify({ jsonrpc: '2.0', id, ...request }));
  const { code, stdout, stderr } = await run(['mcp', '--warehouse', built.path], { typed });
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toMatchObject([
    { id: 0, result: { serverInfo: { name: 'indexhouse' } } },
    { id: 1, result: { structuredContent: { details: null } } },
  ]);
  expect([code, stderr]).toEqual([0, expect.stringContaining('answering on stdin and stdout')]);
});

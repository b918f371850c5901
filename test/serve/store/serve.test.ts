import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { STATUS_DEFAULTS } from '../../../src/answers/status/status-input.js';
import type { ServiceOptions } from '../../../src/app/cli/serving/running-service.js';
import type { Config } from '../../../src/base/config/schema.js';
import { createLogger } from '../../../src/base/observe/log.js';
import { addKey, revokeKey } from '../../../src/serve/keys/manage-keys.js';
import { warehouseFolder } from '../../../src/warehouse/log/folder/layout.js';
import { run, start } from '../../given/cli.js';
import { serviceOver } from '../../given/served.js';
import type { GivenPage } from '../../given/service.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { connection } from '../client.js';
import { Visitor } from '../dashboard/visitor.js';

function pages(site: string, count: number): GivenPage[] {
  const found = { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed' };
  return Array.from({ length: count }, (_, index) => {
    return { url: `https://${site}.example/page?n=${index}&x=%2F#ü`, entry: found, report: found };
  });
}

const built = sharedWarehouse(() =>
  buildWarehouse([{ at: '2025-03-01T02:00:00Z', lists: { shop: pages('shop', 5), blog: pages('blog', 4) } }]),
);

async function served(settings: Partial<Config['service']> = {}, options: Partial<ServiceOptions> = {}) {
  const service = await serviceOver(built.path, settings, options);
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= service.close());
  onTestFinished(close);
  return { ...service, close };
}

async function added(label: string, websites: 'all' | string[] = 'all'): Promise<{ id: string; token: string }> {
  const { key, token } = await addKey(built.path, { label, websites });
  onTestFinished(async () => void (await revokeKey(built.path, key.id).catch(() => {})));
  return { id: key.id, token };
}

async function statusOf(url: string, path: string, token: string): Promise<number> {
  return (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).status;
}

/** What `/healthz` answers to a key, or to a stranger. */
async function healthOf(url: string, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/healthz`, { headers });
  return [answer.status, await answer.json()];
}

describe('indexhouse serve', () => {
  it('/healthz tells a stranger nothing but whether all is well, and a key what its websites need', async () => {
    const due = { schedule: { cron: '0 2 * * *', timeZone: 'UTC' } };
    const [shop, all] = [await added('one', ['shop']), await added('whole')];
    const { url } = await served({}, { status: { ...STATUS_DEFAULTS, warehouse: built.path, now: 0, due } });
    const visitor = new Visitor(url);
    await visitor.signIn(shop.token);
    // The first page of the dashboard starts with the verdict on the websites that one may see.
    const verdict = 'Last night needs attention: 1 of 1 website (1 old snapshot)';
    expect((await visitor.get('/dashboard/')).text).toContain(`<p class="warning" role="alert">${verdict}`);
    const overdue = expect.stringMatching(/^no run since .* was due at .* by schedule.nightly-sync/);
    const ofShop = { status: 'warnings', waiting: null, overdue: null, stale: ['shop'], websites: 1, commits: 1 };
    const ofAll = { status: 'warnings', overdue, stale: ['blog', 'shop'], websites: 2, commits: 2 };
    expect(await healthOf(url)).toEqual([503, { status: 'not ok' }]);
    expect(await healthOf(url, shop.token)).toEqual([503, expect.objectContaining(ofShop)]);
    expect(await healthOf(url, all.token)).toEqual([503, expect.objectContaining(ofAll)]);
  });

  it('gives metrics, those of a limited key without this machine and other websites', async () => {
    const { run: runFile, notices } = warehouseFolder(built.path);
    const failed = { blog: { run_id: 'z', error: 'no' }, '*': { run_id: 'z', error: 'no' } };
    const started_at = '2025-03-01T02:00:00.000Z';
    writeFileSync(runFile, JSON.stringify({ started_at, waiting: null, stopped: null, clock: 'it is slow', failed }));
    const failing = { since: started_at, error: 'down' };
    writeFileSync(notices, JSON.stringify({ channels: { a: { waiting: [1], failing } } }));
    onTestFinished(() => [runFile, notices].forEach((file) => void rmSync(file)));
    const { url } = await served();
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    const metrics = async (websites: 'all' | string[]) => {
      const { token } = await added(String(websites), websites);
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
      const text = await answer.text();
      return [text.includes('"blog"'), ...(text.match(/^indexhouse_(warn|exit|notices|follower).*/gm) ?? [])];
    };
    // One warning: the snapshot of `shop` is old.
    const limited = ['indexhouse_notices_waiting 0', 'indexhouse_warnings 1', 'indexhouse_exit_code 3'];
    expect(await metrics(['shop'])).toEqual([false, ...limited]);
    const whole = ['indexhouse_notices_waiting 1', 'indexhouse_warnings 7', 'indexhouse_exit_code 1'];
    const followers = ['duckdb', 'analytics'].map((name) => `indexhouse_follower_behind{follower="${name}"} 2`);
    expect(await metrics('all')).toEqual([true, ...followers, ...whole]);
  });

  it('logs each request for who asks for it, ends at SIGTERM, and never says a token', async () => {
    const { code, stdout } = await run(
      ['keys', 'add', '--label', 'curl', '--website', 'https://shop.example', '--warehouse', built.path],
      {},
    );
    // Before anything is expected: a key that stays would let a later test serve to everybody.
    onTestFinished(async () => void (await revokeKey(built.path, 'curl')));
    const token = /^Token: (ih_\S+)$/m.exec(stdout)?.[1] ?? '';
    expect({ code, token }).toEqual({ code: 0, token: expect.stringMatching(/^ih_[A-Za-z0-9_-]{43}$/) });
    const flags = ['--log-level', 'debug', '--prefix', '/tenant/api'];
    const running = start(['serve', '--json', '--port', '0', '--warehouse', built.path, ...flags]);
    await running.spoken;
    const url = z.object({ base_url: z.string() }).parse(JSON.parse(running.printed())).base_url;
    onTestFinished(() => running.kill('SIGKILL'));
    expect(await statusOf(url, '/v1/urls/shop?limit=1', token)).toBe(200);
    expect(await statusOf(url, `/v1/urls/${encodeURIComponent('\u001b[2J')}?token=${token}`, token)).toBe(404);
    running.kill('SIGTERM');
    const ended = await running.ended;
    expect(ended).toMatchObject({ code: 0, signal: null });
    const lines = ended.stderr.trim().split('\n');
    const asked = { level: 'debug', method: 'GET', status: 200, ms: expect.any(Number), key: 'curl' };
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { ...asked, path: '/tenant/api/v1/urls/shop?limit=1' },
      { path: '/tenant/api/v1/urls/%1B%5B2J?token=[secret]', status: 404, key: 'curl' },
    ]);
    const listed = await run(['keys', 'list', '--json', '--warehouse', built.path]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ label: 'curl', websites: ['shop'], expires_at: null }]);
    for (const text of [ended.stdout, ended.stderr, listed.stdout]) {
      expect(text).not.toContain(token.slice(3));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal would obey them
      expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
      expect(text).not.toContain('sha256');
    }
  });

  it('begins beyond loopback only once there is a key', async () => {
    const refused = await run(['serve', '--host', '0.0.0.0', '--port', '0', '--warehouse', built.path]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(` keys add --label reader --website all --warehouse ${built.path}`);
  });
});

describe('the service', () => {
  it('believes a trusted proxy, answers to its own names, and logs', async () => {
    const { token } = await added('proxied');
    const text: string[] = [];
    const logger = createLogger({ level: 'debug', destination: { write: (line) => void text.push(line) } });
    const { url } = await served({ trust_proxy: ['127.0.0.0/8'], allowed_hosts: ['house.example'] }, { logger });
    const statusAt = async (host: string) => {
      const headers = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-host': host };
      return (await fetch(`${url}/v1`, { headers: { ...headers, authorization: `Bearer ${token}` } })).status;
    };
    expect([await statusAt('house.example'), await statusAt('evil.example')]).toEqual([200, 421]);
    expect(JSON.parse(text[0] ?? '')).toMatchObject({ path: '/v1', status: 200, key: 'proxied', address: '192.0.2.1' });
  });

  it('says what is in its way where it cannot listen', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const reason = `127.0.0.1, port ${port}: another process listens there. End it, or choose`;
    await expect(served({ port })).rejects.toThrow(reason);
  });

  it('answers what is under way when it ends, and takes nothing new', async () => {
    const { token } = await added('slow');
    const { url, close } = await served();
    const slow = connection(url);
    slow.write(`GET /v1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`);
    // An answer on a later connection: the first one's bytes have been read by then.
    expect(await statusOf(url, '/v1', token)).toBe(200);
    const closed = close();
    slow.write('\r\n');
    expect(await slow.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"api_key_label":"slow"/);
    await closed;
    await expect(fetch(url)).rejects.toThrow();
  });
});

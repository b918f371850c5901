import { join } from 'node:path';
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { STATUS_DEFAULTS } from '../../../src/answers/status/status-input.js';
import { createLogger } from '../../../src/base/observe/log.js';
import { addKey } from '../../../src/serve/keys/manage-keys.js';
import { BucketCache } from '../../../src/warehouse/bucket/cache.js';
import { type GivenBucket, startBucket } from '../../given/bucket.js';
import { copyTo, page, putBack } from '../../given/bucket-copy.js';
import { temporaryFolder } from '../../given/folder.js';
import { MEMORY_LIMIT, serviceOver } from '../../given/served.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

let server: GivenBucket;
let stored: GivenBucket['objects'];

const built = sharedWarehouse(() =>
  buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { shop: [page('p')] } },
    { at: '2025-03-02T02:00:00Z', lists: { shop: [page('p'), page('q')] } },
  ]),
);
beforeAll(async () => {
  server = await startBucket({ prefix: '/nights' });
  await copyTo(server, built.path);
  stored = new Map(server.objects);
});
beforeEach(() => {
  putBack(server, stored);
});

/** Takes the second night out of the bucket. */
function onlyTheFirstNight(): void {
  for (const key of server.objects.keys()) if (/date=2025-03-02/.test(key)) server.objects.delete(key);
}

async function served({ timeout = 200 } = {}) {
  const folder = join(temporaryFolder(), 'cache');
  const options = { env: {}, attempts: 1, timeout };
  const cache = await BucketCache.open({
    bucket: server.config,
    folder,
    historyDays: 100,
    memoryLimit: MEMORY_LIMIT,
    options,
  });
  await cache.refresh();
  const { token } = await addKey(folder, { label: 'me', websites: 'all' });
  const lines: string[] = [];
  const logger = createLogger({ pretty: false, destination: { write: (line) => lines.push(line) } });
  const status = { ...STATUS_DEFAULTS, warehouse: folder, cache, now: 0 };
  const service = await serviceOver(folder, {}, { cache, refreshMs: 20, status, logger });
  onTestFinished(async () => {
    await service.close();
    await cache.close();
  });
  const headers = { authorization: `Bearer ${token}` };
  const ask = async (path: string) => {
    const answer = await fetch(`${service.url}${path}`, { headers });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  return { ask, lines, service, cache, listed: async () => (await ask('/v1/urls/shop')).body.pagination.count };
}

test('serves a commit soon after it is in the bucket', async () => {
  onlyTheFirstNight();
  const { ask, listed } = await served();
  expect(await listed()).toBe(1);
  for (const [key, one] of stored) server.objects.set(key, one);
  await vi.waitFor(async () => expect(await listed()).toBe(2), 10_000);
  expect((await ask('/healthz')).body).toMatchObject({ status: 'warnings', commits: 2 });
});

test('answers from what it has while the bucket is down or silent, and says how old that is', async () => {
  const { ask, listed, lines } = await served();
  expect(await listed()).toBe(2);
  const before = (await ask('/healthz')).body.bucket_read_at;
  const faults = ['cut', 'silent'] as const;
  for (const fault of faults) {
    server.fault = () => fault;
    await vi.waitFor(async () => expect((await ask('/healthz')).body.status).toBe('degraded'), 10_000);
    const { body } = await ask('/healthz');
    expect(Date.parse(body.bucket_read_at)).toBeGreaterThanOrEqual(Date.parse(before));
    expect((await ask('/healthz')).body.bucket_read_at).toBe(body.bucket_read_at);
    expect(await listed()).toBe(2);
    server.fault = null;
    await vi.waitFor(async () => expect((await ask('/healthz')).body.status).toBe('warnings'), 10_000);
  }
  expect((await ask('/v1/url-report?url=https://a.example/q')).status).toBe(200);
  const messages = lines.map((line) => JSON.parse(line).msg);
  expect(messages.filter((line) => line === 'the bucket cannot be read')).toHaveLength(faults.length);
  expect(messages.filter((line) => line === 'the bucket can be read again')).toHaveLength(faults.length);
});

test('ends at once while it waits for a silent bucket', async () => {
  const { service, cache } = await served({ timeout: 60_000 });
  const asked = server.requests.length;
  server.fault = () => 'silent';
  await vi.waitFor(() => expect(server.requests.length).toBeGreaterThan(asked), 10_000);
  await service.close();
  await cache.close();
  expect(cache.failure).toMatch(/destroyed/);
});

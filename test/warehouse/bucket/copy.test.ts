import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type GivenBucket, startBucket } from '../../given/bucket.js';
import { buildOddNights, copiedFiles, copyTo, expectNoMarkerBeforeItsFiles } from '../../given/bucket-copy.js';
import { sharedWarehouse } from '../../given/warehouse.js';

let server: GivenBucket;

const built = sharedWarehouse(buildOddNights);
beforeAll(async () => {
  server = await startBucket({ pageSize: 5, prefix: '/nights' });
});
beforeEach(() => {
  server.objects.clear();
  server.requests.length = 0;
  server.fault = null;
  server.now = Date.now;
});

/** By key, without the prefix and the owner. */
function held(): Map<string, Buffer> {
  const all = [...server.objects].map(([key, { body }]) => [key.replace(/^nights\//, ''), body] as const);
  return new Map(all.filter(([key]) => key !== 'owner.json'));
}

/** Of a website's states only the newest two are kept here, and the newest alone there if it came with several nights. */
function expectEqual(warehouse: string) {
  const files = copiedFiles(warehouse);
  for (const [key, body] of held()) expect(files.get(key)?.equals(body), key).toBe(true);
  for (const key of files.keys()) if (!key.startsWith('state/')) expect([...held().keys()]).toContain(key);
  expect([...held().keys()].filter((key) => key.startsWith('state/'))).not.toEqual([]);
}

describe('the bucket', () => {
  test('holds the files of the warehouse under keys without %, and takes each once', async () => {
    expect(await copyTo(server, built.path)).toEqual({ name: 'bucket', behind: 0 });
    expectEqual(built.path);
    expect([...held().keys()].join('')).not.toMatch(/[%\s*]/);
    expect([...held().keys()].filter((key) => key.includes('website=a!2Fb!20!C3!A9!25!2A/'))).not.toEqual([]);
    server.requests.length = 0;
    await copyTo(server, built.path);
    expect(server.requests.filter((request) => /^(PUT|DELETE) .*parquet/.test(request))).toEqual([]);
    // A restore that has just begun may still fetch the state before the newest one, but none before that.
    for (const id of [0, 1])
      server.objects.set(`nights/state/website=shop/00${id}.parquet`, { body: Buffer.of(), modified: new Date() });
    await copyTo(server, built.path);
    const states = [...held().keys()].filter((key) => key.startsWith('state/website=shop/'));
    expect(states.map((key) => key.split('/').at(-1))).toEqual([expect.stringContaining('-'), '001.parquet']);
  });

  test('interrupted after a request, it has no marker without its files, and ends up the same', async () => {
    await copyTo(server, built.path);
    const total = server.requests.length;
    const whole = held();
    for (let at = 1; at < total; at += 40) {
      server.objects.clear();
      server.requests.length = 0;
      server.fault = () => (server.requests.length > at ? 'cut' : null);
      await expect(copyTo(server, built.path)).rejects.toThrow(/nights.*check the network/);
      await expectNoMarkerBeforeItsFiles(new Set(held().keys()), built.path);
      server.fault = null;
      expect(await copyTo(server, built.path)).toEqual({ name: 'bucket', behind: 0 });
      expect(held()).toEqual(whole);
    }
  });
});

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { atLength, describeAtLength, once } from '../../given/at-length.js';
import { type GivenBucket, SECRET, startBucket } from '../../given/bucket.js';
import { copiedFiles, copyTo, expectNoMarkerBeforeItsFiles } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

const ODD = 'a/b é%*';
let server: GivenBucket;

const built = sharedWarehouse(() => {
  const pages = ['p', 'q'].map((name) => ({ url: `https://a.example/${name}` }));
  return buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { [ODD]: pages, shop: pages } },
    { at: '2025-03-02T02:00:00Z', lists: { [ODD]: pages.slice(1) } },
  ]);
});
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
  once('holds the files of the warehouse under keys without %, and takes each once', async () => {
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
    for (let at = 1; at < total; at += atLength(40, 3)) {
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

describeAtLength('status and verify', () => {
  /** Commands over a warehouse, and what `verify` finds about the bucket. */
  function asking(path: string) {
    const config = writeConfig(temporaryFolder(), { sections: { bucket: server.url, warehouse: { path } } });
    const ask = async (...args: string[]) => JSON.parse((await run([...args, '--json', '--config', config])).stdout);
    const found = async (): Promise<{ level: string; message: string }[]> =>
      (await ask('verify')).findings.filter(({ check }: { check: string }) => check === 'bucket');
    return { config, ask, found };
  }

  test('compare them before and after, and verify --repair lets the next sync send what differs', async () => {
    const path = copyOf(built.path);
    const { ask, found } = asking(path);
    const followers = async () => (await ask('status')).followers;
    expect(await followers()).toContainEqual(expect.objectContaining({ name: 'bucket', behind: 3, exact: true }));
    await copyTo(server, path);
    expect(await followers()).toContainEqual(expect.objectContaining({ name: 'bucket', behind: 0 }));

    const [first = '', second = ''] = [...server.objects.keys()].filter((key) => key.includes('/coverage/'));
    server.objects.delete(first);
    const body = Buffer.from(server.objects.get(second)?.body ?? '').fill(0x55, 9, 10);
    server.objects.set(second, { body, modified: new Date() });
    const differences = await found();
    expect(differences.map(({ level }) => level)).toEqual(['difference', 'difference']);
    expect(differences.map(({ message }) => message.replace(/^.* (has|is) /, '')).sort()).toEqual([
      'missing',
      'other bytes',
    ]);
    const { repaired }: { repaired: string[] } = await ask('verify', '--repair');
    expect(repaired.filter((what) => what.startsWith('removed'))).toHaveLength(2);
    await copyTo(server, path);
    expect(await found()).toEqual([]);
  });

  test('report a bucket that refuses, without its secret', async () => {
    await copyTo(server, built.path);
    const { ask, found, config } = asking(copyOf(built.path));
    const doctor = async () => (await ask('doctor')).find(({ check }: { check: string }) => check === 'bucket');
    expect(await doctor()).toMatchObject({ level: 'ok', message: expect.stringContaining('can be written') });
    server.fault = () => '403 AccessDenied';
    expect(await doctor()).toMatchObject({ level: 'error', message: expect.stringContaining('AccessDenied') });
    const { code, stdout, stderr } = await run(['status', '--config', config]);
    expect(code).toBe(3);
    expect(stdout).toContain(
      'the bucket cannot be compared: GET s3://lake/nights/owner.json: it answered 403 AccessDenied',
    );
    expect(stdout + stderr).not.toContain(SECRET);
    expect(await found()).toMatchObject([{ level: 'lag', message: expect.stringContaining('AccessDenied') }]);
  });
});

import { randomInt } from 'node:crypto';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { atLength, casesAtLength, once, testAtLength } from '../../given/at-length.js';
import { type GivenBucket, SECRET, startBucket } from '../../given/bucket.js';
import { copiedFiles, copyTo, page } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { newestFile } from '../../given/tamper.js';
import { buildNights, HOUR_MS, maintainAt } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

const ODD = 'a/b é%*';
const TABLES = ['coverage', 'url_reports', 'page_versions', 'pages', 'snapshots', 'coverage_summary', 'runs'];
const ALL = `select ${TABLES.map((table) => `(select bit_xor(hash(t::text)) from ${table} as t)`).join(', ')}`;
let server: GivenBucket;
let stored: GivenBucket['objects'];
let folder = '';
let config = '';

const built = sharedWarehouse(() =>
  buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { [ODD]: [page('p'), page('q')], shop: [page('s')] } },
    { at: '2025-03-05T02:00:00Z', lists: { [ODD]: [page('p'), page('q', 'Not indexed')] } },
  ]),
);
beforeAll(async () => {
  server = await startBucket({ pageSize: 7, prefix: '/nights' });
  await copyTo(server, built.path);
  stored = new Map(server.objects);
});
beforeEach(() => {
  Object.assign(server, { fault: null, objects: new Map(stored), requests: [] });
  folder = temporaryFolder();
  config = writeConfig(folder, { sections: { bucket: server.url } });
});

const restore = (...flags: string[]) => run(['restore', '--config', config, ...flags]);
const warehouse = () => join(folder, 'warehouse');
const ask = (path: string, sql = ALL) => run(['query', '--sql', sql, '--json', '--warehouse', path]);
/** But for `indexhouse.duckdb`, which the next sync makes. */
const differences = async () => (await findingsOf(warehouse())).filter(({ level }) => level === 'difference');
const fetchedData = () => server.requests.filter((request) => /^GET .*\/parquet\/coverage\//.test(request)).length;

describe('restore', () => {
  test('gives the warehouse that was sent, and resumes however often it was interrupted', async () => {
    let left = 0;
    server.fault = () => (left-- > 0 ? null : '403 AccessDenied');
    for (const requests of atLength([0, 20], [0, 5, 14, 18, 20])) {
      left = requests;
      const { code, stderr } = await restore('--if-missing');
      expect(code).toBe(1);
      expect(stderr).toContain('allow this key s3:ListBucket');
      expect(stderr).not.toContain(SECRET);
      expect(existsSync(join(warehouse(), 'warehouse.json'))).toBe(false);
    }
    server.fault = null;
    server.requests.length = 0;
    const { code, stdout } = await restore('--if-missing');
    expect(code, stdout).toBe(0);
    expect(stdout).toContain(`Restored ${warehouse()} from s3://lake/nights`);
    expect(fetchedData()).toBeLessThan(3);
    const restored = copiedFiles(warehouse());
    // Of the states only the newest is needed.
    for (const [key, body] of copiedFiles(built.path)) {
      if (/^(parquet|warehouse)/.test(key)) expect(restored.get(key)?.equals(body), key).toBe(true);
    }
    expect([...restored.keys()].filter((key) => key.startsWith('state/'))).toHaveLength(2);
    expect(await differences()).toEqual([]);
    expect((await restore('--if-missing')).stdout).toContain('is there already');
    const again = await restore();
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('is there already and was not changed');
  });

  once('fetches what only the bucket has of a night, which verify calls a difference and leaves alone', async () => {
    cpSync(built.path, warehouse(), { recursive: true });
    for (const table of ['snapshots', 'runs'] as const) rmSync(await newestFile(warehouse(), table));
    const verified = await run(['verify', '--repair', '--config', config]);
    expect(verified).toMatchObject({ code: 1, stdout: expect.stringContaining('a snapshot that is in the bucket') });
    expect((await restore('--take-over')).code).toBe(0);
    expect(await differences()).toEqual([]);
    expect((await ask(warehouse())).stdout).toBe((await ask(built.path)).stdout);
  });

  once('needs no configuration, and says what is wrong with its flags and the bucket', async () => {
    const env = server.env;
    const copy = join(folder, 'copy');
    const { code } = await run(['restore', '--from', 's3://lake/nights/', '--warehouse', copy], { env });
    expect(code).toBe(0);
    expect((await ask(copy)).stdout).toBe((await ask(built.path)).stdout);
    const nothing = await restore('--from', 's3://lake/days', '--if-missing');
    expect(nothing).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to restore') });
    expect((await restore('--from', 's3://lake/days')).stderr).toContain('there is no warehouse at s3://lake/days');
    expect((await restore('--from', 'lake')).stderr).toContain('--from lake is not the address of a bucket');
    const none = await run(['restore', '--from', 's3://lake/nights', '--warehouse', join(folder, 'other')], {
      env: { AWS_ACCESS_KEY_ID: '' },
    });
    expect(none.stderr).toContain('there are no credentials for s3://lake/nights');
    const read = await run(['query', 'indexing_trend', '--warehouse', 's3://lake/nights'], { env });
    expect([read.code, read.stderr]).toEqual([2, expect.stringMatching(/is a bucket, not a folder.*restore --from/)]);
  });

  const damages: [name: string, prefix: string, change: (body: Buffer) => Buffer | null, table?: string][] = [
    ['changed', 'parquet/coverage/', (body) => Buffer.from(body).fill(0x55, 40, 60), 'coverage'],
    ['gone', 'parquet/coverage/', () => null, 'coverage'],
    // It is rebuilt from the data.
    ['a state that is cut short', 'state/', (body) => body.subarray(0, -5)],
  ];
  test.each(casesAtLength(damages, 'changed'))('names an object that is %s', async (_, prefix, change, table) => {
    for (const [key, one] of stored) {
      const body = key.startsWith(`nights/${prefix}`) ? change(one.body) : one.body;
      if (body) server.objects.set(key, { ...one, body });
      else server.objects.delete(key);
    }
    const { code, stderr } = await restore();
    expect([code, stderr]).toEqual([3, expect.stringContaining(`damaged or missing: s3://lake/nights/${prefix}`)]);
    const { stdout: right } = await ask(built.path);
    if (table) expect((await ask(warehouse(), `from ${table}`)).code).not.toBe(0);
    else expect((await ask(warehouse())).stdout).toBe(right);
  });
});

testAtLength('finds a flipped bit in any object, and fetches nothing that retention removed', async () => {
  const nights = await buildNights();
  server.objects.clear();
  await copyTo(server, nights.path);
  await maintainAt(nights.path);
  await copyTo(server, nights.path);
  const { stdout: right } = await ask(nights.path);
  const keysIn = (kind: string) => [...server.objects.keys()].filter((key) => key.startsWith(`nights/${kind}`));
  const tables = ['snapshots', 'runs', 'tombstones', 'checkpoints', 'coverage', 'url_reports', 'page_versions'];
  const counts = { found: 0, harmless: 0 };
  for (const kind of ['warehouse.json', 'state/', ...tables.map((table) => `parquet/${table}/`)]) {
    const keys = keysIn(kind);
    const key = keys[randomInt(keys.length)] ?? '';
    const whole = server.objects.get(key) ?? expect.fail(kind);
    const body = Buffer.from(whole.body);
    const at = randomInt(body.length);
    body[at] = (body[at] ?? 0) ^ (1 << randomInt(8));
    server.objects.set(key, { ...whole, body });
    const copy = join(temporaryFolder(), 'copy');
    const { code } = await restore('--warehouse', copy);
    const { stdout } = await ask(copy);
    const where = `${key}, byte ${at}`;
    if (code === 0 || kind === 'state/') expect(stdout, where).toBe(right);
    else expect(['', right], where).toContain(stdout);
    counts[code === 0 ? 'harmless' : 'found']++;
    server.objects.set(key, whole);
  }
  expect(counts.found).toBeGreaterThan(counts.harmless);

  const before = keysIn('parquet/coverage/').length;
  const later = Date.now() + 2 * HOUR_MS;
  server.now = () => later;
  await copyTo(server, nights.path, later);
  server.now = Date.now;
  expect(keysIn('parquet/coverage/').length).toBeLessThan(before);
  // They are made of the checkpoints and what is left.
  for (const key of keysIn('state/')) server.objects.delete(key);
  expect((await restore()).code).toBe(0);
  expect((await ask(warehouse())).stdout).toBe(right);
  expect(await differences()).toEqual([]);
});

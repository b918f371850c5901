import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { BucketCache } from '../../../src/warehouse/bucket/cache.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { hasIndex } from '../../../src/warehouse/log/marker-index.js';
import { updateIndex } from '../../../src/warehouse/log/update-index.js';
import { casesAtLength, once, testAtLength } from '../../given/at-length.js';
import { environmentOf, type GivenBucket, SECRET, startBucket } from '../../given/bucket.js';
import { copyTo, page, putBack } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

const ODD = 'a/b é%*';
const PAGES = 'select website_id, url, is_indexed from pages order by all';
const LISTED = 'select count(*)::int as n from coverage';
const nights = [
  { at: '2025-03-01T02:00:00Z', lists: { [ODD]: [page('p'), page('q')], shop: [page('s')] } },
  { at: '2025-03-02T02:00:00Z', lists: { [ODD]: [page('p'), page('q', 'Not indexed')] } },
];
let server: GivenBucket;
let caches = '';
let stored: GivenBucket['objects'];

const built = sharedWarehouse(() => buildWarehouse(nights));
beforeAll(async () => {
  server = await startBucket({ pageSize: 7, prefix: '/nights' });
  await copyTo(server, built.path);
  stored = new Map(server.objects);
});
beforeEach(() => {
  putBack(server, stored);
  caches = temporaryFolder();
});

const environment = () => ({ ...environmentOf(server.config), XDG_CACHE_HOME: caches });
const read = (...words: string[]) =>
  run([...words, '--warehouse', 's3://lake/nights'], { env: environment(), cwd: caches });
const sql = (text: string, ...words: string[]) => read('query', '--sql', text, '--json', ...words);
/** The objects that were fetched since, but for `warehouse.json`, which is asked for each time. */
const fetched = () =>
  server.requests.splice(0).filter((request) => /^GET lake\/nights\/(?!warehouse)/.test(request)).length;
const cache = () => join(caches, 'indexhouse', readdirSync(join(caches, 'indexhouse'))[0] ?? '');
/** What an assistant writes to call a tool. */
function calls(name: string, given: object): string[] {
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } };
  const all = [
    { method: 'initialize', params: client },
    { method: 'tools/call', params: { name, arguments: given } },
  ];
  return all.map((call) => JSON.stringify({ jsonrpc: '2.0', id: `${name} ${call.method}`, ...call }));
}

/** Changes the objects whose keys begin so. */
function tampered(prefix: string, change: (body: Buffer) => Buffer | null): void {
  for (const [key, one] of [...server.objects].filter(([key]) => key.startsWith(`nights/${prefix}`))) {
    const body = change(one.body);
    if (body === null) server.objects.delete(key);
    else server.objects.set(key, { ...one, body });
  }
}

describe('a bucket is read like a folder', () => {
  once('with equal answers, and each object is fetched once', async () => {
    for (const asked of [['deindexed_pages', 'since=2025-03-01'], ['drift_diary']]) {
      const there = await run(['query', ...asked, '--json', '--warehouse', built.path]);
      expect(await read('query', ...asked, '--json')).toEqual(there);
    }
    const data = [...stored.keys()].filter((key) => /\/(parquet|state)\//.test(key) && !/checkpoints/.test(key));
    expect(fetched()).toBe(data.length);
    const pages = [ODD, ODD, 'shop'].map((website_id, at) => ({
      website_id,
      url: `https://a.example/${'pqs'[at]}`,
      is_indexed: at !== 1,
    }));
    expect(JSON.parse((await sql(PAGES)).stdout)).toEqual(pages);
    expect(fetched()).toBe(0);
    expect(statSync(cache()).mode & 0o777).toBe(0o700);
    expect((await read('verify')).stdout).toContain('no differences found');
    const config = writeConfig(caches, { sections: { warehouse: { path: cache() } } });
    const written = await run(['sync', '--config', config]);
    expect(written.stderr).toContain('keeps what was fetched from s3://lake/nights: name that address instead');
    expect(new Map(server.objects)).toEqual(stored);
  });

  testAtLength('with listings and reports of 100 days, and a question that needs older ones says so', async () => {
    const old = await buildWarehouse([
      { at: '2025-01-01T02:00:00Z', lists: { shop: [page('a'), page('b')] } },
      { at: '2025-06-01T02:00:00Z', lists: { shop: [page('a')] } },
    ]);
    server.objects.clear();
    await copyTo(server, old.path);
    const changed = await sql("select count(*)::int as n from page_changes where change = 'disappeared'");
    expect(changed).toMatchObject({ stdout: '[\n  {"n":1}\n]\n', code: 0 });
    expect(changed.stderr).not.toContain('--history');
    const listed = await sql(LISTED);
    expect(listed.stdout).toContain('"n":1');
    expect(listed.stderr).toContain(
      'listings and reports before 2025-02-21 stayed in s3://lake/nights; --history fetches more of them',
    );
    const all = await sql(LISTED, '--history', 'unlimited');
    expect(all.stdout).toContain('"n":3');
    // What is there stays there.
    const again = await sql(LISTED);
    expect([again.stdout, again.stderr]).toEqual([all.stdout, expect.not.stringContaining('--history')]);
  });

  testAtLength('by status, mcp and keys, too', async () => {
    const [here, there] = [await read('status', '--json'), await run(['status', '--json', '--warehouse', built.path])];
    const { websites, page_states, quarantine } = JSON.parse(there.stdout);
    const status = JSON.parse(here.stdout);
    expect(status).toMatchObject({
      warehouse: 's3://lake/nights',
      page_states,
      quarantine,
      followers: [],
      running: null,
    });
    expect(status.websites).toHaveLength(websites.length);
    const typed = [...calls('run_analysis', { name: 'deindexed_pages', parameters: { since: '2025-03-01' } })];
    typed.push(...calls('query_sql', { sql: LISTED }).slice(1));
    const words = ['mcp', '--warehouse', 's3://lake/nights', '--log-level', 'error'];
    const { stdout } = await run(words, { env: environment(), typed });
    expect(stdout).toContain('https://a.example/q');
    expect(stdout).toContain('All rows: 1');
    expect((await read('keys', 'add', '--label', 'me', '--website', ODD)).code).toBe(0);
    expect((await read('keys', 'list')).stdout).toContain('me');
  });
});

describe('a bucket that is down', () => {
  once('is reported, and answered for as far as what it needs is here', async () => {
    server.fault = () => 'cut';
    const nothing = await sql(PAGES);
    expect(nothing).toMatchObject({ code: 1, stdout: '' });
    expect(nothing.stderr).toContain('GET s3://lake/nights/warehouse.json: ');
    server.fault = null;
    const { stdout } = await sql(PAGES);
    server.fault = () => '403 InvalidAccessKeyId';
    const old = await sql(PAGES);
    expect(old).toMatchObject({ code: 3, stdout });
    expect(old.stderr).toMatch(/answered from what was fetched .* ago: the bucket cannot be read: GET s3:/);
    expect(old.stderr).not.toContain(SECRET);
  });

  once('and another process that waits for it hold nobody up who has read it before', async () => {
    const folder = join(caches, 'cache');
    const cache = await BucketCache.open({
      bucket: server.config,
      folder,
      historyDays: 100,
      memoryLimit: 256e6,
      waitMs: 0,
    });
    onTestFinished(() => cache.close());
    const lock = await RunLock.take(folder, 'reading');
    await expect(cache.refresh()).rejects.toThrow('another run is in progress');
    lock.release();
    await cache.refresh();
    expect(cache.failure).toBe(null);
    const again = await RunLock.take(folder, 'reading');
    await cache.refresh();
    expect(cache.failure).toContain('another run is in progress');
    again.release();
  });

  testAtLength('does not keep a question from being stopped', async () => {
    const stop = new AbortController();
    server.fault = (request) => {
      if (!request.includes('/coverage/')) return null;
      stop.abort();
      return 'silent';
    };
    const words = ['query', '--sql', LISTED, '--warehouse', 's3://lake/nights'];
    const { code, stderr } = await run(words, { env: environment(), signal: stop.signal });
    expect([code, stderr]).toEqual([
      130,
      expect.stringMatching(/^indexhouse: stopped before the warehouse was fetched$/m),
    ]);
  });

  testAtLength('while it fetches costs nothing of what was fetched before', async () => {
    let left = 0;
    const count = (request: string) => request.startsWith('GET lake/nights/parquet/') && left-- <= 0;
    server.fault = (request) => (count(request) ? '403 AccessDenied' : null);
    for (const some of [4, 12]) {
      left = some;
      expect((await sql(LISTED)).code).toBe(1);
    }
    server.fault = null;
    server.requests.length = 0;
    expect((await sql(LISTED)).stdout).toContain('"n":5');
    const data = /^GET lake\/nights\/parquet\/(coverage|url_reports|page_versions)\//;
    expect(server.requests.filter((request) => data.test(request)).length).toBeLessThan(7);
  });
});

describe('objects that are not what was committed', () => {
  const all: [name: string, table: string, prefix: string, change: (body: Buffer) => Buffer | null][] = [
    ['cut short', 'coverage', 'parquet/coverage/', (body) => body.subarray(0, -5)],
    ['changed', 'coverage', 'parquet/coverage/', (body) => Buffer.from(body).fill(0x55, 40, 60)],
    ['gone', 'coverage', 'parquet/coverage/', () => null],
    ['a state that is cut short', 'pages', 'state/', (body) => body.subarray(0, -5)],
    ['a marker that is none', 'coverage', 'parquet/snapshots/', () => Buffer.from('PAR1')],
  ];
  test.each(casesAtLength(all, 'changed'))('give an error, not an answer: %s', async (_, table, prefix, change) => {
    tampered(prefix, change);
    const asked = await sql(`select count(*) from ${table}`);
    expect(asked.code).not.toBe(0);
    expect(asked.stderr).toMatch(new RegExp(`${prefix}.*(damaged|missing|rows that were written|not a Parquet)`));
    for (const [key, one] of stored) server.objects.set(key, one);
    expect((await sql(`select count(*) from ${table}`)).code).toBe(0);
  });
});

testAtLength('a warehouse in the place of another one is not mixed with it', async () => {
  expect((await sql(LISTED)).stdout).toContain('"n":5');
  for (const key of [...server.objects.keys()]) if (key.includes('website=shop')) server.objects.delete(key);
  expect((await sql(LISTED)).stdout).toContain('"n":4');
  server.objects.clear();
  expect((await sql(LISTED)).stderr).toContain('there is no warehouse at s3://lake/nights');
});

testAtLength('an index of old markers is no obstacle to late commits, nor to others in their place', async () => {
  const later = await buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { shop: [page('s')] } },
    { at: '2025-03-02T02:00:00Z', lists: { blog: [page('b')] } },
    { at: '2025-03-09T02:00:00Z', lists: { shop: [page('s')] } },
  ]);
  server.objects.clear();
  await copyTo(server, later.path);
  const all = new Map(server.objects);
  for (const key of all.keys()) if (key.includes('website=blog')) server.objects.delete(key);
  expect((await sql(LISTED)).stdout).toContain('"n":2');
  const options = { memoryLimit: 256e6, temporary: join(caches, 'tmp') };
  await updateIndex(cache(), options, Date.parse('2025-03-09T12:00:00Z'), 1);
  expect(await hasIndex(cache())).toBe(true);
  for (const [key, one] of all) server.objects.set(key, one);
  expect((await sql(LISTED)).stdout).toContain('"n":3');
  await updateIndex(cache(), options, Date.parse('2025-03-09T12:00:00Z'), 1);
  for (const key of all.keys()) if (/date=2025-03-01/.test(key)) server.objects.delete(key);
  expect((await sql(LISTED)).stdout).toContain('"n":2');
});

once('a cache that cannot be made is reported, with the key that names it', async () => {
  writeFileSync(join(caches, 'file'), '');
  const env = { ...environment(), INDEXHOUSE_WAREHOUSE_CACHE_PATH: join(caches, 'file', 'cache') };
  const { code, stderr } = await run(['query', '--sql', LISTED, '--warehouse', 's3://lake/nights'], { env });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^indexhouse: the cache .* cannot be made: .*cache_path/)]);
});

testAtLength('doctor says how a bucket is read', async () => {
  const bucket = server.config;
  const warehouse = { path: 's3://lake/nights', cache_path: caches };
  const config = writeConfig(caches, { sections: { warehouse, bucket } });
  const findings: unknown = JSON.parse((await run(['doctor', '--json', '--config', config])).stdout);
  const ofPlace = (check: string, message: RegExp) =>
    expect.objectContaining({ check, message: expect.stringMatching(message) });
  expect(findings).toContainEqual(ofPlace('bucket', /^s3:\/\/lake\/nights can be read; it holds 3 commits$/));
  expect(findings).toContainEqual(ofPlace('cache', /^what the bucket holds is copied into .*, where .* are free$/));
  expect(findings).not.toContainEqual(ofPlace('run_lock', /./));
});

describe('commands that write', () => {
  const all: [name: string, ...words: string[]][] = [
    ['sync'],
    ['schedule'],
    ['maintain'],
    ['backup', 'copy'],
    ['notify'],
    ['restore'],
    ['analytics', '--out', 'a.duckdb'],
  ];
  test.each(casesAtLength(all, 'sync', 'backup'))('%s refuses', async (...words) => {
    const config = writeConfig(caches, { sections: { warehouse: { path: 's3://lake/nights' } } });
    const { code, stderr } = await run([...words, '--config', config], { env: environment(), cwd: caches });
    expect(code).toBe(2);
    expect(stderr).toContain(
      's3://lake/nights is a bucket, which only query, report, status, verify, serve, mcp, keys and doctor read',
    );
    expect(server.requests).toEqual([]);
  });
});

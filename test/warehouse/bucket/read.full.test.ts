import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { BucketConfig } from '../../../src/base/config/bucket.js';
import { environmentOf, startBucket } from '../../given/bucket.js';
import { copyTo } from '../../given/bucket-copy.js';
import { run, runProcess, start } from '../../given/cli.js';
import { folderOnDisk, temporaryFolder } from '../../given/folder.js';
import { hasServer, startRealServer } from '../../given/s3-servers.js';
import { buildNights, HOUR_MS, maintainAt } from '../../given/thinned.js';
import { sharedWarehouse } from '../../given/warehouse.js';

const TABLES_OF_LOG = [
  'snapshots',
  'runs',
  'tombstones',
  'checkpoints',
  'coverage',
  'coverage_summary',
  'url_reports',
  'page_versions',
];
const TABLES = [
  'coverage',
  'url_reports',
  'page_versions',
  'pages',
  'snapshots',
  'coverage_summary',
  'rejected_records',
];
const disk = folderOnDisk('read');

const built = sharedWarehouse(() => buildNights());

const question = (table: string) => `select count(*) as n, bit_xor(hash(columns(*)::text)) from ${table}`;
const environment = (config: BucketConfig, caches: string) => ({ ...environmentOf(config), XDG_CACHE_HOME: caches });
async function answersOf(where: string, env: Record<string, string> = {}): Promise<string[]> {
  const answers: string[] = [];
  for (const table of TABLES) {
    const { code, stdout, stderr } = await run(
      ['query', '--sql', question(table), '--json', '--log-level', 'error', '--warehouse', where],
      {
        env,
      },
    );
    expect([code, stderr]).toEqual([0, '']);
    answers.push(stdout);
  }
  return answers;
}

/** Each in a process of its own, several at once, with one copy. */
async function readAtOnce(config: BucketConfig): Promise<void> {
  await copyTo({ config }, built.path);
  const expected = await answersOf(built.path);
  const env = environment(config, temporaryFolder());
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(
      TABLES.slice(0, 4).map((table) =>
        runProcess(['query', '--sql', question(table), '--json', '--log-level', 'error', '--warehouse', config.url], {
          env,
        }),
      ),
    );
    expect(answers.map(({ stderr }) => stderr).join('')).toBe('');
    expect(answers.map(({ stdout }) => stdout)).toEqual(expected.slice(0, 4));
  }
}

/** What a bit is flipped in: each kind of object. */
const KINDS = ['warehouse.json', 'state/', ...TABLES_OF_LOG.map((table) => `parquet/${table}/`)];
const ALL = `select ${[...TABLES, 'runs'].map((table) => `(select bit_xor(hash(t::text)) from ${table} as t)`).join(', ')}`;
const FLIPS = Number(process.env['INDEXHOUSE_TEST_FLIPS'] ?? KINDS.length);

test('a flipped bit is found by everybody, or changes nothing', async () => {
  const server = await startBucket();
  const nights = await buildNights();
  await copyTo(server, nights.path);
  await maintainAt(nights.path);
  await copyTo(server, nights.path);
  const ask = (where: string, env = {}) => run(['query', '--sql', ALL, '--json', '--warehouse', where], { env });
  const { stdout: right, code } = await ask(nights.path);
  expect(code).toBe(0);
  const counts = { found: 0, harmless: 0 };
  for (let flip = 0; flip < FLIPS; flip++) {
    const keys = [...server.objects.keys()].filter((key) => key.startsWith(KINDS[flip % KINDS.length] ?? ''));
    const key = keys[randomInt(keys.length)] ?? '';
    const stored = server.objects.get(key);
    const body = Buffer.from(stored?.body ?? '');
    const at = randomInt(body.length);
    body[at] = (body[at] ?? 0) ^ (1 << randomInt(8));
    server.objects.set(key, { ...stored, body, modified: new Date() });
    const folder = temporaryFolder();
    const env = environment(server.config, folder);
    const restored = await run(['restore', '--from', 's3://lake', '--warehouse', join(folder, 'copy')], { env });
    const asked = await ask('s3://lake', env);
    const verified = await run(['verify', '--warehouse', 's3://lake'], { env });
    const codes = [restored, asked, verified].map(({ code }) => code);
    const isFound = restored.code !== 0;
    const where = `${key}, byte ${at}: ${codes}`;
    if (!isFound) expect([codes, asked.stdout], where).toEqual([[0, 0, 0], right]);
    // A state is made of the data then.
    else if (key.startsWith('state/')) expect([asked.code, asked.stdout], where).toEqual([3, right]);
    else expect([codes.includes(0), ['', right].includes(asked.stdout)], where).toEqual([false, true]);
    counts[isFound ? 'found' : 'harmless']++;
    if (stored) server.objects.set(key, stored);
  }
  process.stdout.write(`${FLIPS} flipped bits: ${JSON.stringify(counts)}\n`);
  expect(counts.found).toBeGreaterThan(FLIPS / 2);
});

describe('processes that share a cache, on a server', () => {
  test('of this process', async () => {
    const server = await startBucket({ pageSize: 7 });
    await readAtOnce(server.config);
  });
  test.runIf(hasServer())('versitygw', async () => {
    const server = await startRealServer(disk);
    await readAtOnce(server.config).finally(server.close);
  });
});

test('readers that are killed at any moment leave a cache that answers', async () => {
  const server = await startBucket({ pageSize: 7 });
  await copyTo(server, built.path);
  const expected = await answersOf(built.path);
  const env = environment(server.config, temporaryFolder());
  for (const [at, table] of TABLES.entries()) {
    const running = start(['query', '--sql', question(table), '--warehouse', 's3://lake'], { env });
    await Promise.race([running.ended, delay(100 + 150 * at + 400 * Math.random())]);
    running.kill('SIGKILL');
    await running.ended;
  }
  expect(await answersOf('s3://lake', env)).toEqual(expected);
});

test('retention between two questions changes the answer as it does in the folder', async () => {
  const server = await startBucket();
  const nights = await buildNights();
  const env = environment(server.config, temporaryFolder());
  await copyTo(server, nights.path);
  const before = await answersOf('s3://lake', env);
  expect(before).toEqual(await answersOf(nights.path));
  const listings = () => [...server.objects.keys()].filter((key) => key.startsWith('parquet/coverage/')).length;
  const all = listings();
  await maintainAt(nights.path);
  await copyTo(server, nights.path);
  const later = Date.now() + 2 * HOUR_MS;
  server.now = () => later;
  await copyTo(server, nights.path, later);
  server.now = Date.now;
  expect(listings()).toBeLessThan(all);
  const after = await answersOf('s3://lake', env);
  expect(after).toEqual(await answersOf(nights.path));
  expect(after).not.toEqual(before);
  // And to a reader that begins then, even where the states have to be made of checkpoints and what is left.
  for (const key of server.objects.keys()) if (key.startsWith('state/')) server.objects.delete(key);
  expect(await answersOf('s3://lake', environment(server.config, temporaryFolder()))).toEqual(after);
});

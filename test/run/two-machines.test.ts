import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { claimPlace } from '../../src/bucket/claims.js';
import { Bucket } from '../../src/bucket/client.js';
import { followAll } from '../../src/followers/follow.js';
import { realRunEffects } from '../../src/run/context.js';
import { watchCrashPoints } from '../../src/storage/crash-point.js';
import { withEngine } from '../../src/storage/engine.js';
import { testAtLength } from '../given/at-length.js';
import { type GivenBucket, startBucket } from '../given/bucket.js';
import { temporaryFolder } from '../given/folder.js';
import { readMarkers } from '../given/markers.js';
import { readTable } from '../given/parquet.js';
import { type GivenPage, type ScriptedService, startScriptedService } from '../given/service.js';
import { findingsOf } from '../given/verified.js';
import { syncAt } from '../given/warehouse.js';

const page = (name: string, state = 'Indexed'): GivenPage => ({
  url: `https://a.example/${name}`,
  entry: { index_summary: state, index_coverage_state: state },
});
let server: GivenBucket;
let service: ScriptedService;
let unwatch: () => void = () => {};

beforeAll(async () => {
  service = await startScriptedService();
});
afterAll(() => service.close());
beforeEach(async () => {
  server = await startBucket();
  service.list('shop', [page('p'), page('q')]);
});
afterEach(async () => {
  unwatch();
  await server.close();
});

/** Two machines share nothing but the bucket. */
function machine(name: string, root: string): string {
  return join(root, name, 'warehouse');
}

async function night(warehouse: string, at: string, sections: Record<string, Record<string, unknown>> = {}) {
  const { journal, ...bucket } = server.config;
  const { websites, followers } = await syncAt({
    baseUrl: service.baseUrl,
    warehouse,
    at: new Date().toISOString().replace(/T.*/, at),
    websites: ['shop'],
    sections: { bucket: { ...bucket, journal: true }, ...sections },
    follow: async (input) => (await followAll(input)).filter(({ name }) => name === 'bucket'),
  });
  return { website: websites[0], bucket: followers.find(({ name: one }) => one === 'bucket') };
}

const commitsOf = async (warehouse: string) => {
  const engine = { memoryLimit: 256e6, temporary: join(warehouse, '../duckdb') };
  return (await withEngine(engine, (opened) => readMarkers(opened, warehouse))).map(({ commitId }) => commitId);
};
const keys = (prefix: string) => [...server.objects.keys()].filter((key) => key.startsWith(prefix));

describe('two machines', () => {
  test('one after the other: the second, which had nothing, goes on from what the first one knows', async () => {
    const root = temporaryFolder();
    const [a, b] = [machine('a', root), machine('b', root)];
    await night(a, 'T01:00:00Z');
    service.list('shop', [page('p', 'Not indexed'), page('q')]);
    const { website, bucket } = await night(b, 'T02:00:00Z');
    expect([website?.status, bucket]).toEqual(['committed', { name: 'bucket', behind: 0 }]);
    expect(await readTable(b, 'snapshots')).toHaveLength(2);
    expect((await readTable(b, 'page_changes')).map(({ change }) => change)).toContain('deindexed');
    expect(keys('log/website=shop/')).toHaveLength(2);
  });

  testAtLength(
    'which commit the same night: the second stages again from its journal, on the commit of the first',
    async () => {
      const root = temporaryFolder();
      const [a, b] = [machine('a', root), machine('b', root)];
      await night(a, 'T01:00:00Z');
      service.list('shop', [page('p', 'Not indexed'), page('q')]);
      // Which had nothing, and goes on from what the other one knows.
      await night(b, 'T02:00:00Z');
      expect(await readTable(b, 'snapshots')).toHaveLength(2);
      expect((await readTable(b, 'page_changes')).map(({ change }) => change)).toContain('deindexed');
      let asked = 0;
      let other: Promise<unknown> | null = null;
      const counted = server.requests;
      // While b has staged its night, a syncs the whole of its own.
      unwatch = watchCrashPoints((step) => {
        if (step !== 'wrote the manifest' || other) return;
        asked = counted.length;
        service.list('shop', [page('p'), page('q', 'Not indexed')]);
        other = night(a, 'T03:00:00Z');
      });
      service.list('shop', [page('p'), page('q')]);
      const { website, bucket } = await night(b, 'T03:00:01Z');
      await other;
      expect(asked).toBeGreaterThan(0);
      expect(website).toMatchObject({ status: 'committed', reports: { fetched: 2 } });
      expect(bucket).toEqual({ name: 'bucket', behind: 0 });
      await night(a, 'T04:00:00Z');
      expect(await commitsOf(a)).toHaveLength(5);
      expect(keys('log/website=shop/')).toHaveLength(5);
      const wrong = (await findingsOf(a)).filter(({ level }) => level === 'difference');
      expect(wrong).toEqual([]);
    },
  );

  test('of which one cannot reach the bucket: it commits all the same, and says so', async () => {
    server.fault = () => '403 AccessDenied';
    const { website, bucket } = await night(machine('a', temporaryFolder()), 'T01:00:00Z');
    expect(website).toMatchObject({ status: 'committed' });
    expect(bucket).toMatchObject({ behind: 1, reason: expect.stringContaining('AccessDenied') });
  });

  testAtLength('of which one could not reach the bucket: its next night sends both', async () => {
    const warehouse = machine('a', temporaryFolder());
    server.fault = () => '403 AccessDenied';
    const { website, bucket } = await night(warehouse, 'T01:00:00Z');
    expect(website).toMatchObject({ status: 'committed' });
    expect(bucket).toMatchObject({ behind: 1, reason: expect.stringContaining('AccessDenied') });
    server.fault = null;
    const iceberg = { enabled: true };
    expect((await night(warehouse, 'T02:00:00Z', { iceberg })).bucket).toEqual({ name: 'bucket', behind: 0 });
    expect(keys('log/')).toHaveLength(2);
    expect(keys('iceberg/snapshots/')).not.toEqual([]);
  });
});

describe('the place of a commit', () => {
  const place = (commitId: string) => ({ websiteId: 'a/b', n: 7, commitId, marker: `parquet/snapshots/${commitId}` });

  test('is had by one of many, again by who has it, and by another once who has it is taken for dead', async () => {
    const bucket = new Bucket(server.config, { env: {} });
    const ids = ['a', 'b', 'c', 'd'];
    const claims = await Promise.all(ids.map((id) => claimPlace(bucket, place(id))));
    const first = ids[claims.indexOf(null)] ?? '';
    expect(claims.filter((claim) => claim === null)).toHaveLength(1);
    expect(await claimPlace(bucket, place(first))).toBeNull();
    expect(await claimPlace(bucket, place('e'))).toMatchObject({ commitId: first });
    expect(keys('log/')).toEqual(['log/website=a!2Fb/00000007']);

    const written = Date.now();
    server.now = () => written + 2 * 3_600_000;
    const later = new Bucket(server.config, { env: {}, effects: { ...realRunEffects, now: server.now } });
    await later.put(`parquet/snapshots/${first}`, 'there');
    expect(await claimPlace(later, place('e')), 'it was sent').toMatchObject({ commitId: first });
    await later.remove(`parquet/snapshots/${first}`);
    expect(await claimPlace(later, place('e'))).toBeNull();
    expect(await claimPlace(later, place(first)), 'it is back').toMatchObject({ commitId: 'e' });
    for (const each of [bucket, later]) await each.close();
    expect(existsSync('log')).toBe(false);
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SECRET } from '../../given/bucket.js';
import { copiedFiles } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { givenStored } from './restoring.js';

const given = givenStored();
const { built, warehouse, restore, ask, differences } = given;
const fetchedData = () =>
  given.server.requests.filter((request) => /^GET .*\/parquet\/coverage\//.test(request)).length;

describe('restore', () => {
  test('gives the warehouse that was sent, and resumes however often it was interrupted', async () => {
    let left = 0;
    given.server.fault = () => (left-- > 0 ? null : '403 AccessDenied');
    for (const requests of [0, 14, 20]) {
      left = requests;
      const { code, stderr } = await restore('--if-missing');
      expect(code).toBe(1);
      expect(stderr).toContain('allow this key s3:ListBucket');
      expect(stderr).not.toContain(SECRET);
      expect(existsSync(join(warehouse(), 'warehouse.json'))).toBe(false);
    }
    given.server.fault = null;
    given.server.requests.length = 0;
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

  test('needs no configuration, and says what is wrong with its flags and the bucket', async () => {
    const env = given.server.env;
    const copy = join(given.folder, 'copy');
    const { code } = await run(['restore', '--from', 's3://lake/nights/', '--warehouse', copy], { env });
    expect(code).toBe(0);
    expect((await ask(copy)).stdout).toBe((await ask(built.path)).stdout);
    const nothing = await restore('--from', 's3://lake/days', '--if-missing');
    expect(nothing).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to restore') });
    expect((await restore('--from', 's3://lake/days')).stderr).toContain('there is no warehouse at s3://lake/days');
    expect((await restore('--from', 'lake')).stderr).toContain('--from lake is not the address of a bucket');
    const none = await run(['restore', '--from', 's3://lake/nights', '--warehouse', join(given.folder, 'other')], {
      env: { AWS_ACCESS_KEY_ID: '' },
    });
    expect(none.stderr).toContain('there are no credentials for s3://lake/nights');
    const read = await run(['query', 'indexing_trend', '--warehouse', 's3://lake/nights'], { env });
    expect([read.code, read.stderr]).toEqual([2, expect.stringMatching(/is a bucket, not a folder.*restore --from/)]);
  });

  test('names an object that is damaged', async () => {
    for (const [key, one] of given.stored) {
      if (key.startsWith('nights/parquet/coverage/'))
        given.server.objects.set(key, { ...one, body: Buffer.from(one.body).fill(0x55, 40, 60) });
    }
    const { code, stderr } = await restore();
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('damaged or missing: s3://lake/nights/parquet/coverage/'),
    ]);
    expect((await ask(warehouse(), 'from coverage')).code).not.toBe(0);
  });
});

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bucket } from '../../../src/warehouse/bucket/client.js';
import { BucketError } from '../../../src/warehouse/bucket/errors.js';
import { type Fault, type GivenBucket, SECRET, startBucket } from '../../given/bucket.js';
import { temporaryFolder } from '../../given/folder.js';
import { EARLY_HINTS, startRawServer, trickle } from '../../given/raw-server.js';

let server: GivenBucket;
let pauses: number[] = [];
const open: Bucket[] = [];
const effects = {
  now: () => Date.now(),
  sleep: async (ms: number) => void pauses.push(ms),
  random: () => 0.5,
};

function bucket(changes: Record<string, string> = {}, now = effects.now, url = server.url): Bucket {
  const made = new Bucket(url, { env: { ...server.env, ...changes }, effects: { ...effects, now } });
  open.push(made);
  return made;
}

beforeEach(async () => {
  server = await startBucket({ pageSize: 3, prefix: '/a/b' });
  pauses = [];
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** This fault for the first requests, and none for those after them. */
function first(times: number, fault: Fault) {
  let left = times;
  server.fault = () => (left-- > 0 ? fault : null);
}

describe('Bucket', () => {
  it('writes, reads, lists and removes objects below its prefix', async () => {
    const lake = bucket();
    const keys = ['x/website=!2F/1', 'x/2', 'x/ü é', 'x/+&<"', 'x/4', 'x/5', 'x/6', 'y/7'];
    for (const key of keys) expect(await lake.put(key, `text of ${key}`)).toBe(true);
    expect([...server.objects.keys()].sort()).toEqual(keys.map((key) => `a/b/${key}`).sort());
    expect((await lake.get('x/website=!2F/1'))?.text).toBe('text of x/website=!2F/1');
    expect(await lake.get('x/3')).toBeNull();
    expect((await lake.keys('x/')).sort()).toEqual(keys.slice(0, -1).sort());
    expect(server.requests.filter((request) => request.includes('continuation-token'))).toHaveLength(2);
    await lake.remove('x/2');
    await lake.remove('x/2');
    expect(await lake.get('x/2')).toBeNull();
  });

  it('replaces an object only under the condition that it is given', async () => {
    const lake = bucket();
    await lake.put('k', 'first');
    const { text, etag = '' } = (await lake.get('k')) ?? {};
    expect([await lake.put('k', 'second'), text]).toEqual([false, 'first']);
    expect(await lake.put('k', 'third', { 'if-match': etag })).toBe(true);
    expect(await lake.put('k', 'fourth', { 'if-match': etag })).toBe(false);
    expect((await lake.get('k'))?.text).toBe('third');
    expect(await lake.put('k', 'fifth', {})).toBe(true);
    expect((await lake.get('k'))?.text).toBe('fifth');
  });

  it('sends and fetches files, and only with the bytes that they must have', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'sent');
    writeFileSync(file, 'x'.repeat(300_000));
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
    const lake = bucket();
    await expect(lake.put('k', { file, sha256: sha256.replace(/^./, 'g') })).rejects.toThrow(
      /was changed after its commit/,
    );
    expect(server.requests).toEqual([]);
    first(2, 'wrong_bytes');
    expect(await lake.put('k', { file, sha256 })).toBe(true);
    expect(pauses).toHaveLength(2);
    const fetched = join(folder, 'sub', 'fetched');
    expect(await lake.download('k', fetched, sha256)).toBe(300_000);
    expect(readFileSync(fetched)).toEqual(readFileSync(file));
    const other = join(folder, 'other');
    expect(await lake.download('k', other, 'abc')).toBe('damaged');
    expect(await lake.download('none', other, 'abc')).toBe('missing');
    expect(existsSync(other)).toBe(false);
  });

  it.each([['cut'], ['500 InternalError'], ['503 SlowDown']] as const)(
    'tries again after %s, with longer pauses',
    async (fault) => {
      first(3, fault);
      expect(await bucket().put('k', 'text')).toBe(true);
      expect(pauses).toEqual([375, 750, 1500]);
      expect(server.requests).toHaveLength(4);
    },
  );

  it('does not wait for ever for an answer, nor for one that is only ever announced', async () => {
    const { url: endpoint } = await startRawServer((_, socket) => trickle(socket, EARLY_HINTS));
    const timeout = /GET s3:\/\/lake\/a\/b\/k: .*Timeout.*; check the network and AWS_ENDPOINT_URL/;
    server.fault = () => 'silent';
    for (const env of [server.env, { ...server.env, AWS_ENDPOINT_URL: endpoint }]) {
      const lake = new Bucket(server.url, { env, effects, timeout: 150, attempts: 1 });
      open.push(lake);
      await expect(lake.get('k')).rejects.toThrow(timeout);
    }
  });

  it('learns that an object is there where the answer to its own request was cut', async () => {
    first(1, 'kept');
    expect(await bucket().put('k', 'text')).toBe(false);
    expect(String(server.objects.get('a/b/k')?.body)).toBe('text');
  });

  it.each([
    ['403 AccessDenied', 'allow this key s3:ListBucket'],
    ['403 SignatureDoesNotMatch', 'check the keys'],
    ['500 InternalError', 'try again later'],
    ['503 SlowDown', 'it asks for fewer requests'],
    ['501 NotImplemented', 'this server lacks conditional writes'],
    ['wrong_bytes', 'the bytes changed on their way'],
  ] as const)('says of %s what to do, and nothing secret', async (fault, remedy) => {
    server.fault = () => fault;
    const error = await bucket()
      .get('k')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BucketError);
    expect(String(error)).toContain('GET s3://lake/a/b/k');
    expect(String(error)).toContain(remedy);
    expect(String(error)).not.toContain(SECRET);
  });

  it('sends its credentials and its clock, and names a missing bucket and missing credentials', async () => {
    await expect(bucket({ AWS_SESSION_TOKEN: 'expired' }).get('k')).rejects.toThrow(
      'credentials have expired: renew them',
    );
    await expect(bucket({}, () => Date.now() - 3_600_000).get('k')).rejects.toThrow("set this machine's clock");
    await expect(bucket({}, effects.now, 's3://pond').get('k')).rejects.toThrow('create the bucket');
    expect(() => new Bucket(server.url, { env: {} })).toThrow('there are no credentials for s3://lake/a/b');
  });
});

it.each<[string, (xml: string) => string]>([
  ['a page of a proxy', () => '<html><body>Sign in</body></html>'],
  ['a listing cut in the middle of an object', (xml) => `${xml.slice(0, -60)}</ListBucketResult>`],
  ['fewer objects than it counts', (xml) => xml.replace(/<Contents>.*?<\/Contents>/s, '')],
  ['an end without the rest', (xml) => xml.replace(/<NextContinuationToken>.*?<\/NextContinuationToken>/, '')],
  ['no word on whether it ends', (xml) => xml.replace(/<IsTruncated>\w+<\/IsTruncated>/, '')],
])('a listing that is %s is an error', async (_, lie) => {
  const asked = bucket();
  for (const key of ['p', 'q', 'r', 's']) await asked.put(key, key);
  expect(await asked.keys('')).toEqual(['p', 'q', 'r', 's']);
  server.listing = lie;
  await expect(asked.keys('')).rejects.toThrow('not a whole listing');
});

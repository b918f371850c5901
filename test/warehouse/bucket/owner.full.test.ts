import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { summedJson } from '../../../src/base/storage/json-file.js';
import { withBucket } from '../../../src/warehouse/bucket/client.js';
import { own } from '../../../src/warehouse/bucket/owner.js';
import { givenServers, lags, Machine, markers, refused } from './machine.js';

const given = givenServers();

const owner = () => given.bucket.objects.get('owner.json') ?? expect.fail();
/** Names another folder at once, as a take-over elsewhere does. */
const takeOverNow = () =>
  given.bucket.objects.set('owner.json', {
    body: Buffer.from(summedJson({ folder: randomUUID(), machine: 'other:/warehouse', since: '2025-03-01T00:00:00Z' })),
    modified: new Date(),
  });

test('a backup does not own the bucket', async () => {
  const [a, b] = [new Machine(), new Machine()];
  await a.does('night', `backup ${b.warehouse}`);
  expect(await b.run('sync')).toEqual(refused);
  expect(await b.run('schedule --once maintain')).toEqual(refused);
  await a.does('night');
  await a.expectWhole(2);
});

test('of two folders that claim a bucket at once, one owns it', async () => {
  const [a, b] = [new Machine(), new Machine()];
  const codes = (await Promise.all([a.night(), b.night()])).map(({ code }) => code);
  expect(codes.sort()).toEqual([0, 1]);
  const others = [new Machine(), new Machine()];
  for (const one of others) await one.does('restore');
  given.bucket.objects.delete('owner.json');
  const claims = others.map(({ warehouse }) => withBucket(given.bucket.url, (bucket) => own(bucket, warehouse)));
  const ended = await Promise.allSettled(claims);
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

describe('a folder that was taken over', () => {
  test('is refused; status says so, and taking it back sets aside what only it has', async () => {
    const a = new Machine();
    await a.does('night');
    given.bucket.fault = () => '403 AccessDenied';
    expect(await a.night()).toEqual(lags('AccessDenied'));
    given.bucket.fault = null;
    const b = new Machine();
    await b.does('restore --take-over', 'night');
    expect(await a.night()).toEqual(refused);
    const status = await a.run('status');
    expect(status.code).not.toBe(0);
    expect(status.text).toMatch(/the bucket cannot be compared: s3:\/\/lake belongs to/);
    await b.expectWhole(2);
    expect(await a.run('restore --take-over')).toMatchObject({ code: 0, text: expect.stringContaining('set-aside') });
    const [aside = ''] = readdirSync(join(a.warehouse, 'set-aside'));
    expect(existsSync(join(a.warehouse, 'set-aside', aside, 'parquet', 'snapshots'))).toBe(true);
    expect(await b.night()).toEqual(refused);
    await a.does('night');
    await a.expectWhole(3);
  });

  test.each([
    ['sent the state', 1],
    ['sent the marker', 2],
  ])('while it slept after it %s sends no further marker', async (step, sent) => {
    const [a, b] = [new Machine(), new Machine()];
    await a.does('night');
    const waiting = watchCrashPoints((at) => {
      if (at === step) takeOverNow();
    });
    onTestFinished(waiting);
    const { code } = await a.night();
    waiting();
    expect(code).toBe(step === 'sent the marker' ? 0 : 3);
    expect(markers()).toHaveLength(sent);
    expect(await a.night()).toEqual(refused);
    await b.does('restore --take-over', 'night');
    await b.expectWhole(sent + 1);
  });

  test('whose last marker arrives late: the next push of the new owner stops, until it has that commit', async () => {
    const [a, b] = [new Machine(), new Machine()];
    await a.does('night');
    const before = owner();
    await b.does('restore --take-over');
    const after = owner();
    given.bucket.objects.set('owner.json', before);
    given.bucket.fault = (what) => {
      if (/^PUT .*snapshots/.test(what)) given.bucket.objects.set('owner.json', after);
      return null;
    };
    await a.does('night');
    given.bucket.fault = null;
    expect(await b.night()).toEqual(lags('has 1 commit that'));
    expect((await b.run('status')).text).toContain('has 1 commit that');
    expect(await b.run('restore --take-over')).toMatchObject({ code: 0, text: expect.stringContaining('set-aside') });
    await b.does('night');
    await b.expectWhole(3);
  });
});

test('a machine that loses its disk goes on unattended', async () => {
  const a = new Machine();
  for (const _ of [1, 2]) {
    rmSync(a.warehouse, { recursive: true, force: true });
    await a.does('restore --take-over --if-missing', 'night');
  }
  await a.expectWhole(2);
});

test('without its bucket a folder syncs on, and the copy lags until it can be asked again', async () => {
  const [a, b] = [new Machine(), new Machine()];
  await a.does('night');
  await b.does('restore --take-over');
  given.bucket.fault = () => 'cut';
  expect(await b.night()).toEqual(lags('the bucket cannot be asked who owns it'));
  expect(await b.run('status')).toEqual(lags('the bucket cannot be compared'));
  expect(await a.night()).toEqual(lags('the bucket could not catch up'));
  given.bucket.fault = null;
  expect(await a.night()).toEqual(refused);
  await b.does('night');
  await b.expectWhole(3);
});

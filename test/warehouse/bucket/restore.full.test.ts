import { cpSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copyTo } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { newestFile } from '../../given/tamper.js';
import { buildNights, HOUR_MS, maintainAt } from '../../given/thinned.js';
import { givenStored } from './restoring.js';

const given = givenStored();
const { built, warehouse, restore, ask, differences } = given;

test('fetches what only the bucket has of a night, which verify calls a difference and leaves alone', async () => {
  cpSync(built.path, warehouse(), { recursive: true });
  for (const table of ['snapshots', 'runs'] as const) rmSync(await newestFile(warehouse(), table));
  const verified = await run(['verify', '--repair', '--config', given.config]);
  expect(verified).toMatchObject({ code: 1, stdout: expect.stringContaining('a snapshot that is in the bucket') });
  expect((await restore('--take-over')).code).toBe(0);
  expect(await differences()).toEqual([]);
  expect((await ask(warehouse())).stdout).toBe((await ask(built.path)).stdout);
});

test('names an object that is gone, and rebuilds a state that is cut short', async () => {
  for (const key of given.stored.keys())
    if (key.startsWith('nights/parquet/coverage/')) given.server.objects.delete(key);
  const named = (prefix: string) => expect.stringContaining(`damaged or missing: s3://lake/nights/${prefix}`);
  expect(await restore()).toMatchObject({ code: 3, stderr: named('parquet/coverage/') });
  rmSync(warehouse(), { recursive: true });
  given.server.objects = new Map(given.stored);
  for (const [key, one] of given.stored)
    if (key.startsWith('nights/state/')) given.server.objects.set(key, { ...one, body: one.body.subarray(0, -5) });
  expect(await restore()).toMatchObject({ code: 3, stderr: named('state/') });
  expect((await ask(warehouse())).stdout).toBe((await ask(built.path)).stdout);
});

test('fetches nothing that retention removed', async () => {
  const nights = await buildNights([1, 2, 3]);
  given.server.objects.clear();
  await copyTo(given.server, nights.path);
  await maintainAt(nights.path);
  await copyTo(given.server, nights.path);
  const { stdout: right } = await ask(nights.path);
  const keysIn = (kind: string) => [...given.server.objects.keys()].filter((key) => key.startsWith(`nights/${kind}`));
  const before = keysIn('parquet/coverage/').length;
  const later = Date.now() + 2 * HOUR_MS;
  given.server.now = () => later;
  await copyTo(given.server, nights.path, later);
  given.server.now = Date.now;
  expect(keysIn('parquet/coverage/').length).toBeLessThan(before);
  // They are made of the checkpoints and what is left.
  for (const key of keysIn('state/')) given.server.objects.delete(key);
  expect((await restore()).code).toBe(0);
  expect((await ask(warehouse())).stdout).toBe(right);
  expect(await differences()).toEqual([]);
});

/** Commands over a warehouse, and what `verify` finds about the bucket. */
function asking(path: string) {
  const config = writeConfig(temporaryFolder(), { sections: { bucket: given.server.url, warehouse: { path } } });
  const ask = async (...args: string[]) => JSON.parse((await run([...args, '--json', '--config', config])).stdout);
  const found = async (): Promise<{ level: string; message: string }[]> =>
    (await ask('verify')).findings.filter(({ check }: { check: string }) => check === 'bucket');
  return { ask, found };
}

test('compare them before and after, and verify --repair lets the next sync send what differs', async () => {
  given.server.objects.clear();
  const path = copyOf(built.path);
  const { ask, found } = asking(path);
  const followers = async () => (await ask('status')).followers;
  expect(await followers()).toContainEqual(expect.objectContaining({ name: 'bucket', behind: 3, exact: true }));
  await copyTo(given.server, path);
  expect(await followers()).toContainEqual(expect.objectContaining({ name: 'bucket', behind: 0 }));

  const [first = '', second = ''] = [...given.server.objects.keys()].filter((key) => key.includes('/coverage/'));
  given.server.objects.delete(first);
  const body = Buffer.from(given.server.objects.get(second)?.body ?? '').fill(0x55, 9, 10);
  given.server.objects.set(second, { body, modified: new Date() });
  const differences = await found();
  expect(differences.map(({ level }) => level)).toEqual(['difference', 'difference']);
  expect(differences.map(({ message }) => message.replace(/^.* (has|is) /, '')).sort()).toEqual([
    'missing',
    'other bytes',
  ]);
  const { repaired }: { repaired: string[] } = await ask('verify', '--repair');
  expect(repaired.filter((what) => what.startsWith('removed'))).toHaveLength(2);
  await copyTo(given.server, path);
  expect(await found()).toEqual([]);
});

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/base/exit.js';
import { readKeys } from '../../../src/serve/keys/key-file.js';
import { LiveKeys } from '../../../src/serve/keys/live-keys.js';
import { addKey, revokeKey } from '../../../src/serve/keys/manage-keys.js';
import { WarehouseError } from '../../../src/warehouse/log/folder/prepare.js';
import { start } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';

const WEBSITES = [
  { id: 'blog', name: 'blog.example' },
  { id: 'shop', name: 'shop' },
];

const NOW = Date.parse('2026-01-31T12:00:00Z');

let warehouse: string;
let keyFile: string;
beforeEach(() => {
  warehouse = join(temporaryFolder(), 'warehouse');
  keyFile = join(warehouse, 'service-keys.json');
  mkdirSync(join(warehouse, 'parquet'), { recursive: true });
});

/** The keys as a service sees them that looks again whenever the test says so. */
function live() {
  let now = 0;
  const keys = new LiveKeys(
    warehouse,
    async () => WEBSITES,
    () => now,
    () => NOW + now,
  );
  const pass = (ms: number) => {
    now += ms;
  };
  return { find: keys.findKey, pass };
}

describe('adding', () => {
  it('gives a token that is stored nowhere, in a file that only its owner reads', async () => {
    const { key, token } = await addKey(warehouse, { label: 'one', websites: ['shop', 'shop'] }, { now: () => NOW });
    expect(token).toMatch(/^ih_[A-Za-z0-9_-]{43}$/);
    expect(key).toEqual({ id: key.id, label: 'one', websites: ['shop'], created_at: '2026-01-31T12:00:00.000Z' });
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const text = readFileSync(keyFile, 'utf8');
    expect(text).not.toContain(token.slice(3));
    expect(text).not.toContain(Buffer.from(token).toString('base64').slice(0, 20));
  });

  it('loses none where several add at once, in this process and in another', async () => {
    const labels = ['a', 'b', 'c', 'd'];
    const other = start(['keys', 'add', '--label', 'x', '--website', 'all', '--json', '--warehouse', warehouse]);
    await Promise.all(labels.map((label) => addKey(warehouse, { label, websites: 'all' })));
    const { token, id } = JSON.parse((await other.ended).stdout);
    expect((await readKeys(warehouse)).map(({ label }) => label).sort()).toEqual([...labels, 'x']);
    expect(await live().find(token)).toMatchObject({ _id: id, api_key_label: 'x' });
  });

  it('refuses labels that cannot be shown and expiries that are none or over', async () => {
    const refused = (label: string, expires?: string) =>
      expect(addKey(warehouse, { label, websites: 'all', expires }, { now: () => NOW })).rejects.toThrow(UsageError);
    for (const label of ['', ' x', 'a\nb', '\ud800', 'x'.repeat(201)]) await refused(label);
    for (const expires of ['', 'soon', '2026-01-30', '2026-02-30', '2026-01-31T12:00:00Z', '0d', '2027'])
      await refused('x', expires);
    expect(await readKeys(warehouse)).toEqual([]);
  });
});

describe('revoking', () => {
  it('takes the id or the label, which is unique', async () => {
    const one = await addKey(warehouse, { label: 'one', websites: 'all' });
    const two = await addKey(warehouse, { label: 'two', websites: 'all' });
    const again = addKey(warehouse, { label: 'one', websites: 'all' });
    await expect(again).rejects.toThrow(`there is a key with the label one (${one.key.id})`);
    await expect(revokeKey(warehouse, 'nobody')).rejects.toThrow('no key with the id or label nobody');
    expect(await revokeKey(warehouse, one.key.id)).toEqual(one.key);
    expect(await revokeKey(warehouse, 'two')).toEqual(two.key);
    expect(await readKeys(warehouse)).toEqual([]);
  });

  it('is noticed a second later; a key that was added opens at once', async () => {
    const { find, pass } = live();
    expect(await find('ih_unknown')).toBeNull();
    const { key, token } = await addKey(warehouse, { label: 'one', websites: 'all' });
    expect(await find(token)).toMatchObject({ _id: key.id });
    await revokeKey(warehouse, key.id);
    pass(1000);
    expect(await find(token)).toBeNull();
  });
});

describe('a key', () => {
  it('names the websites that it may read: those that there are, or those that it was granted', async () => {
    const all = await addKey(warehouse, { label: 'all', websites: 'all' });
    const some = await addKey(warehouse, { label: 'some', websites: ['blog', 'later'] });
    const { find } = live();
    const websitesOf = async (token: string) =>
      (await find(token))?.websites_access.map(({ _id, url }) => `${_id} ${url}`);
    expect(await websitesOf(all.token)).toEqual(['blog blog.example', 'shop shop']);
    expect(await websitesOf(some.token)).toEqual(['blog blog.example', 'later later']);
  });

  it('opens nothing with less, more or another case of its token, nor with its hash', async () => {
    const { token } = await addKey(warehouse, { label: 'one', websites: 'all' });
    const [stored] = await readKeys(warehouse);
    const { find } = live();
    const wrong = ['', token.slice(0, -1), `${token}x`, token.toLowerCase(), token.slice(3), `${stored?.sha256}`];
    for (const guess of wrong) expect(await find(guess)).toBeNull();
    expect(await find(token)).not.toBeNull();
  });
});

it('a damaged file opens nothing and is left as it is, until it is mended', async () => {
  const { token } = await addKey(warehouse, { label: 'one', websites: 'all' });
  const { find, pass } = live();
  expect(await find(token)).not.toBeNull();
  const whole = readFileSync(keyFile, 'utf8');
  const { keys } = JSON.parse(whole);
  for (const text of [whole.slice(0, 40), JSON.stringify({ keys: [{ ...keys[0], until: '2026-02-01' }] })]) {
    writeFileSync(keyFile, text);
    pass(1000);
    await expect(find(token)).rejects.toThrow(WarehouseError);
    const refused = await addKey(warehouse, { label: 'x', websites: 'all' }).catch((error: unknown) => error);
    expect(String(refused)).toMatch(/service-keys\.json is damaged.*: restore it from a backup, or delete it/);
    expect(String(refused)).not.toContain(keys[0].sha256);
    expect(readFileSync(keyFile, 'utf8')).toBe(text);
  }
  writeFileSync(keyFile, whole);
  expect(await find(token)).not.toBeNull();
});

it.each([
  ['2026-01-31', '2026-02-01T00:00:00.000Z'],
  ['2026-03-01T10:00:00+02:00', '2026-03-01T08:00:00.000Z'],
  ['90d', '2026-05-01T12:00:00.000Z'],
])('a key that expires at %s is closed at its moment', async (expires, expires_at) => {
  const { key, token } = await addKey(warehouse, { label: 'x', websites: 'all', expires }, { now: () => NOW });
  expect(key.expires_at).toBe(expires_at);
  const { find, pass } = live();
  pass(Date.parse(expires_at) - NOW - 1);
  expect(await find(token)).not.toBeNull();
  pass(1);
  expect(await find(token)).toBeNull();
});

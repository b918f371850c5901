import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { contentOf } from '../../given/content.js';
import { temporaryFolder } from '../../given/folder.js';
import { findingsOf } from '../../given/verified.js';

test('a backup is a warehouse that goes on, and lies outside; the next one copies only what is new', async () => {
  const simulator = await startSimulator({ seed: 3, websites: [{ id: 'a/b', pages: 20 }] });
  const folder = temporaryFolder();
  const config = writeConfig(folder, { baseUrl: simulator.url, websites: ['a/b'] });
  const warehouse = join(folder, 'warehouse');
  const copy = join(temporaryFolder(), 'deep', 'copy');
  const sync = (path: string) =>
    run(['sync', '--json', '--config', config], { env: { INDEXHOUSE_WAREHOUSE_PATH: path } });
  const backUp = async () => JSON.parse((await run(['backup', copy, '--keys', '--json', '--config', config])).stdout);
  expect((await run(['keys', 'add', '--label', 'x', '--website', 'all', '--config', config])).code).toBe(2);

  await sync(warehouse);
  expect((await run(['keys', 'add', '--label', 'x', '--website', 'all', '--config', config])).code).toBe(0);
  const inside = await run(['backup', join(warehouse, 'backup'), '--config', config]);
  expect(inside).toMatchObject({ code: 2, stderr: expect.stringContaining('is inside the warehouse') });
  const first = await backUp();
  expect(first).toMatchObject({ unchanged: 0, gone: 0 });
  // As an earlier version may have written it.
  const schema = join(copy, 'schema', 'columns.json');
  writeFileSync(schema, Buffer.alloc(statSync(schema).size));
  simulator.advance(1);
  await sync(warehouse);
  const notices = join(warehouse, 'notices.json');
  writeFileSync(notices, '{"seen":{},"channels":{}}', { mode: 0o600 });
  const second = await backUp();
  expect(readFileSync(join(copy, 'notices.json'))).toEqual(readFileSync(notices));
  expect(statSync(join(copy, 'notices.json')).mode & 0o077).toBe(0);
  expect(second.unchanged).toBeGreaterThan(8);
  expect(second.files).toBeLessThan(first.files);
  expect(await contentOf(copy)).toEqual(await contentOf(warehouse));
  expect(readFileSync(schema).equals(readFileSync(schema.replace(copy, warehouse)))).toBe(true);
  expect(statSync(join(copy, 'service-keys.json')).mode & 0o077).toBe(0);
  expect(readdirSync(copy, { recursive: true }).filter((name) => String(name).endsWith('.tmp'))).toEqual([]);

  expect((await run(['verify', '--warehouse', copy])).code).toBe(0);
  rmSync(warehouse, { recursive: true });
  simulator.advance(1);
  expect((await sync(copy)).code).toBe(0);
  expect(await findingsOf(copy)).toEqual([]);
});

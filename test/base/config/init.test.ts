import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { schemaFor, writeStarterConfig } from '../../../src/base/config/init.js';
import { loadConfig } from '../../../src/base/config/load.js';
import { configJsonSchema, configSchema } from '../../../src/base/config/schema.js';
import { packageFolder } from '../../../src/base/storage/sql.js';
import { load, MINIMAL, refusal, tempFolder } from './given.js';

/** The text of a new configuration in a folder, by default with every key. */
async function starter(cwd: string, full = true): Promise<string> {
  const file = join(cwd, 'indexhouse.yaml');
  await writeStarterConfig(file, { full });
  return readFile(file, 'utf8');
}

test.each([true, false])('a new configuration gives exactly the defaults (full: %s)', async (full) => {
  const cwd = await tempFolder();
  await starter(cwd, full);
  const { file, ...started } = await loadConfig({ env: { INDEXHOUSE_TOKEN: 'abc' }, cwd });
  const { file: _, ...minimal } = await load(MINIMAL);
  const warehouse = { ...started.warehouse, path: minimal.warehouse.path };
  expect({ ...started, warehouse }).toEqual(minimal);
});

test('it has every key below its description, and the hint for editors', async () => {
  const text = await starter(await tempFolder());
  const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
  expect(fileURLToPath(schema)).toBe(join(packageFolder(), 'docs', 'indexhouse.schema.json'));
  expect(schemaFor(join(packageFolder(), 'indexhouse.yaml'))).toBe('docs/indexhouse.schema.json');
  const sections = Object.values(configSchema.shape).flatMap((schema) => {
    const section = schema instanceof z.ZodPrefault ? schema.unwrap() : schema;
    return section instanceof z.ZodObject ? [section] : [];
  });
  for (const key of sections.flatMap(({ shape }) => Object.keys(shape))) {
    expect(text).toMatch(new RegExp(`^(# )?  # \\S.*\n(# )?  (# )?${key}: .`, 'm'));
  }
  for (const key of Object.keys(configSchema.shape)) expect(text).toMatch(new RegExp(`^# \\S.*\n(# )?${key}:`, 'm'));
});

test('its examples are valid once they are no comments any more', async () => {
  const cwd = await tempFolder();
  const text = (await starter(cwd)).replace(/^.*\n#\n.*\n.*\n/, '');
  const examples = text
    .replaceAll(/^# (google:|bucket: .*| {2}\S| {4})/gm, '$1')
    .replaceAll(/^( *)[\w-]+: .*\n\1# ([\w-]+:)/gm, '$1# $2')
    .replaceAll(/^( *)# ([\w-]+:| +)/gm, '$1$2');
  await writeFile(join(cwd, 'indexhouse.yaml'), examples);
  const names = [...examples.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const env = Object.fromEntries(names.map((name) => [name, 'https://value.example']));
  const config = await loadConfig({ env, cwd });
  expect(config).toMatchObject({ bucket: 's3://name/prefix', notify: { channels: { length: 5 } } });
});

test('an existing file is left as it is, and a missing folder is an error', async () => {
  const folder = await tempFolder();
  const file = join(folder, 'indexhouse.yaml');
  await writeFile(file, 'mine');
  expect((await refusal(writeStarterConfig(file))).message).toContain('was not changed');
  expect(await readFile(file, 'utf8')).toBe('mine');
  expect((await refusal(writeStarterConfig(join(folder, 'no/x.yaml')))).message).toContain('ENOENT');
});

test('docs/indexhouse.schema.json is what the schema generates; UPDATE_GENERATED=1 rewrites it', async () => {
  const file = join(packageFolder(), 'docs', 'indexhouse.schema.json');
  const generated = JSON.parse(JSON.stringify(configJsonSchema()));
  if (process.env['UPDATE_GENERATED']) await writeFile(file, `${JSON.stringify(generated, null, 2)}\n`);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(generated);
});

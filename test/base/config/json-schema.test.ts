import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { configJsonSchema } from '../../../src/base/config/schema.js';

const FILE = new URL('../../../docs/indexhouse.schema.json', import.meta.url);

test('docs/indexhouse.schema.json is what the schema generates; UPDATE_GENERATED=1 rewrites it', async () => {
  const generated = JSON.parse(JSON.stringify(configJsonSchema()));
  if (process.env['UPDATE_GENERATED']) await writeFile(FILE, `${JSON.stringify(generated, null, 2)}\n`);
  expect(JSON.parse(await readFile(FILE, 'utf8'))).toEqual(generated);
  expect(generated).toMatchObject({ anyOf: [{ required: ['api'] }, { required: ['websites'] }] });
});

import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../src/config/schema.js';

const FILE = new URL('../../docs/indexhouse.schema.json', import.meta.url);

describe('docs/indexhouse.schema.json', () => {
  it('is what the schema generates; UPDATE_GENERATED=1 writes it anew', async () => {
    const generated = JSON.parse(JSON.stringify(configJsonSchema()));
    if (process.env['UPDATE_GENERATED']) await writeFile(FILE, `${JSON.stringify(generated, null, 2)}\n`);
    expect(JSON.parse(await readFile(FILE, 'utf8'))).toEqual(generated);
  });

  it('describes the file as it is written', () => {
    expect(configJsonSchema()).toMatchObject({
      required: ['api'],
      additionalProperties: false,
      properties: {
        api: {
          required: ['base_url'],
          properties: { timeout: { type: 'string', default: '30s' }, page_size: { maximum: 100_000 } },
        },
      },
    });
  });
});

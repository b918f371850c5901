import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { schemaFor, writeStarterConfig } from '../../src/config/init.js';
import { loadConfig } from '../../src/config/load.js';
import { configSchema, SECTIONS } from '../../src/config/schema.js';
import { packageFolder } from '../../src/storage/sql.js';
import { load, MINIMAL, refusal, tempFolder } from './given.js';

describe('writeStarterConfig', () => {
  it('writes what gives exactly the defaults', async () => {
    const cwd = await tempFolder();
    await writeStarterConfig(join(cwd, 'indexhouse.yaml'));
    const { file, ...started } = await loadConfig({ env: { INDEXHOUSE_TOKEN: 'abc' }, cwd });
    const { file: minimalFile, ...minimal } = await load(MINIMAL);
    const withoutFolders = ({ warehouse, report, ...rest }: typeof minimal) => ({
      ...rest,
      warehouse: { ...warehouse, path: '' },
      report: { ...report, folder: '' },
    });
    expect(withoutFolders(started)).toEqual(withoutFolders(minimal));
    expect(file).not.toBe(minimalFile);
  });

  it('holds every key with a comment, and the hint for editors', async () => {
    const file = join(await tempFolder(), 'x.yaml');
    await writeStarterConfig(file);
    const text = await readFile(file, 'utf8');
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
    expect(fileURLToPath(schema)).toBe(join(packageFolder(), 'docs', 'indexhouse.schema.json'));
    expect(schemaFor(join(packageFolder(), 'indexhouse.yaml'))).toBe('docs/indexhouse.schema.json');
    for (const key of Object.values(SECTIONS).flatMap(({ shape }) => Object.keys(shape))) {
      expect(text).toMatch(new RegExp(`^  (# )?${key}: .+ # \\S`, 'm'));
    }
    for (const key of Object.keys(configSchema.shape)) expect(text).toMatch(new RegExp(`^(# )?${key}:`, 'm'));
  });

  it('can name the service', async () => {
    const file = join(await tempFolder(), 'x.yaml');
    await writeStarterConfig(file, { baseUrl: 'http://127.0.0.1:9' });
    const { api } = await loadConfig({ file, env: { INDEXHOUSE_TOKEN: 't' }, cwd: '/' });
    expect(api.base_url).toBe('http://127.0.0.1:9');
  });

  it('never overwrites', async () => {
    const file = join(await tempFolder(), 'indexhouse.yaml');
    await writeFile(file, 'mine');
    const error = await refusal(writeStarterConfig(file));
    expect(error.message).toContain(file);
    expect(error.message).toContain('was not changed');
    expect(await readFile(file, 'utf8')).toBe('mine');
  });

  it('says that the folder is missing', async () => {
    const error = await refusal(writeStarterConfig(join(await tempFolder(), 'no/x.yaml')));
    expect(error.message).toContain('no such folder');
  });
});

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageFolder } from '../../../src/base/storage/sql.js';

/** An import of more than types. */
const LOADS_DUCKDB = /^import (?!type )[^;]*?from '@duckdb\/node-api'/m;

it('DuckDB is imported nowhere but for its types: a require takes half of the time', async () => {
  const folder = join(packageFolder(), 'src');
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  expect(files.filter((_, at) => LOADS_DUCKDB.test(texts[at] ?? ''))).toEqual([]);
});

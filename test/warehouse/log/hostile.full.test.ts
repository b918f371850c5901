import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { withReader } from '../../../src/answers/query/reader.js';
import { countsIn } from '../../given/counts.js';
import { newestFile } from '../../given/tamper.js';
import { CASES, expectNothingOutside, givenInterrupted } from './hostile.js';

const given = givenInterrupted();

test('rows in schema/ are in no answer', async () => {
  const home = given();
  const tables = ['coverage', 'page_versions', 'runs', 'snapshots'] as const;
  const counts = async () => {
    const query = tables.map((table) => `(select count(*)::integer from ${table}) as ${table}`);
    const options = { warehouse: home.warehouse, memoryLimit: 256e6 };
    const read = withReader(options, (reader) => reader.rows(z.unknown(), `select ${query.join(', ')}`));
    return [await read, await countsIn(join(home.warehouse, 'analytics.duckdb'), [...tables])];
  };
  const before = await counts();
  for (const table of tables) {
    cpSync(await newestFile(home.warehouse, table), join(home.warehouse, 'schema', `${table}.parquet`));
  }
  expect(await counts()).toEqual(before);
  expect(await home.verify(true)).toMatchObject({ findings: [], repaired: [] });
});

test.for(CASES)('%s leads to nothing outside of the warehouse', (planted) => expectNothingOutside(given(), planted));

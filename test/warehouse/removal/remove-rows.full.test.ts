import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATA_TABLES, type Table } from '../../../src/warehouse/log/folder/tables.js';
import { readTable } from '../../given/parquet.js';
import { buildNights } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { removeNow } from './removed.js';

test('a removed website leaves nothing behind, and every row of the others', async () => {
  const { path } = await buildNights([1, 2, 3]);
  const rowsOf = async () => {
    const tables = [...DATA_TABLES, 'snapshots', 'runs'] satisfies Table[];
    return Promise.all(tables.map((table) => readTable(path, table)));
  };
  const aside = join(path, 'set-aside', '2025-01-04', 'parquet', 'coverage', 'website=blog');
  mkdirSync(aside, { recursive: true });
  writeFileSync(join(aside, 'orphan.parquet'), '');
  const before = await rowsOf();
  await removeNow(path, 'blog');
  expect(readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('blog'))).toEqual([]);
  expect((await findingsOf(path)).filter(({ level }) => level === 'difference')).toEqual([]);
  expect(await rowsOf()).toEqual(before.map((rows) => rows.filter(({ website_id }) => website_id !== 'blog')));
});

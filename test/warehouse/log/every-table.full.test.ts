import { readFileSync } from 'node:fs';
import { parquetMetadata } from 'hyparquet';
import { expect, test } from 'vitest';
import { filesOfTable, givenEveryTable } from '../../given/every-table.js';
import { byDuckdb, byHyparquet, canonical, documentedColumns } from '../../given/readers.js';

/** The names of a file's columns, in their order. */
function columnsIn(file: string): string[] {
  const [root, ...elements] = schemaOf(file);
  const names: string[] = [];
  for (let at = 0; names.length < (root?.num_children ?? 0); at++) {
    names.push(elements[at]?.name ?? '');
    // A list is three levels deep.
    if (elements[at]?.num_children) at += 2;
  }
  return names;
}

test('the Parquet files of every table hold the documented columns in their order, and the same for every reader', async () => {
  const warehouse = await givenEveryTable('both');
  for (const [table, columns] of await documentedColumns()) {
    const files = await filesOfTable(warehouse, table);
    for (const file of files) {
      expect([table, columnsIn(file)]).toEqual([table, columns.map(({ name }) => name)]);
      expect([table, jsonTypesIn(file)]).toEqual([table, []]);
    }
    const rows = canonical(await byDuckdb(files), columns);
    expect(rows.length, `test/given/every-table.ts makes no rows of ${table}`).toBeGreaterThan(0);
    expect([table, canonical(await byHyparquet(files), columns)]).toEqual([table, rows]);
  }
  const [reports] = await filesOfTable(warehouse, 'url_reports');
  const list = schemaOf(reports ?? '').slice(schemaOf(reports ?? '').findIndex(({ name }) => name === 'sitemaps'));
  expect(list.slice(0, 3)).toMatchObject([
    { name: 'sitemaps', repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  ]);
});

/** The elements of a file's schema. */
function schemaOf(file: string) {
  const bytes = readFileSync(file);
  return parquetMetadata(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)).schema;
}

/** The columns that carry Parquet's JSON type, which Polars and others do not read as text. */
function jsonTypesIn(file: string): string[] {
  const typed = schemaOf(file).filter((one) => one.converted_type === 'JSON' || one.logical_type?.type === 'JSON');
  return typed.map(({ name }) => name);
}

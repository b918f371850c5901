import { findAnalysis } from '../../../src/answers/query/catalog.js';
import { valuesOf } from '../../../src/answers/query/parameters.js';
import { ask } from '../../../src/answers/query/question.js';
import { Reader } from '../../../src/answers/query/reader.js';
import type { Scalar } from '../../../src/base/storage/engine.js';
import type { Value } from '../../../src/base/storage/values.js';
import { atEnd, type OnFinished } from '../../given/folder.js';
import { type BuiltWarehouse, buildWarehouse } from '../../given/warehouse.js';

const SHOP = 'https://shop.example';

/** Two nights of four pages, of which two fall out of the index and one leaves the listing. */
export function smallWarehouse(): Promise<BuiltWarehouse> {
  const page = (path: string, index_summary: string) => ({ url: SHOP + path, entry: { index_summary } });
  const blog = (summary: string) => [page('/blog/a_b', summary), page('/blog/caf%C3%A9', summary)];
  return buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { shop: [page('/', 'Indexed'), ...blog('Indexed'), page('/x', 'Indexed')] } },
    { at: '2025-03-02T02:00:00Z', lists: { shop: [page('/', 'Indexed'), ...blog('Not Indexed')] } },
  ]);
}

export type Row = Record<string, Value>;

export async function openReader(warehouse: string, onFinished: OnFinished = atEnd): Promise<Reader> {
  const reader = await Reader.open({ warehouse, memoryLimit: 256e6 });
  onFinished(() => reader.close());
  return reader;
}

export async function rowsOf(reader: Reader, sql: string, parameters: Record<string, Scalar> = {}): Promise<Row[]> {
  const { columns, parts } = await ask(reader, { name: 'test', sql, parameters });
  const rows: Row[] = [];
  for await (const part of parts) {
    for (const row of part) rows.push(Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null])));
  }
  return rows;
}

export async function analysisRows(reader: Reader, name: string, given: Record<string, string> = {}): Promise<Row[]> {
  const analysis = findAnalysis(name);
  return rowsOf(reader, analysis.sql, valuesOf(analysis, new Map(Object.entries(given)), reader.today));
}

import { readFileSync } from 'node:fs';
import type { Reader } from '../../src/answers/query/reader.js';
import { analysisRows, type Row } from '../answers/query/given.js';

const GUIDE = readFileSync('docs/beyond-one-machine.md', 'utf8');
const [trend = '', changes = ''] = [...GUIDE.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, text = '']) => text);

/** The statements of docs/beyond-one-machine.md, by the analysis that has the same figures. */
export const GUIDE_STATEMENTS = [
  { name: 'indexing_trend', sql: trend },
  { name: 'changes_per_night', sql: changes },
];

/** The answer of `query` to a statement of the guide, over all dates. */
export function queryAnswer(reader: Reader, { name }: { name: string }): Promise<Row[]> {
  return analysisRows(reader, name, { since: '2000-01-01' });
}

/** One text a row, of these columns: numbers are numbers, whatever their type. */
export function sorted(rows: readonly Record<string, unknown>[] = [], columns = Object.keys(rows[0] ?? {})): string[] {
  return rows.map((row) => JSON.stringify(columns.map((name) => row[name]))).sort();
}

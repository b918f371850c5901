import { readFileSync } from 'node:fs';
import type { Reader } from '../../src/answers/query/reader.js';
import { analysisRows, type Row, rowsOf } from '../answers/query/given.js';

const GUIDE = readFileSync('docs/beyond-one-machine.md', 'utf8');
const [trend = '', changes = ''] = [...GUIDE.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, text = '']) => text);

/** The statements of docs/beyond-one-machine.md. */
export const GUIDE_STATEMENTS = [
  { name: 'indexing_trend', sql: trend },
  { name: 'changes of pages', sql: changes },
];
/** What the changes of pages say of each night. */
const BY_NIGHT = `select
  website_id,
  snapshot_date,
  count_if(kind = 'new') as first_seen,
  count_if(kind = 'in') as entered,
  count_if(kind = 'out') as fell_out,
  count_if(kind = 'gone') as gone
from (
  select website_id, min(snapshot_date) as snapshot_date, 'new' as kind from page_versions group by website_id, url
  union all
  select website_id, snapshot_date, if(index_step(change, from_value, to_value) = 1, 'in', 'out')
  from page_changes
  where index_step(change, from_value, to_value) is not null and from_snapshot_id is not null
  union all
  select website_id, snapshot_date, 'gone' from page_changes where change = 'disappeared'
  union all
  select distinct website_id, snapshot_date, 'any' from page_versions
)
group by website_id, snapshot_date`;

/** The answer of `query` to a statement of the guide, over all dates. */
export function queryAnswer(reader: Reader, { name }: { name: string }): Promise<Row[]> {
  return name === 'indexing_trend' ? analysisRows(reader, name, { since: '2000-01-01' }) : rowsOf(reader, BY_NIGHT);
}

/** One text a row, of these columns: numbers are numbers, whatever their type. */
export function sorted(rows: readonly Record<string, unknown>[] = [], columns = Object.keys(rows[0] ?? {})): string[] {
  return rows.map((row) => JSON.stringify(columns.map((name) => row[name]))).sort();
}

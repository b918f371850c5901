import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '../../src/answers/query/reader.js';
import { packageFolder } from '../../src/base/storage/sql.js';
import { analysisRows, type Row, rowsOf } from '../answers/query/given.js';

const FOLDER = join(packageFolder(), 'sql', 'answers', 'lake');
const PERIOD = /max\(snapshot_date\) - interval (\d+) day as since/;

export interface LakeAnalysis {
  name: string;
  sql: string;
}

/** The analyses of `sql/answers/lake`. */
export function lakeAnalyses(): LakeAnalysis[] {
  const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
  return readdirSync(FOLDER).map((name) => ({ name: name.replace('.sql', ''), sql: read(name) }));
}

/** The answer of `query` over the period that the statement names. */
export async function queryAnswer(reader: Reader, { name, sql }: LakeAnalysis): Promise<Row[]> {
  const days = Number(PERIOD.exec(sql)?.[1] ?? 999);
  const [newest = {}] = await rowsOf(reader, 'select max(snapshot_date)::varchar as until from snapshots');
  const until = String(newest['until']);
  const since = new Date(Date.parse(until) - days * 86_400_000).toISOString().slice(0, 10);
  return analysisRows(reader, name, { since, ...(PERIOD.test(sql) ? { until } : {}) });
}

/** One text a row, of these columns: numbers are numbers, whatever their type. */
export function sorted(rows: readonly Record<string, unknown>[] = [], columns = Object.keys(rows[0] ?? {})): string[] {
  return rows.map((row) => JSON.stringify(columns.map((name) => row[name]))).sort();
}

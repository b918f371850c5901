import { z } from 'zod';
import type { Reader } from '../src/answers/query/reader.js';
import { identifier } from '../src/base/storage/sql.js';
import { TABLES } from '../src/warehouse/log/folder/tables.js';

/** What a view that analyses stand on is made of, and which column each of its own columns comes from. */
const VIEWS: Record<string, { tables: readonly string[]; columns: Record<string, string> }> = {
  pages: {
    tables: ['page_state'],
    columns: {
      is_indexed: 'index_summary',
      is_listed: 'status',
      is_indexing_allowed: 'report_indexing_allowed',
      is_blocked_by_robots_txt: 'report_blocked_by_robots_txt',
      was_ever_blocked_by_robots_txt: 'report_ever_blocked_by_robots_txt',
      listing_age_days: 'listed_at',
      report_age_days: 'report_fetched_at',
    },
  },
  daily_listings: { tables: ['snapshots'], columns: {} },
};
const COMMENT_OR_TEXT = /--.*$|'(?:[^']|'')*'/gm;

/** Columns by table. */
export type NamedColumns = Map<string, string[]>;

/**
 * The columns that a statement names, of each table that it reads itself or through a view. One whose name stands in
 * several of these tables counts in each.
 */
export async function namedColumns(reader: Reader, text: string): Promise<NamedColumns> {
  const statement = text.replaceAll(COMMENT_OR_TEXT, ' ');
  const read = new Set([...statement.matchAll(/\b(?:from|join)\s+(\w+)/g)].map(([, name]) => name ?? ''));
  const views = Object.entries(VIEWS).flatMap(([name, view]) => (read.has(name) ? [view] : []));
  const words = new Set(statement.match(/\w+/g));
  for (const [own, column] of views.flatMap(({ columns }) => Object.entries(columns)))
    if (words.has(own)) words.add(column);
  const found: NamedColumns = new Map();
  for (const table of TABLES) {
    if (!read.has(table) && !views.some(({ tables }) => tables.includes(table))) continue;
    const columns = (await columnsOf(reader, table)).filter((column) => words.has(column));
    if (columns.length > 0) found.set(table, columns);
  }
  return found;
}

async function columnsOf(reader: Reader, table: string): Promise<string[]> {
  const described = await reader.rows(z.object({ column_name: z.string() }), `describe ${table}`);
  return described.map(({ column_name }) => column_name);
}

/** A statement that reads all these columns once, and keeps nothing of them. */
export function scanOf(named: NamedColumns): string {
  const scans = [...named].map(
    ([table, columns]) =>
      `select count(*) as rows, bit_xor(hash(${columns.map(identifier).join(', ')})) as read from ${table}`,
  );
  return scans.join(' union all ');
}

import { z } from 'zod';
import type { Parameters } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { askAnalysis } from './ask-analysis.js';
import type { Reader } from './reader.js';

/** Asks a statement of ours, by its name such as `report/snapshots`, and checks each row. */
export async function askRows<T>(
  reader: Reader,
  name: string,
  schema: z.ZodType<T>,
  parameters: Parameters,
): Promise<T[]> {
  return askText(reader, sql(name), schema, parameters);
}

/** Asks a ready-made analysis of one website or of all (null), and checks each row. */
export async function askOf<T extends { website_id: string }>(
  reader: Reader,
  name: string,
  schema: z.ZodType<T>,
  website: string | null,
  given: Readonly<Record<string, string>> = {},
): Promise<T[]> {
  const answer = await askAnalysis(reader, name, { ...given, ...(website === null ? {} : { website }) });
  const records = answer.rows.map((row) => Object.fromEntries(answer.columns.map((column, at) => [column, row[at]])));
  // Analyses take a website's name too, which may be another one's id.
  return z
    .array(schema)
    .parse(records)
    .filter(({ website_id }) => website === null || website_id === website);
}

const countRow = z.object({ rows: z.int() });

/**
 * A window of what a statement of ours selects, and how much that is in all. The statement gives what it sorts by as
 * `ascending` or `descending`, one of them null; what is equal, or not known, comes last and is ordered by `url`.
 *
 * @param columns names of ours, so that nothing else is read; every one but what it sorts by where they are left out
 */
export async function askSelected<T>(
  reader: Reader,
  name: string,
  schema: z.ZodType<T>,
  {
    selection,
    skip,
    limit,
    columns,
  }: { selection: Parameters; skip: number; limit: number; columns?: readonly string[] },
): Promise<{ count: number; rows: T[] }> {
  const selected = `(${sql(name)}\n)`;
  const [counted] = await askText(reader, `select count(*)::integer as rows from ${selected}`, countRow, selection);
  const named = columns?.join(', ') ?? '* exclude (ascending, descending)';
  const rows = await askText(
    reader,
    `select ${named} from ${selected}
     order by ascending nulls last, descending desc nulls last, url limit $limit::bigint offset $skip::bigint`,
    schema,
    { ...selection, limit, skip },
  );
  return { count: counted?.rows ?? 0, rows };
}

async function askText<T>(reader: Reader, text: string, schema: z.ZodType<T>, parameters: Parameters): Promise<T[]> {
  reader.nextTurn();
  return reader.withStates(() => reader.engine.rows(schema, text, parameters));
}

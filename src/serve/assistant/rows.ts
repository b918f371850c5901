import { z } from 'zod';
import { ask, countRows, type Question } from '../../answers/query/question.js';
import type { Reader } from '../../answers/query/reader.js';
import { count } from '../../base/observe/format.js';
import type { Value } from '../../base/storage/values.js';

export const DEFAULT_ROWS = 50;
export const MOST_ROWS = 500;
/** The most that the rows of an answer may take as JSON: about 10,000 tokens. */
const MOST_CHARACTERS = 40_000;
const MOST_VALUE_CHARACTERS = 2000;
/** Counting stops here. */
const MOST_COUNTED = 100_000;

/** The parameters that select a window of rows. */
export const windowInput = {
  limit: z.int().min(1).max(MOST_ROWS).default(DEFAULT_ROWS).describe('Rows to return at most.'),
  offset: z.int().min(0).default(0).describe('Rows to skip: `next_offset` of the answer before.'),
};
/** Longer parameters make comparisons slow. */
const MOST_TEXT_CHARACTERS = 8000;
export const text = () => z.string().max(MOST_TEXT_CHARACTERS);

/** A window of rows, and how to get the next one. */
export const rowsOutput = {
  columns: z.array(z.string()),
  rows: z.array(z.array(z.unknown())).describe('The values of each row, in the order of `columns`.'),
  offset: z.number(),
  returned: z.number().describe('How many rows are here.'),
  total: z.number().nullable().describe('How many rows there are in all; null if they were not counted.'),
  total_is_exact: z.boolean().describe(`False: there are more than ${count(MOST_COUNTED)} rows.`),
  next_offset: z.number().nullable().describe('The `offset` of the next rows; null if these are the last.'),
  cut_values: z
    .number()
    .describe(`How many values were longer than ${count(MOST_VALUE_CHARACTERS)} characters and were cut.`),
};
export const rowsSchema = z.object(rowsOutput);
export type Rows = z.infer<typeof rowsSchema>;

/**
 * Asks a question and reads a window of its rows, cut to what an assistant can take in.
 *
 * @param countMs time limit for counting all rows; left out: none
 */
export async function readRows(
  reader: Reader,
  question: Question,
  { limit, offset }: Record<'limit' | 'offset', number>,
  countMs?: number,
): Promise<Rows> {
  const { columns, parts } = await ask(reader, question);
  const rows: Value[][] = [];
  let [seen, characters, cutValues, isCut] = [0, 0, 0, false];
  reading: for await (const part of parts) {
    for (const whole of part) {
      seen += 1;
      if (seen <= offset) continue;
      const row = fittedRow(whole);
      const size = JSON.stringify(row).length;
      isCut = rows.length === limit || (rows.length > 0 && characters + size > MOST_CHARACTERS);
      if (isCut) break reading;
      cutValues += row.filter((value, at) => value !== whole[at]).length;
      characters += size;
      rows.push(row);
    }
  }
  const total = isCut ? await counted(reader, question, countMs) : seen;
  return {
    columns,
    rows,
    offset,
    returned: rows.length,
    total: total === null ? null : Math.min(total, MOST_COUNTED),
    total_is_exact: total === null || total <= MOST_COUNTED,
    next_offset: isCut ? offset + rows.length : null,
    cut_values: cutValues,
  };
}

async function counted(reader: Reader, question: Question, countMs: number | undefined): Promise<number | null> {
  const counting = () => countRows(reader, question, MOST_COUNTED + 1);
  if (countMs === undefined) return counting();
  return reader.engine.until(AbortSignal.timeout(countMs), counting).catch(() => null);
}

/** Cuts values that are too long, and more of them if the row alone would exceed an answer. */
function fittedRow(whole: readonly Value[]): Value[] {
  const row = whole.map((value) => fitted(value));
  if (JSON.stringify(row).length <= MOST_CHARACTERS) return row;
  return whole.map((value) => fitted(value, Math.floor(MOST_CHARACTERS / whole.length)));
}

/** The value; if it is too long, its beginning and its length. */
export function fitted(value: Value, most = MOST_VALUE_CHARACTERS): Value {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= most) return value;
  return `${text.slice(0, most).toWellFormed()}… (${count(text.length)} characters)`;
}

/** The window in a sentence. */
export function rowsText({ offset, returned, total, total_is_exact, next_offset }: Rows): string {
  if (next_offset === null) return `${offset === 0 ? 'All rows' : 'The last rows'}: ${count(returned)}.`;
  const all = total === null ? '' : ` of ${total_is_exact ? '' : 'more than '}${count(total)}`;
  return `Rows ${count(offset + 1)} to ${count(next_offset)}${all}. For the next ones set \`offset\` to ${next_offset}.`;
}

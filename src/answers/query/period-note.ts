import { z } from 'zod';
import { datesText } from '../../base/observe/format.js';
import { askRows } from './ask-rows.js';
import type { Question } from './question.js';
import type { Reader } from './reader.js';

/** What every count of pages that fell out means. */
export const FELL_OUT =
  'Fell out: indexed in the last complete listing before the period and not in its last one, listed there or not. ' +
  'Entered: the reverse.';

const MOVES = /\b(index|net)_moves\b/;
const COMPARES = /\b(index_moves|period_listings)\b/;
const datesRow = z.object({ first: z.string().nullable(), last: z.string().nullable() });

/** The period of an answer in words, what it is compared with, and what fell out means; null if it has no period. */
export async function periodNote(reader: Reader, { sql, parameters, website }: Question): Promise<string | null> {
  const { since, until } = parameters;
  if (typeof since !== 'string' || typeof until !== 'string' || reader.isEmpty) return null;
  const dates = datesText(since, until);
  if (!COMPARES.test(sql)) return `${dates}.`;
  const given = { since, until, website: website ?? null };
  const [row] = await askRows(reader, 'answers/query/compared_dates', datesRow, given);
  return `${comparedText(dates, row)}${MOVES.test(sql) ? ` ${FELL_OUT}` : ''}`;
}

function comparedText(dates: string, { first, last }: z.infer<typeof datesRow> = { first: null, last: null }): string {
  if (first === null || last === null) return `${dates}, with no listing to compare with.`;
  return `${dates}, compared with the listing${first === last ? '' : 's'} of ${datesText(first, last)}.`;
}

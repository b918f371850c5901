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
const datesRow = z.object({ first: z.string().nullable(), last: z.string().nullable(), begun: z.string() });

/** The period of an answer in words, what it is compared with, and what fell out means; null if it has no period. */
export async function periodNote(reader: Reader, { sql, parameters, website }: Question): Promise<string | null> {
  const { since, until } = parameters;
  if (typeof since !== 'string' || typeof until !== 'string' || reader.isEmpty) return null;
  const given = { since, until, website: website ?? null };
  const [row] = await askRows(reader, 'answers/query/compared_dates', datesRow, given);
  const begun = row?.begun ?? since;
  const dates = datesText(since < begun && begun <= until ? begun : since, until);
  if (!COMPARES.test(sql)) return `${dates}.`;
  return `${dates}, ${comparedText(row)}${MOVES.test(sql) ? ` ${FELL_OUT}` : ''}`;
}

function comparedText(row: z.infer<typeof datesRow> | undefined): string {
  if (!row || row.first === null || row.last === null) return 'with no listing to compare with.';
  return `compared with the listing${row.first === row.last ? '' : 's'} of ${datesText(row.first, row.last)}.`;
}

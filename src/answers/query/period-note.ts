import { z } from 'zod';
import { nearest } from '../../base/config/suggest.js';
import { datesText } from '../../base/observe/format.js';
import { askRows } from './ask-rows.js';
import type { Question } from './question.js';
import type { Reader } from './reader.js';

/** What every count of pages that fell out means. */
export const FELL_OUT =
  'Fell out: indexed in the last complete listing before the period and not in its last one, listed there or not. ' +
  'Entered: the reverse.';

const MOVES = /\bfell_out\b/;
/** What reads days of search analytics; silences are measured on final days of all types. */
const SEARCH = /\bsearch_(dates|silences)\b/;
const COMPARES = /\b(index_moves|period_moves|falls|period_listings)\b/;
const datesRow = z.object({
  first: z.string().nullable(),
  last: z.string().nullable(),
  begun: z.string(),
  moving: z.string(),
});

const searchRow = z.object({ covered: z.string().nullable(), known: z.string() });

/** The dates that an answer is about, both included, and the website; null: all that the reader sees. */
type AskedPeriod = Record<'since' | 'until', string> & { website: string | null };

/** The period of an answer in words, what it is compared with, and what fell out means; null if it has no period. */
export async function periodNote(reader: Reader, question: Question): Promise<string | null> {
  const { sql, parameters, website = null } = question;
  const search = await searchDays(reader, question);
  if (search !== null) return search.covered;
  const { since, until } = parameters;
  if (typeof since !== 'string' || typeof until !== 'string' || reader.isEmpty) return null;
  const period = { since, until, website };
  if (COMPARES.test(sql)) return comparedPeriod(reader, period, MOVES.test(sql));
  const { begun } = await datesOf(reader, period);
  return `${datesText(begun <= until ? begun : since, until)}.`;
}

/** The days of search analytics that an answer covers and those that are known, in words; null if it reads none. */
async function searchDays(reader: Reader, { sql, parameters, website = null }: Question) {
  const found = SEARCH.exec(sql)?.[1];
  if (found === undefined || !('until' in parameters)) return null;
  const { since = null, until = null, by = 'day', type = null } = parameters;
  const asked = { since, until, by, type, website, only_final: found === 'silences' };
  return (await askRows(reader, 'answers/query/search_span', searchRow, asked, website))[0] ?? null;
}

/** A period in words, and the listings that it is compared with. */
export async function comparedPeriod(reader: Reader, period: AskedPeriod, countsMoves: boolean): Promise<string> {
  const { since, until } = period;
  const { first, last, moving } = await datesOf(reader, period);
  if (first === null || last === null) return `${datesText(since, until)}, with no listing to compare with.`;
  const compared = `compared with the listing${first === last ? '' : 's'} of ${datesText(first, last)}.`;
  return `${datesText(moving, until)}, ${compared}${countsMoves ? ` ${FELL_OUT}` : ''}`;
}

async function datesOf(reader: Reader, { ...period }: AskedPeriod): Promise<z.infer<typeof datesRow>> {
  const [row] = await askRows(reader, 'answers/query/compared_dates', datesRow, period);
  return row ?? { first: null, last: null, begun: period.since, moving: period.since };
}

const MOST_NAMED = 5;
const NEED_TWO = ', and two are needed to compare: there will be rows after the next `indexhouse sync`.';
const texts = z.array(z.string()).nullable();
const knownFilters = z.object({
  has_directory: z.boolean(),
  has_state: z.boolean(),
  directories: texts,
  states: texts,
});

/** What analyses read that need two snapshots: changes between nights. */
const COMPARES_NIGHTS = /\bpage_changes\b|\b(index_moves|period_moves|net_moves|falls)\b/;
/** What the analyses that know what is usual read: so many nights, each after a complete listing, before the first row. */
const USUAL = /\blen\(past_changes\) >= (\d+)/;
const nights = z.object({ snapshots: z.int(), listings: z.int() });

/** Why an answer has no rows: there is nothing to compare yet, or filters match no page; and which values exist. */
export async function whyNoRows(reader: Reader, question: Question): Promise<string[]> {
  const { sql, parameters, website: only } = question;
  const search = await searchDays(reader, question);
  if (search !== null && search.covered === null) return [search.known];
  const past = USUAL.exec(sql)?.[1];
  if ('since' in parameters && (past || COMPARES_NIGHTS.test(sql))) {
    const none = { snapshots: 0, listings: 0 };
    const [{ snapshots, listings } = none] = await askRows(reader, 'answers/query/snapshot_counts', nights, {}, only);
    const needed = past ? Number(past) + 2 : 0;
    if (listings < needed) {
      const are = listings === 0 ? 'there is none yet' : `there ${listings === 1 ? 'is one' : `are ${listings}`}`;
      return [`To know what is usual takes complete listings of ${needed} nights; ${are}.`];
    }
    if (snapshots < 2) return [`${snapshots === 1 ? 'There is one snapshot' : 'There is no snapshot yet'}${NEED_TWO}`];
  }
  const { website = null, directory = null, state = null } = parameters;
  if (directory === null && state === null) return search?.covered ? [search.covered] : [];
  const asked = { website, directory, state };
  const [known] = await askRows(reader, 'answers/query/known_filters', knownFilters, asked, only);
  if (known === undefined) return [];
  return [
    ...(known.has_directory ? [] : [noneOf(`below ${directory}`, String(directory), known.directories ?? [])]),
    ...(known.has_state ? [] : [noneOf(`in the state ${state}`, String(state), known.states ?? [])]),
  ];
}

function noneOf(where: string, given: string, known: readonly string[]): string {
  const meant = nearest(given, known);
  if (meant !== null) return `No page is ${where}. Did you mean ${meant}?`;
  const rest = known.length > MOST_NAMED ? ', …' : '';
  return `No page is ${where}. There are: ${known.slice(0, MOST_NAMED).join(', ')}${rest}`;
}

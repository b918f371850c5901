import { z } from 'zod';
import { nearest } from '../../base/config/suggest.js';
import { askRows } from './ask-rows.js';
import { searchDays } from './period-note.js';
import type { Question } from './question.js';
import type { Reader } from './reader.js';

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

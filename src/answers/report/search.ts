import { z } from 'zod';
import { clause, count, counted } from '../../base/observe/format.js';
import { askRows } from '../query/ask-rows.js';
import type { Reader } from '../query/reader.js';
import { unreadDays, unreadText } from '../status/website-status.js';

/** A shorter history is no trend. */
const LEAST_WEEKS = 5;

/** The pages are null where no day is known. */
const weekRow = z.object({ starts_on: z.string(), pages: z.int().nullable(), is_cut: z.boolean() });
const lostRow = z.object({
  directory: z.string(),
  pages: z.int(),
  first_shown_last: z.string(),
  last_shown: z.string(),
  clicks: z.int(),
});
const evidenceRow = z.object({
  indexed: z.int(),
  not_indexed: z.int(),
  seen: z.int(),
  unknown: z.int(),
});

/** A directory that search shows fewer pages of. */
export type LostRow = z.infer<typeof lostRow>;

/** What search shows of a property; null without any day of search analytics. */
export async function readSearch(reader: Reader, website: string, until: string) {
  const weeks = await askRows(reader, 'answers/report/search_weeks', weekRow, { website, until }, website);
  if (weeks.length === 0) return null;
  return {
    weeks,
    lost: await askRows(reader, 'answers/report/search_lost_places', lostRow, { website, until }, website),
    evidence: (await askRows(reader, 'answers/report/evidence', evidenceRow, { website }, website))[0] ?? null,
    unread: unreadText(
      (await askRows(reader, 'answers/report/search_unread', unreadDays, { website, until }, website))[0],
    ),
  };
}

type Search = NonNullable<Awaited<ReturnType<typeof readSearch>>>;

/** How many pages search shows, since when that is known, and where it lost most; none of a history shorter than a few weeks. */
export function searchSentences(search: Search | null): string[] {
  const { lost = [] } = search ?? {};
  const weeks = (search?.weeks ?? []).flatMap(({ pages, ...week }) => (pages === null ? [] : { ...week, pages }));
  const [first, last] = [weeks[0], weeks.at(-1)];
  if (!first || !last || weeks.length < LEAST_WEEKS) return [];
  const most = weeks.reduce((top, week) => (week.pages > top.pages ? week : top));
  const [place] = lost;
  const gone =
    place &&
    `${counted(place.pages, 'page')} of ${place.directory} ${place.pages === 1 ? 'is' : 'are'} no longer shown, last ${place.first_shown_last === place.last_shown ? `on ${place.last_shown}` : `between ${place.first_shown_last} and ${place.last_shown}`}`;
  const clicks =
    place && place.clicks > 0
      ? `; ${place.pages === 1 ? 'it' : 'they'} had ${counted(place.clicks, 'click')} in 28 days`
      : '';
  return [
    `Search showed ${counted(last.pages, 'page')} a day in the week of ${last.starts_on}, ${count(first.pages)} in that of ${first.starts_on}${most === last || most === first ? '' : `, and at most ${count(most.pages)}, in that of ${most.starts_on}`}${clause(gone ? `${gone}${clicks}` : null)}.`,
  ];
}

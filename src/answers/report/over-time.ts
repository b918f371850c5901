import { z } from 'zod';
import { count, counted, grouped, shareOf } from '../../base/observe/format.js';
import { addDays } from '../../base/time.js';
import type { Colour } from '../html/charts/palette.js';
import type { Counts, Day, Layer, Span } from '../html/charts/trend-chart.js';
import { shortened } from '../html/html.js';
import { askOf, askRows } from '../query/ask-rows.js';
import type { Reader } from '../query/reader.js';
import { NO_ESTIMATE } from './estimate.js';
import type { WebsiteFacts } from './headline.js';
import { datesOf, type Period } from './period.js';
import { balanceRow, type CoverageRow, coverageRow, type DirectoryRow, type StateRow, type TrendRow } from './rows.js';

/** More nights than these are drawn week by week. */
const MOST_NIGHTS = 92;
const MOST_DIRECTORIES = 24;
const LEAST_PAGES = 5;
const NAME_CHARACTERS = 80;
const LEAST_OF_ROW = 0.05;
const LEAST_OF_ALL = 0.005;
/** No directory has these names, because each begins with a slash: beyond the 500 largest, and all that have no row. */
export const OTHER_DIRECTORIES = '(other)';
const ALL_OTHERS = '(all others)';
/** From the bottom up. */
const STACK: Colour[] = ['notIndexed', 'out1', 'out2', 'out3', 'text', 'noData', 'alsoIndexed', 'indexed'];

/** The directories and states of a period with their changes, of `coverage_by_directory` and `coverage_by_state`. */
interface Places {
  directories: readonly DirectoryRow[];
  states: readonly StateRow[];
}

/** What a directory had on a night, of the inspected pages, and what changed since the night before that is known. */
export interface HeatCell {
  date: string;
  pages: number;
  indexed: number;
  since: string | null;
  change: number | null;
  isMarked: boolean;
}

/** A directory, or all others, with a cell for each date: null if nothing is known of it then. */
export interface HeatRow extends DirectoryRow {
  isNotable: boolean;
  cells: (HeatCell | null)[];
}

/** Whether a change is worth a look: five pages, and 5% of its directory or state (`pages`) or 0.5% of the website. */
export function isNotable(change: number | null, { pages, all = Infinity }: { pages: number; all?: number }): boolean {
  const size = Math.abs(change ?? 0);
  return size >= LEAST_PAGES && size >= Math.min(LEAST_OF_ROW * pages, LEAST_OF_ALL * all);
}

/** The directories with a notable change of their indexed pages, the largest first. */
function directoriesChanged(rows: readonly DirectoryRow[]): Record<'lost' | 'won', DirectoryRow[]> {
  return changedMuch(
    rows.filter(({ directory }) => directory !== OTHER_DIRECTORIES),
    changeOfDirectory,
  );
}

/** The states out of the index, or without data, that grew notably, the largest growth first. */
export function statesGrown(rows: readonly StateRow[]): StateRow[] {
  const { won } = changedMuch(rows, ({ pages_change }) => pages_change ?? 0);
  return won.filter(({ index_summary }) => index_summary !== 'Indexed');
}

function changedMuch<Row extends { pages: number }>(rows: readonly Row[], change: (row: Row) => number) {
  const all = rows.reduce((sum, { pages }) => sum + pages, 0);
  return lostAndWon(
    rows.filter((row) => isNotable(change(row), { pages: row.pages, all })),
    change,
  );
}

/** The change in a directory's indexed pages; a website's first listing has changed nothing. */
export function changeOfDirectory({ indexed_change }: DirectoryRow): number {
  return indexed_change ?? 0;
}

/** The rows that lost something and those that gained something, with the largest changes first. */
export function lostAndWon<Row>(rows: readonly Row[], change: (row: Row) => number): Record<'lost' | 'won', Row[]> {
  const sorted = [...rows].sort((one, other) => change(one) - change(other));
  return {
    lost: sorted.filter((row) => change(row) < 0),
    won: sorted.filter((row) => change(row) > 0).toReversed(),
  };
}

/** How much of each directory was indexed and how many pages were in each state, night by night or week by week. */
export async function readOverTime(reader: Reader, website: string | null, { shown }: Period, now: Places) {
  const nights = datesOf(shown).length;
  const step = nights > MOST_NIGHTS ? 7 : 1;
  const { lost, won } = directoriesChanged(now.directories);
  const named = now.directories.filter(({ directory }) => directory !== OTHER_DIRECTORIES);
  const chosen = [...new Set([...lost, ...won, ...named])].slice(0, MOST_DIRECTORIES);
  const dates = { until: shown.until, step, columns: Math.ceil(nights / step) };
  const asked = { website, ...dates, places: chosen.map(placeOf) };
  const read = await askRows(reader, 'answers/report/coverage_over_time', coverageRow, asked);
  const columns = [...new Set(read.map(({ column_date }) => column_date))];
  const rows = read.filter(({ listed_on, column_date }) => listed_on > addDays(column_date, -step));
  const changed = new Set([...lost, ...won]);
  const heat = chosen.map((row): HeatRow => {
    return { ...row, isNotable: changed.has(row), cells: cellsOf(rows, placeOf(row), columns) };
  });
  const rest = cellsOf(rows, null, columns);
  const { pages = 0, indexed = 0 } = rest.at(-1) ?? {};
  const counts = { pages, indexed, share_indexed: shareOf(indexed, pages), indexed_change: null };
  const others = { website_id: '', directory: ALL_OTHERS, ...counts, isNotable: false };
  const colours = coloursOf(now.states);
  return {
    step,
    columns,
    heat: chosen.length < now.directories.length ? [...heat, { ...others, cells: rest }] : heat,
    colours,
    layers: layersOf(rows, columns, colours),
  };
}

function placeOf({ website_id, directory }: DirectoryRow): string {
  return `${website_id}\n${directory}`;
}

/** The cells of a place, or of all others (null), in which no changes are marked. */
function cellsOf(rows: readonly CoverageRow[], place: string | null, columns: readonly string[]): (HeatCell | null)[] {
  const known = rows.filter((row) => row.is_place && row.place === place);
  const cells = known.map((row, at): [string, HeatCell] => {
    const { column_date, listed_on: date, indexed, not_inspected } = row;
    const pages = row.pages - not_inspected;
    const before = place === null ? undefined : known[at - 1];
    // Where more pages are known than before, the difference is no change.
    const change = before && before.not_inspected === 0 ? indexed - before.indexed : null;
    const isMarked = isNotable(change, { pages: Math.max(pages, before?.pages ?? 0) });
    return [column_date, { date, pages, indexed, since: before?.listed_on ?? null, change, isMarked }];
  });
  const byColumn = new Map(cells);
  return columns.map((column) => byColumn.get(column) ?? null);
}

/** The colours of the states with the most pages in the index and out of it. @param states in the order of their pages */
function coloursOf(states: readonly StateRow[]): Map<string, Colour> {
  const free = { in: STACK.slice(6).toReversed(), out: STACK.slice(0, 4) };
  return new Map(
    states.map(({ index_summary, index_coverage_state: state }) => {
      if (index_summary === null) return [state, 'noData'];
      return [state, (index_summary === 'Indexed' ? free.in : free.out).shift() ?? 'text'];
    }),
  );
}

/** The pages of each colour, with the names of its states; null on dates without a listing since the one before. */
function layersOf(
  rows: readonly CoverageRow[],
  columns: readonly string[],
  colours: ReadonlyMap<string, Colour>,
): Layer[] {
  const known = rows.filter((row) => !row.is_place);
  const dates = new Set(known.map(({ column_date }) => column_date));
  return STACK.flatMap((colour) => {
    const own = known.filter((row) => row.pages > 0 && (colours.get(row.index_coverage_state) ?? 'text') === colour);
    const names = [...new Set(own.map((row) => stateName(row.index_coverage_state)))];
    const pagesOn = (date: string) => own.reduce((sum, row) => sum + (row.column_date === date ? row.pages : 0), 0);
    const pages = columns.map((date) => (dates.has(date) ? pagesOn(date) : null));
    const name = `${colour === 'text' ? 'Other: ' : ''}${names.map((one) => shortened(one, NAME_CHARACTERS)).join(', ')}`;
    return own.length > 0 ? [{ colour, name, pages }] : [];
  });
}

/** A state in words; pages without one have a status instead. */
export function stateName(state: string): string {
  return state.replace(/^[a-z]/, (first) => first.toUpperCase());
}

const goneRow = z.object({ snapshot_date: z.string(), gone: z.int() });
const nightRow = balanceRow.extend({ snapshot_date: z.string() });

type Value<Row> = readonly [name: string, colour: Layer['colour'], pages: (row: Row) => number];

/** The pages of a website on each date, and those that came into the index or left it since the listing before. */
export async function readNights(reader: Reader, { website, trend }: WebsiteFacts, { shown }: Period) {
  const { website_id: id, by_inspection: inspects } = website;
  const gone = await askRows(reader, 'answers/report/gone', goneRow, { website: id, ...shown });
  const moves = await askOf(reader, 'index_balance', nightRow, id, { ...shown });
  const dates = datesOf({ ...shown, since: gone[0]?.snapshot_date ?? shown.until });
  const goneOn = new Map(gone.map((row) => [row.snapshot_date, row.gone]));
  return {
    dates,
    pages: layersByDate(dates, trend, [
      ['indexed', 'indexed', ({ indexed }) => indexed],
      ['not indexed', 'notIndexed', ({ not_indexed }) => not_indexed],
      [inspects ? 'no verdict yet' : 'without data', 'noData', ({ without_data }) => without_data],
      ['no longer listed', 'text', ({ snapshot_date }) => goneOn.get(snapshot_date) ?? 0],
    ]),
    moves: layersByDate(dates, moves, [
      ['inspected for the first time, and indexed', 'alsoIndexed', ({ first_inspected }) => first_inspected],
      ['entered the index', 'indexed', ({ entered }) => entered],
      ['not indexed any more', 'notIndexed', ({ deindexed }) => 0 - deindexed],
      ['without data since', 'noData', ({ data_lost }) => 0 - data_lost],
      ['no longer listed since', 'text', ({ gone, retired }) => 0 - gone - retired],
    ]),
  };
}

function layersByDate<Row extends { snapshot_date: string }>(
  dates: readonly string[],
  rows: readonly Row[],
  values: readonly Value<Row>[],
): Layer[] {
  const byDate = new Map(rows.map((row) => [row.snapshot_date, row]));
  const layers = values.map(([name, colour, pagesOf]): Layer => {
    const pages = dates.map((date) => byDate.get(date)).map((row) => (row ? pagesOf(row) : null));
    return { name, colour, pages };
  });
  return layers.filter(({ pages }) => pages.some((number) => number));
}

/**
 * The trend over every date of a span, starting with the first that has a complete listing. Of several websites, a date counts
 * each with its newest complete listing up to then, because one that was not listed on a date did not lose its pages.
 *
 * @param rows of each website, by date
 */
export function trendOf(rows: readonly TrendRow[], span: Span): Day[] {
  const byDate = grouped(rows, ({ snapshot_date }) => snapshot_date);
  const known = new Map<string, Counts>();
  for (const row of rows) if (row.snapshot_date < span.since) known.set(row.website_id, row);
  const days = datesOf(span).map((date): Day => {
    const listed = byDate.get(date) ?? [];
    for (const row of listed) known.set(row.website_id, row);
    return { date, counts: listed.length > 0 ? sum([...known.values()]) : null };
  });
  const first = days.findIndex(({ counts }) => counts !== null);
  return first < 0 ? [] : days.slice(first);
}

/** The counts of one website as they are; of several together, without an estimate. */
function sum(counts: readonly Counts[]): Counts {
  return counts.reduce((total, { pages, indexed }) => {
    return { ...NO_ESTIMATE, pages: total.pages + pages, indexed: total.indexed + indexed };
  });
}

const MOST_NAMES = 3;
const NEWS_CHARACTERS = 60;

/**
 * What is new since the period before, in one or two sentences: losses that stand out and did not then, and how many of the
 * pages that fell out then are back.
 *
 * @param earlier null if several websites are compared, whose directories may have the same names
 */
export function newsOf(
  days: number,
  { now, earlier, fell_out, back }: { now: Places; earlier: Places | null; fell_out: number; back: number },
): string[] {
  const before = days === 1 ? 'the day before' : `the ${days} days before`;
  const are = back === 1 ? 'is' : 'are';
  return [
    ...(earlier ? [newSince(before, now, earlier)] : []),
    ...(fell_out > 0
      ? [`Of the ${counted(fell_out, 'page')} that fell out in ${before}, ${count(back)} ${are} indexed again.`]
      : []),
  ];
}

function newSince(before: string, now: Places, earlier: Places): string {
  const known = namesOf(earlier);
  const added = namesOf(now).filter((name) => !known.includes(name));
  if (added.length === 0) return `No loss stands out that did not in ${before}.`;
  return `New since ${before}: losses ${added.slice(0, MOST_NAMES).join(', ')}.`;
}

function namesOf({ directories, states }: Places): string[] {
  const { lost } = directoriesChanged(directories);
  return [
    ...lost.map(({ directory }) => `in ${shortened(directory, NEWS_CHARACTERS)}`),
    ...statesGrown(states).map((state) => `to “${shortened(state.index_coverage_state, NEWS_CHARACTERS)}”`),
  ];
}

import { shareOf } from '../../base/observe/format.js';
import { addDays } from '../../base/time.js';
import type { Colour } from '../html/charts/palette.js';
import type { Layer } from '../html/charts/trend-chart.js';
import { shortened } from '../html/html.js';
import { askRows } from '../query/ask-rows.js';
import type { Reader } from '../query/reader.js';
import { datesOf, type Period } from './period.js';
import { type CoverageRow, coverageRow, type DirectoryRow, type StateRow } from './rows.js';

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
export interface Places {
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
export function directoriesChanged(rows: readonly DirectoryRow[]): Record<'lost' | 'won', DirectoryRow[]> {
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

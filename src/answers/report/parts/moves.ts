import { count, counted, dayOfMonth, percent, shareOf, signed } from '../../../base/observe/format.js';
import { number, orUnknown } from '../../html/cells.js';
import { type Html, html, type Part, pageLink, shortened } from '../../html/html.js';
import { type Column, table } from '../../html/table.js';
import type { Period } from '../period.js';
import type { DirectoryRow, OwnMovesRow, SitemapRow, StateRow } from '../rows.js';
import type { Moves, Section } from '../section.js';
import { command, note, part, websiteColumn, websiteParameter } from './part.js';

const MOVES_LISTED = 12;
const LISTED = 8;
const STATE_CHARACTERS = 80;
const DIRECTORY_CHARACTERS = 60;
/** No directory has this name, because each begins with a slash. */
export const OTHER_DIRECTORIES = '(other)';
const SPARK = { width: 90, height: 18 } as const;

/** Links to the lists of a state's, directory's or sitemap's pages; null if there is none. */
export interface PagesLinks {
  state(state: string): string | null;
  directory(directory: string): string | null;
  sitemap(sitemap: string): string | null;
}

/** Why pages are not indexed: how many are in each state, and how that changed. */
export function reasonsPart({ states, headline }: Pick<Moves, 'states' | 'headline'>, links?: PagesLinks): Html {
  const pages = states.reduce((sum, state) => sum + state.pages, 0);
  if (pages === 0) return part('Why pages are not indexed', note('There is no complete listing.'));
  const since = headline.compared_with === null ? 'Change' : `Since ${dayOfMonth(headline.compared_with)}`;
  const columns: Column<StateRow>[] = [
    {
      head: 'State',
      cell: ({ index_coverage_state: state }) =>
        linked(links?.state(state), shortened(stateName(state), STATE_CHARACTERS)),
    },
    number('Pages', (row) => row.pages),
    number('Of all pages', (row) => shareOf(row.pages, pages), percent),
    number(since, (row) => row.pages_change, signed),
    ...(states.some(({ trend }) => trend !== null && trend.length > 1)
      ? [{ head: 'Last weeks', cell: ({ trend }: StateRow) => sparkline(trend) }]
      : []),
  ];
  const out = states.filter(({ index_summary }) => index_summary !== 'Indexed');
  const within = states.filter(({ index_summary }) => index_summary === 'Indexed');
  return part(
    'Why pages are not indexed',
    out.length > 0 ? table(columns, out) : note('Every page is indexed.'),
    within.length > 0 ? html`<h4>Indexed</h4>${table(columns, within)}` : null,
  );
}

function linked(address: string | null | undefined, name: string): Part {
  return address ? html`<a href="${address}">${name}</a>` : name;
}

function stateName(state: string): string {
  return state === '(none)' ? 'No data: never inspected' : state;
}

/** A line without axes; the figures beside it say what it shows. */
function sparkline(trend: readonly number[] | null): Part {
  if (!trend || trend.length < 2) return null;
  const [least, most] = [Math.min(...trend), Math.max(...trend)];
  const x = (at: number) => ((at / (trend.length - 1)) * SPARK.width).toFixed(1);
  const y = (pages: number) => (SPARK.height * (0.9 - (0.8 * (pages - least)) / Math.max(most - least, 1))).toFixed(1);
  const points = trend.map((pages, at) => `${x(at)},${y(pages)}`).join(' ');
  const said = `${count(trend[0] ?? 0)} to ${count(trend.at(-1) ?? 0)}`;
  return html`<svg class="spark" viewBox="0 0 ${SPARK.width} ${SPARK.height}" role="img" aria-label="${said}"><polyline points="${points}"/></svg>`;
}

/** The moves between states with the most pages. */
export function transitionsPart({ transitions }: Section): Html {
  if (transitions.length === 0) return part('Moves between states', note('No page changed its state in this period.'));
  const named = (state: string | null) => shortened(state ?? 'no data', STATE_CHARACTERS);
  const columns: Column<(typeof transitions)[number]>[] = [
    { head: 'From', cell: ({ from_state }) => named(from_state) },
    { head: 'To', cell: ({ to_state }) => html`→ ${named(to_state)}` },
    number('Pages', ({ pages }) => pages),
  ];
  const rest = transitions.slice(MOVES_LISTED).reduce((sum, { pages }) => sum + pages, 0);
  return part(
    'Moves between states',
    table(columns, transitions.slice(0, MOVES_LISTED)),
    rest > 0 ? note(`${counted(rest, 'page')} moved between other states.`) : null,
  );
}

/** The directories and sitemaps that lost indexed pages, and those that gained some: two lists each. */
export function placesPart(section: Moves, period: Period, links?: PagesLinks): Html {
  const { directories, sitemaps, headline } = section;
  const since = headline.compared_with === null ? 'Change' : `Since ${dayOfMonth(headline.compared_with)}`;
  const inDirectory: Column<DirectoryRow>[] = [
    ...websiteColumn(section),
    {
      head: 'Directory',
      cell: ({ directory }) => linked(links?.directory(directory), shortened(directory, DIRECTORY_CHARACTERS)),
    },
    ...placeColumns<DirectoryRow>(since, changeOfDirectory),
  ];
  const inSitemap: Column<SitemapRow>[] = [
    ...websiteColumn(section),
    {
      head: 'Sitemap',
      cell: ({ sitemap }) =>
        links
          ? linked(links.sitemap(sitemap), shortened(sitemap, DIRECTORY_CHARACTERS))
          : pageLink(sitemap, DIRECTORY_CHARACTERS),
    },
    ...placeColumns<SitemapRow>('Change', netOf),
    number('Fell out', ({ fell_out }) => fell_out),
    number('Entered', ({ entered }) => entered),
  ];
  return part(
    'Directories and sitemaps',
    twoLists('directories', { columns: inDirectory, rows: directories, change: changeOfDirectory }),
    !links && directories.some(({ directory }) => directory === OTHER_DIRECTORIES) ? otherNote(section, period) : null,
    sitemaps.length > 0 ? twoLists('sitemaps', { columns: inSitemap, rows: sitemaps, change: netOf }) : null,
  );
}

/** What fell out by a column of the user's own; null if there is none, and nothing wrong with it. */
export function ownPart({ own: { column, rows, notes } }: Pick<Section, 'own'>): Part {
  if (column === null && notes.length === 0) return null;
  const columns: Column<OwnMovesRow>[] = [
    { head: column ?? '', cell: ({ value }) => orUnknown(value && shortened(value, DIRECTORY_CHARACTERS)) },
    number('Indexed before', (row) => row.indexed_before),
    number('Entered', (row) => row.entered),
    number('Fell out', (row) => row.fell_out),
    number('Indexed', (row) => row.indexed),
  ];
  return part(
    `Fell out by ${column ?? 'a column of your own'}`,
    rows.length > 0 ? table(columns, rows) : column && note('No page fell out of the index in this period.'),
    notes.map((one) => note(one)),
  );
}

/** The change in a directory's indexed pages; a website's first listing has changed nothing. */
export function changeOfDirectory({ indexed_change }: DirectoryRow): number {
  return indexed_change ?? 0;
}

function netOf({ entered, fell_out }: SitemapRow): number {
  return entered - fell_out;
}

function placeColumns<Row extends SitemapRow | DirectoryRow>(
  since: string,
  change: (row: Row) => number,
): Column<Row>[] {
  return [
    number(since, change, signed),
    number('Pages', ({ pages }) => pages),
    number('Indexed', ({ indexed }) => indexed),
    number('Of its pages', ({ indexed, pages }) => shareOf(indexed, pages), percent),
  ];
}

interface List<Row> {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  change(row: Row): number;
}

function twoLists<Row>(what: string, { columns, rows, change }: List<Row>): Part {
  const { lost, won } = lostAndWon(rows, change);
  const list = (verb: string, found: readonly Row[]) =>
    found.length === 0
      ? note(`No ${what} ${verb} indexed pages in this period.`)
      : html`<h4>${capital(what)} that ${verb} indexed pages</h4>${table(columns, found.slice(0, LISTED))}${
          found.length > LISTED ? note(`The first ${LISTED} of ${count(found.length)}.`) : null
        }`;
  return [list('lost', lost), list('won', won)];
}

/** The rows that lost something and those that gained something, with the largest changes first. */
export function lostAndWon<Row>(rows: readonly Row[], change: (row: Row) => number): Record<'lost' | 'won', Row[]> {
  const sorted = [...rows].sort((one, other) => change(one) - change(other));
  return {
    lost: sorted.filter((row) => change(row) < 0),
    won: sorted.filter((row) => change(row) > 0).toReversed(),
  };
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function otherNote(section: Moves, { since }: Period): Html {
  return note(
    `${OTHER_DIRECTORIES}: the directories that are not among the 500 largest of both listings. What fell out by directory: `,
    command('deindexed_by_directory', { ...websiteParameter(section), since }),
  );
}

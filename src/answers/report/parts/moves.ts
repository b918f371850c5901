import { count, counted, dayOfMonth, percent, plainDates, shareOf, signed } from '../../../base/observe/format.js';
import { number, orUnknown } from '../../html/cells.js';
import { noteList, stackChart, swatch } from '../../html/charts/trend-chart.js';
import { type Column, type Html, html, type Part, pageLink, shortened, table } from '../../html/html.js';
import { isNotable, lostAndWon, stateName } from '../over-time.js';
import type { OwnMovesRow, SitemapRow, StateRow } from '../rows.js';
import type { LostRow, Moves, Section } from '../section.js';
import { type HeatOptions, heatPart } from './heat-map.js';
import { cutNote, folded, note, type PagesLinks, part, websiteColumn } from './part.js';

const MOVES_LISTED = 12;
const LISTED = 8;
/** States that are not folded, whether they changed or not. */
const ALWAYS_SHOWN = 4;
const SITEMAP_CHARACTERS = 60;
const STATES_HEIGHT = 260;

/** Why pages are not indexed: how many are in each state, over time and now, and how that changed. */
export function reasonsPart(id: string, section: Moves, links?: PagesLinks): Html {
  const { states, headline, over_time, notes } = section;
  const pages = states.reduce((sum, state) => sum + state.pages, 0);
  if (pages === 0) return part('Why pages are not indexed', note('There is no complete listing.'));
  const since = headline.compared_with === null ? 'Change' : `Since ${dayOfMonth(headline.compared_with)}`;
  const columns: Column<StateRow>[] = [
    {
      head: 'State',
      cell: ({ index_coverage_state: state }) =>
        html`${swatch(over_time.colours.get(state) ?? 'text')}${linked(links?.state(state), shortened(stateName(state)))}`,
    },
    number('Pages', (row) => row.pages),
    number('Of all pages', (row) => shareOf(row.pages, pages), percent),
    number(since, (row) => row.pages_change, signed),
  ];
  const isShown = ({ pages: own, pages_change: change }: StateRow, at: number) =>
    at < ALWAYS_SHOWN || isNotable(change, { pages: own, all: pages });
  const out = states.filter(({ index_summary }) => index_summary !== 'Indexed');
  const within = states.filter(({ index_summary }) => index_summary === 'Indexed');
  return part(
    'Why pages are not indexed',
    over_time.columns.length > 1
      ? stackChart(
          { id: `${id}-states`, title: 'Pages by state over time', height: STATES_HEIGHT },
          over_time.columns,
          over_time.layers,
          notes,
        )
      : null,
    noteList(over_time.columns, notes),
    out.length > 0 ? folded(out, isShown, (rows) => table(columns, rows)) : note('Every page is indexed.'),
    within.length > 0 ? html`<h4>Indexed</h4>${table(columns, within)}` : null,
  );
}

function linked(address: string | null | undefined, name: string): Part {
  return address ? html`<a href="${address}">${name}</a>` : name;
}

/** The moves between states with the most pages. */
export function transitionsPart({ transitions }: Section): Html {
  if (transitions.length === 0) return part('Moves between states', note('No page changed its state in this period.'));
  const named = (state: string | null) => shortened(state ?? 'no data');
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

/** The directories night by night, and the sitemaps that lost indexed pages, and those that won some. */
export function placesPart(id: string, section: Moves, options: HeatOptions): Html {
  const { links } = options;
  const columns: Column<SitemapRow>[] = [
    ...websiteColumn(section),
    {
      head: 'Sitemap',
      cell: ({ sitemap }) =>
        links
          ? linked(links.sitemap(sitemap), shortened(sitemap, SITEMAP_CHARACTERS))
          : pageLink(sitemap, SITEMAP_CHARACTERS),
    },
    number('Change', netOf, signed),
    number('Pages', ({ pages }) => pages),
    number('Indexed', ({ indexed }) => indexed),
    number('Of its pages', ({ indexed, pages }) => shareOf(indexed, pages), percent),
    number('Fell out', ({ fell_out }) => fell_out),
    number('Entered', ({ entered }) => entered),
  ];
  const { lost, won } = lostAndWon(section.sitemaps, netOf);
  const list = (verb: string, rows: readonly SitemapRow[]) => [
    html`<h4>Sitemaps that ${verb} indexed pages</h4>${table(columns, rows.slice(0, LISTED))}`,
    cutNote('first', Math.min(LISTED, rows.length), rows.length),
  ];
  return part(
    'Directories and sitemaps',
    section.over_time.heat.length > 0 ? heatPart(id, section, options) : null,
    lost.length > 0 ? list('lost', lost) : null,
    won.length > 0 ? list('won', won) : null,
  );
}

function netOf({ entered, fell_out }: SitemapRow): number {
  return entered - fell_out;
}

/** What fell out by a column of the user's own; null if there is none, and nothing wrong with it. */
export function ownPart({ own: { column, rows, notes } }: Pick<Section, 'own'>): Part {
  if (column === null && notes.length === 0) return null;
  const columns: Column<OwnMovesRow>[] = [
    { head: column ?? '', cell: ({ value }) => orUnknown(value && shortened(value)) },
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

const HEIGHT = 180;
const TITLE = 'Pages that search shows';
const COLUMNS: readonly Column<LostRow>[] = [
  { head: 'Directory', cell: ({ directory }) => directory },
  number('Pages no longer shown', ({ pages }) => pages),
  { head: 'Last shown', cell: ({ first_shown_last, last_shown }) => plainDates(first_shown_last, last_shown) },
  number('Clicks in 28 days before', ({ clicks }) => clicks),
];

/** What search shows of a property over its whole history, and what it shows no more; nothing of several websites. */
export function searchPart(id: string, { search }: Pick<Moves, 'search'>): Part {
  if (search === null) return null;
  const { weeks, lost, evidence, unread } = search;
  const isCut = weeks.some(({ is_cut }) => is_cut);
  const layer = {
    name: 'shown in web search on a day',
    colour: 'indexed' as const,
    pages: weeks.map(({ pages }) => pages),
  };
  return html`<h2>${TITLE}</h2>
${stackChart(
  { id: `${id}-search`, title: TITLE, height: HEIGHT, unknown: 'not known' },
  weeks.map(({ starts_on }) => starts_on),
  [layer],
  [],
)}
${note(`The average day of each week. A page that search shows is in the index that day.${isCut ? ' On some days Google left out pages, because it lists 50,000 at most.' : ''}${unread ? ` ${unread}.` : ''}`)}
${evidence === null ? null : html`<p>${evidenceText(evidence)}</p>`}
${lost.length > 0 ? table(COLUMNS, lost, { id: `${id}-lost`, caption: 'Directories with pages that search showed regularly and shows no more', empty: '' }) : null}`;
}

/** Such as `12,400 pages inspected and indexed, 900 inspected and not indexed, 3,100 not inspected but shown in search this week, 2,700 unknown.` */
function evidenceText({ indexed, not_indexed, seen, unknown }: NonNullable<NonNullable<Moves['search']>['evidence']>) {
  const parts: [number, string][] = [
    [indexed, 'inspected and indexed'],
    [not_indexed, 'inspected and not indexed'],
    [seen, 'not inspected lately, but shown in search this week'],
    [unknown, 'unknown'],
  ];
  const [first, ...others] = parts.filter(([pages]) => pages > 0);
  if (!first) return 'There are no pages.';
  const texts = [
    `${counted(first[0], 'page')} ${first[1]}`,
    ...others.map(([pages, text]) => `${count(pages)} ${text}`),
  ];
  return `${texts.join(', ')}.`;
}

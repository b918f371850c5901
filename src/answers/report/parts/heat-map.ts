import { count, counted, dayOfMonth, percent, shareOf, signed } from '../../../base/observe/format.js';
import { addDays } from '../../../base/time.js';
import { arrow, number } from '../../html/cells.js';
import { type Html, html, type Part, shortened, table } from '../../html/html.js';
import type { HeatCell, HeatRow } from '../over-time.js';
import type { Moves } from '../section.js';
import { details, folded, nameOfWebsite, type PagesLinks } from './part.js';

/** Shares of pages indexed from which the next step of the scale begins: finer where most directories are. */
const STEPS = [0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95];
const MOST_SHARES = 10;
const NAME_CHARACTERS = 60;
const ALWAYS_SHOWN = 8;

export interface HeatOptions {
  links?: PagesLinks;
  shownBefore?: number;
}

type Dates = Record<'from' | 'to', string>;

/**
 * Directories × nights, the figures of now beside them: those that changed much and the largest; others are folded.
 *
 * @param shownBefore how many of the first rows the page has shown already
 */
export function heatPart(id: string, section: Moves, { links, shownBefore = 0 }: HeatOptions): Part {
  const heat = section.over_time.heat.slice(shownBefore);
  const isShown = ({ isNotable }: HeatRow, at: number) => isNotable || at < ALWAYS_SHOWN;
  return [
    heat.length > 0 ? folded(heat, isShown, (rows) => heatMap(section, rows, links)) : null,
    details('Shares as numbers', shares(`${id}-heat`, section)),
  ];
}

/** A table: the darker a cell, the more of the pages are indexed; what changed much has a ▼ or ▲. */
export function heatMap(section: Moves, rows: readonly HeatRow[], links?: PagesLinks): Html {
  const { over_time, headline, notes } = section;
  const since = headline.compared_with === null ? 'Change' : `Since ${dayOfMonth(headline.compared_with)}`;
  const heads = ['Pages', 'Indexed', 'Share', since].map((head, at) => html`<th scope="col"${figure(at)}>${head}</th>`);
  const swatches = [0, ...STEPS].map((_, step) => html`<span class="swatch h${step}"></span>`);
  const { columns, step } = over_time;
  const ends = [...new Set([columns[0], columns[columns.length >> 1], columns.at(-1)])].map(
    (date = '') => html`<span>${dayOfMonth(date)}</span>`,
  );
  const dates = html`<td colspan="${columns.length}"><div class="ends">${ends}</div></td>`;
  const before = step === 1 ? 'the night before' : 'the week before; a column is the last listing of a week';
  return html`<table class="heat">
<thead><tr><th scope="col">Directory</th>${dates}${heads}</tr></thead>
<tbody>
${rows.map((row) => rowOf(section, row, links))}</tbody></table>
<p class="note key">Indexed${headline.not_inspected ? ', of the pages that were inspected' : ''}: under 20% ${swatches} 95% and more. <span class="date">${arrow(true)} ${arrow(false)}</span> changed by 5 pages and 5% since ${before}.${notes.length > 0 ? ' A line on top: a note.' : ''}</p>`;
}

/** Pages and indexed pages have no room on a phone. */
function figure(at: number): Html {
  return html` class="number${at < 2 ? ' wide' : ''}"`;
}

function rowOf(section: Moves, row: HeatRow, links: PagesLinks | undefined): Html {
  const { cells, pages, indexed, share_indexed: share, indexed_change: change } = row;
  const name = rowName(section, row);
  const own = row.directory.startsWith('/') ? links : undefined;
  const address = own?.directory(row.directory);
  const figures = [count(pages), count(indexed), percent(share), signed(change)];
  const linkOf = (dates: Dates) => own?.changes(row.directory, dates);
  const shown = cells.map((cell, at) => cellOf(cell, notesAt(section, row, at), linkOf));
  return html`<tr><th scope="row" title="${name}">${address ? html`<a href="${address}">${name}</a>` : name}</th>${shown}${figures.map((value, at) => html`<td${figure(at)}>${value || '–'}</td>`)}</tr>\n`;
}

function rowName(section: Moves, { website_id, directory }: HeatRow): string {
  const website = section.websites.length > 1 && website_id ? `${nameOfWebsite(section, website_id)} ` : '';
  return `${website}${shortened(directory, NAME_CHARACTERS)}`;
}

/** The notes of a directory, and those of all, on the night or in the week of a column. */
function notesAt(
  { notes, over_time: { columns, step } }: Moves,
  { website_id, directory }: HeatRow,
  at: number,
): string {
  const date = columns[at] ?? '';
  const isOf = (noted: string) => (directory === '/' ? noted === '/' : noted.startsWith(directory));
  return notes
    .filter((one) => one.note_date > addDays(date, -step) && one.note_date <= date)
    .filter((one) => one.websites.includes(website_id) && isOf(one.directory ?? directory))
    .map(({ note }) => `. Note: ${note}`)
    .join('');
}

function cellOf(cell: HeatCell | null, noted: string, linkOf: (dates: Dates) => string | undefined): Html {
  if (cell === null) return noted ? html`<td class="noted" title="${noted.slice(2)}"></td>` : html`<td></td>`;
  const { date, pages, indexed, since, change, isMarked } = cell;
  const share = shareOf(indexed, pages) ?? 0;
  const reading = `${dayOfMonth(date)}: ${count(indexed)} of ${counted(pages, 'page')} indexed (${percent(share)})${since ? `, ${signed(change)} since ${dayOfMonth(since)}` : ''}${noted}`;
  const mark = isMarked ? arrow((change ?? 0) < 0) : null;
  const address = mark && linkOf({ from: addDays(since ?? date, 1), to: date });
  const shown = address ? html`<a href="${address}" aria-label="${reading}">${mark}</a>` : mark;
  return html`<td class="h${STEPS.filter((from) => share >= from).length}${noted ? ' noted' : ''}" title="${reading}">${shown}</td>`;
}

/** The shares on the last date, and on earlier ones that are equally far apart. */
function shares(id: string, section: Moves): Part {
  const { columns: dates, heat } = section.over_time;
  const apart = Math.ceil(dates.length / MOST_SHARES);
  const shown = dates.flatMap((date, at) => ((dates.length - 1 - at) % apart === 0 ? [{ date, at }] : []));
  const share = ({ cells }: HeatRow, at: number) => shareOf(cells[at]?.indexed ?? null, cells[at]?.pages ?? null);
  const columns = shown.map(({ date, at }) => number<HeatRow>(dayOfMonth(date), (row) => share(row, at), percent));
  const options = { id, caption: 'Share of the pages of each directory that is indexed', empty: '' };
  return table([{ head: 'Directory', cell: (row) => rowName(section, row) }, ...columns], heat, options);
}

import { z } from 'zod';
import { arrow, dated, number, UNKNOWN } from '../../../answers/html/cells.js';
import { type Column, Html, html, type Part, shortened, table } from '../../../answers/html/html.js';
import { askRows, askSelected, countSelected } from '../../../answers/query/ask-rows.js';
import type { Reader } from '../../../answers/query/reader.js';
import { datesQuery, filterText } from '../../../base/config/page-filters.js';
import { count, percent, signed } from '../../../base/observe/format.js';
import type { Parameters } from '../../../base/storage/engine.js';
import { sql } from '../../../base/storage/sql.js';
import { addDays } from '../../../base/time.js';
import { type Marker, markersOf } from '../../../warehouse/log/markers.js';
import { type Content, linkTo, shownName, type WebsiteContext } from '../layout.js';
import { type Choice, filterForm, list, rowsSelect, type Select } from '../list.js';
import { checkPage, type Paging, pagingQuery, readQuery, remembered, skipOf } from '../query.js';
import { changeName, movesNote, pageTimelineLink, periodLinks, sharedOrigin } from '../values.js';

const CHANGES_CHARACTERS = 600;
const NIGHTS = ['1', '7', '30', '90'] as const;
/** The value for changes of every kind. */
const EVERY_KIND = 'all';

const changesQuery = z.object({
  ...pagingQuery,
  ...datesQuery,
  /** Used if no date is given. */
  nights: z.enum(NIGHTS).default('7').transform(Number),
  kind: filterText,
  q: filterText,
  directory: filterText,
});
type ChangesQuery = z.infer<typeof changesQuery>;

const changeRow = z.object({
  snapshot_date: z.string(),
  url: z.string(),
  is_loss: z.boolean(),
  index_change: z.string().nullable(),
  other_changes: z.string().nullable(),
});
export type ChangeRow = z.infer<typeof changeRow>;

const kindRow = z.object({ change: z.string(), changes: z.int(), noise: z.int() });

type Changes = Awaited<ReturnType<typeof readChanges>>;

const askList = remembered(readChanges);

/** What changed in the last nights or between two dates, a row for each page and night. */
export async function changesPage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(changesQuery, context.query);
  const changes = await askList(context, query);
  const { q, kind, directory, nights, per, page: _page, ...dates } = query;
  const asked = { ...dates, ...(isDated(query) ? {} : { nights }), kind, q, directory, per };
  const { from, to } = changes;
  const content = html`${periodLinks(NIGHTS, { one: 'night', chosen: isDated(query) ? null : nights, linkOf: (span) => linkTo(context, 'changes', { nights: span, kind, q, directory, per }) })}
${filterForm(linkTo(context, 'changes'), {
  q: q ?? '',
  fields: [
    { name: 'directory', label: 'Directory', type: 'search', value: directory ?? '' },
    { name: 'from', label: 'From', type: 'date', value: from },
    { name: 'to', label: 'To', type: 'date', value: to },
  ],
  selects: changeSelects(query, changes),
})}
${list({
  id: 'changes',
  one: 'change',
  caption: `One row per page and night from ${from} to ${to}: newest night first, then what matters most for the index`,
  columns: changeColumns(context, sharedOrigin(changes.rows)),
  empty: 'No matching changes in these nights.',
  query,
  ...changes,
  above: changes.period === null ? null : html`<p class="note">${changes.period}</p>`,
  linkOf: (page) => linkTo(context, 'changes', { ...asked, page }),
})}`;
  return { title: `Changes of ${shownName(context.website)}`, content };
}

/** @throws ServiceError 404 for a page after the last one */
async function readChanges(reader: Reader, website: string, query: ChangesQuery) {
  const newest = newestDates(reader.markers, website, query.nights);
  const from = query.from ?? (query.to === undefined ? newest.at(-1) : undefined) ?? query.to ?? reader.today;
  const to = query.to ?? newest[0] ?? reader.today;
  const selection = { website, from, to, url_contains: query.q ?? null, directory: query.directory ?? null };
  const kinds = await askRows(reader, 'serve/dashboard/changes_by_kind', kindRow, selection);
  const of = { ...selection, url: null, kind: query.kind ?? null };
  const period = await movesNote(reader, website, { from, to, kind: query.kind });
  return { from, to, kinds, period, ...(await askChanges(reader, of, query)) };
}

function isDated({ from, to }: ChangesQuery): boolean {
  return from !== undefined || to !== undefined;
}

/** A window of the changes that `changes.sql` selects. @throws ServiceError 404 for a page after the last one */
export async function askChanges(reader: Reader, selection: Parameters & { website: string }, paging: Paging) {
  const name = 'serve/dashboard/changes';
  const found = await countSelected(reader, name, selection);
  checkPage(paging, found);
  const { website } = selection;
  const columns = ['snapshot_date', 'url', 'descending'];
  const selected = { from: `(${sql(name)}\n)`, selection, website, columns };
  const window = { selected, skip: skipOf(paging), limit: paging.per };
  const rows = await askSelected(reader, sql('serve/dashboard/changes_in_words'), changeRow, window);
  return { count: found, rows };
}

/** The newest dates on which a website has snapshots, newest first. */
export function newestDates(markers: readonly Marker[], website: string, nights: number): string[] {
  const dates = markersOf(markers, website).map(({ date }) => date);
  return [...new Set(dates)].sort().reverse().slice(0, nights);
}

function changeColumns(context: WebsiteContext, origin: string | null): Column<ChangeRow>[] {
  return [
    { head: 'Page', cell: ({ url }) => pageTimelineLink(context, url, origin) },
    { head: 'Night', cell: ({ snapshot_date }) => dated(snapshot_date) },
    { head: 'Index', cell: indexChange },
    { head: 'What else changed', cell: ({ other_changes }) => otherChanges(other_changes) },
  ];
}

export function indexChange({ index_change: change, is_loss }: ChangeRow): Part {
  if (change === null) return UNKNOWN;
  return html`<b${is_loss ? new Html(' class="bad"') : null}>${arrow(is_loss)} ${change}</b>`;
}

export function otherChanges(changes: string | null): Part {
  return changes === null ? UNKNOWN : html`<span class="url">${shortened(changes, CHANGES_CHARACTERS)}</span>`;
}

function changeSelects({ kind, per }: ChangesQuery, { kinds }: Changes): Select[] {
  const named = (change: string, changes: number): Choice => [change, `${changeName(change)} (${count(changes)})`];
  const isOffered = kind === undefined || kind === EVERY_KIND || kinds.some(({ change }) => change === kind);
  const noise = kinds.reduce((sum, row) => sum + row.noise, 0);
  const offered = [
    ...Object.entries({
      '': 'all but crawls and first reports',
      [EVERY_KIND]: `everything (${count(noise)} more)`,
    }),
    ...kinds.map(({ change, changes }) => named(change, changes)),
    ...(isOffered ? [] : [named(kind, 0)]),
  ];
  return [{ name: 'kind', label: 'Kind', chosen: kind ?? '', choices: offered }, rowsSelect(per)];
}

const DAYS_APART = 7;

const compareQuery = z.object({ ...datesQuery, directory: filterText });

const figureRow = z.object({
  figure: z.string(),
  left_side: z.string().nullable(),
  right_side: z.string(),
  left_pages: z.int().nullable(),
  right_pages: z.int(),
  difference: z.int().nullable(),
  left_share: z.number().nullable(),
  right_share: z.number().nullable(),
});
type FigureRow = z.infer<typeof figureRow>;

const askFigures = remembered(readFigures);

/** Every figure of two dates side by side. */
export async function comparePage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(compareQuery, context.query);
  const { from, to, rows } = await askFigures(context, query);
  const content = html`${filterForm(linkTo(context, 'compare'), {
    fields: [
      { name: 'from', label: 'From', type: 'date', value: from },
      { name: 'to', label: 'To', type: 'date', value: to },
      { name: 'directory', label: 'Directory', type: 'search', value: query.directory ?? '' },
    ],
    selects: [],
  })}
<div id="results">
${moved(context, rows)}
${table(figureColumns(rows), rows, { id: 'compare', caption: 'Each figure counts pages; shares are among all pages of that date', empty: 'There is no complete listing up to this date.' })}
</div>`;
  return { title: `Two dates of ${shownName(context.website)}`, content };
}

async function readFigures(reader: Reader, website: string, { from, to, directory }: z.infer<typeof compareQuery>) {
  const until = to ?? newestDates(reader.markers, website, 1)[0] ?? reader.today;
  const since = from ?? addDays(until, -DAYS_APART);
  const sides = { website, since, until, directory: directory ?? null, other: null, pages: false, limit: null };
  return { from: since, to: until, rows: await askRows(reader, 'answers/analyses/compare', figureRow, sides) };
}

/** Links to the pages that explain the difference. */
function moved(context: WebsiteContext, [first]: readonly FigureRow[]): Part {
  if (!first?.left_side) return null;
  const span = { from: addDays(first.left_side, 1), to: first.right_side };
  const link = (changed: string, name: string) =>
    html`<a href="${linkTo(context, 'pages', { ...span, changed })}">${name}</a>`;
  return html`<p class="actions">Pages in between that ${link('fell_out', 'fell out of the index')} ${link('entered', 'entered it')} ${link('coverage_state', 'changed their state')}</p>`;
}

function figureColumns([first]: readonly FigureRow[]): Column<FigureRow>[] {
  const [left, right] = [first?.left_side ?? 'Before', first?.right_side ?? 'After'];
  return [
    { head: 'Figure', cell: ({ figure }) => figure },
    number(left, ({ left_pages }) => left_pages),
    number(right, ({ right_pages }) => right_pages),
    number('Difference', ({ difference }) => difference, signed),
    number('Share before', ({ left_share }) => left_share, percent),
    number('Share after', ({ right_share }) => right_share, percent),
  ];
}

import { z } from 'zod';
import { type Html, html, type Part, shortened } from '../../../answers/html/html.js';
import { askSelected, SELECTED_PAGES, selectedText, selectionOf, wrongOwn } from '../../../answers/query/ask-rows.js';
import type { Reader } from '../../../answers/query/reader.js';
import { CRAWL_SPANS, type PageFilters, pageFilters } from '../../../base/config/page-filters.js';
import { count } from '../../../base/observe/format.js';
import { sql } from '../../../base/storage/sql.js';
import { type Content, type FileFormat, linkTo, shownName, type WebsiteContext } from '../layout.js';
import { type Choice, filterForm, list, rowsSelect, type Select } from '../list.js';
import {
  askFor,
  columnsQuery,
  headOf,
  PAGE_COLUMNS,
  type PageColumn,
  PROBLEMS,
  pageColumns,
  pageRow,
  readsOf,
  SORTABLE,
} from '../page-columns.js';
import { checkPage, type Paging, pagingQuery, readQuery, remembered, skipOf } from '../query.js';
import { changeName, movesNote, sharedOrigin } from '../values.js';

export const pagesQuery = z.object({
  ...pagingQuery,
  ...pageFilters.shape,
  columns: columnsQuery,
  sort: z.enum([...SORTABLE, ...SORTABLE.map((name) => `-${name}` as const)]).default('url'),
});
export type PagesQuery = z.infer<typeof pagesQuery>;

/** Enough for every coverage state of a website. */
const VALUES_LISTED = 20;
/** The value for unknown values, and for pages in no sitemap. */
const UNKNOWN_VALUE = '-';

const facetRow = z.object({ facet: z.string(), value: z.string().nullable(), pages: z.int() });
type FacetRow = z.infer<typeof facetRow>;

type Chosen = Readonly<Record<string, string | undefined>>;

/** What a list of pages can be narrowed down by: its parameter in the address, and its heading. */
interface Facet {
  name: keyof PageFilters;
  heading: string;
  /** What values are called, where that is not the value itself. */
  labels?: Chosen;
}

const CANONICALS = { match: 'as declared', differ: 'differs', undeclared: 'none declared', [UNKNOWN_VALUE]: 'unknown' };

const FACETS: readonly Facet[] = [
  { name: 'indexed', heading: 'Indexed' },
  { name: 'state', heading: 'State', labels: { [UNKNOWN_VALUE]: 'unknown' } },
  { name: 'directory', heading: 'Directory' },
  { name: 'sitemap', heading: 'Sitemap', labels: { any: 'in any', [UNKNOWN_VALUE]: 'in none' } },
  { name: 'canonical', heading: 'Canonical', labels: CANONICALS },
  { name: 'crawl', heading: 'Last crawl' },
  { name: 'fetch', heading: 'Fetch', labels: { failed: 'failed in some way', [UNKNOWN_VALUE]: 'unknown' } },
  { name: 'problem', heading: 'Problem', labels: PROBLEMS },
];

/** Before the name of a column of the user's own. */
const OWN = 'own.';

const askList = remembered(readPages);

/** A window of the pages of a website, filtered and sorted. */
export async function pagesPage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(pagesQuery, context.query);
  const pages = await askList(context, query);
  const { page: _page, per, sort, columns: shown, ...filters } = query;
  const asked = { per, ...filters, columns: askFor(shown) };
  const { own } = filters;
  const narrowed: Chosen = { ...Object.fromEntries(FACETS.map(({ name }) => [name, filters[name]])), own };
  const ownChosen = Object.fromEntries([...new URLSearchParams(own)].map(([name, value]) => [OWN + name, value]));
  const wrong = wrongOwn(pages.own, own);
  const linkWith = (values: Readonly<Record<string, string | undefined>>) =>
    linkTo(context, 'pages', { ...asked, sort, ...values });
  const content = html`${filterForm(linkTo(context, 'pages'), {
    q: query.q ?? '',
    fields: [
      { name: 'from', label: 'Changed from', type: 'date', value: query.from ?? '' },
      { name: 'to', label: 'to', type: 'date', value: query.to ?? '' },
    ],
    selects: pageSelects(query),
    boxes: columnBoxes(shown),
    kept: { sort, ...narrowed },
  })}
${list({
  id: 'pages',
  one: 'page',
  caption: 'Current state of the pages',
  columns: pageColumns(shown, { ...context, origin: sharedOrigin(pages.rows) }, pages.own.columns),
  empty: 'No matching pages.',
  query,
  ...pages,
  above: [
    pages.period === null ? null : html`<p class="note">${pages.period}</p>`,
    (wrong === null ? pages.own.notes : [`${wrong}.`]).map((note) => html`<p class="note">${note}</p>`),
    downloads(context, { ...asked, sort }, pages.count),
  ],
  beside: facetLinks(
    pages.facets,
    {
      chosen: { ...narrowed, ...ownChosen },
      own: [...new Set([...pages.own.columns, ...new URLSearchParams(own).keys()])],
      noData: pages.noData,
    },
    (facet, value) => `${linkWith(narrowedBy(facet, value, own))}#results`,
  ),
  sort: { by: sort, linkOf: (by) => `${linkWith({ sort: by })}#results` },
  linkOf: (page) => `${linkWith({})}&page=${page}`,
})}`;
  return { title: `Pages of ${shownName(context.website)}`, content };
}

/** The parameter that selects this value of a filter, or any if it is undefined. */
function narrowedBy(facet: string, value: string | undefined, own: string | undefined) {
  if (!facet.startsWith(OWN)) return { [facet]: value };
  const chosen = new URLSearchParams(own);
  chosen.delete(facet.slice(OWN.length));
  if (value !== undefined) chosen.set(facet.slice(OWN.length), value);
  return { own: chosen.toString() };
}

/** One window of the selected pages. @throws ServiceError 404 for a page after the last one */
async function readPages(reader: Reader, website: string, query: PagesQuery & Paging) {
  const selection = selectionOf(website, query);
  const { filters = null } = selection;
  const asked = { filters, values: VALUES_LISTED, own_columns: [...reader.own.columns] };
  const facets = await reader.rows(facetRow, sql('serve/dashboard/facets'), asked, website);
  // Each page has exactly one value of this facet.
  const found = facets.reduce((sum, { facet, pages }) => sum + (facet === 'indexed' ? pages : 0), 0);
  checkPage(query, found);
  // Finds the pages first, and then reads the other columns of these few.
  const text = selectedText(
    { from: SELECTED_PAGES, columns: [...readsOf(query.columns), 'own'] },
    'whole_url in (select whole_url from selected)',
  );
  const rows = await askSelected(reader, text, pageRow, {
    selected: { from: SELECTED_PAGES, selection, website, columns: ['whole_url'] },
    skip: skipOf(query),
    limit: query.per,
  });
  const period = await movesNote(reader, website, { ...query, kind: query.changed });
  // What a page without a state is called.
  const noData = reader.markersOf(website).at(-1)?.byInspection ? 'no verdict yet' : 'without data';
  return { facets, count: found, rows, period, own: reader.own, noData };
}

function downloads(
  context: WebsiteContext,
  asked: Readonly<Record<string, string | number | undefined>>,
  pages: number,
): Part {
  if (pages === 0) return null;
  const { per: _per, ...values } = asked;
  const link = (format: FileFormat, name: string) =>
    html` <a href="${linkTo(context, `pages.${format}`, values)}" download="">${name}</a>`;
  return html`<p class="downloads">Download all of them:${link('xlsx', 'Excel')}${link('csv', 'CSV')}${link('json', 'JSON')}${link('parquet', 'Parquet')}</p>`;
}

/** Check boxes, folded away. The first column is always sent, so that ticking none differs from not choosing. */
function columnBoxes(shown: readonly PageColumn[]): Html {
  const [always, ...others] = PAGE_COLUMNS;
  const boxes = others.map((name) => {
    const checked = shown.includes(name) ? html` checked=""` : null;
    return html`<label><input id="f-columns-${name}" type="checkbox" name="columns" value="${name}"${checked}> ${headOf(name)}</label>\n`;
  });
  return html`<details><summary>Columns</summary>
<fieldset><legend>Columns besides “${always && headOf(always)}”</legend><input type="hidden" name="columns" value="${always}">
${boxes}</fieldset></details>`;
}

function pageSelects({ changed, monitored, per }: PagesQuery): Select[] {
  const times = { '': 'now', gone: 'gone', all: 'now or earlier' };
  const kinds = pageFilters.shape.changed.unwrap().options;
  const changes: Choice[] = [['', 'no matter'], ...kinds.map((kind): Choice => [kind, changeName(kind)])];
  return [
    { name: 'changed', label: 'What changed', chosen: changed ?? '', choices: changes },
    { name: 'monitored', label: 'Monitored', chosen: monitored ?? '', choices: Object.entries(times) },
    rowsSelect(per),
  ];
}

/** Links that narrow a list of pages down, each with the number of pages left, and links that undo this. */
function facetLinks(
  rows: readonly FacetRow[],
  { chosen, own, noData }: { chosen: Chosen; own: readonly string[]; noData: string },
  linkOf: (facet: string, value: string | undefined) => string,
): Html {
  const ofOwn = own.map((name) => ({ name: OWN + name, heading: name, labels: { [UNKNOWN_VALUE]: 'none' } }));
  const parts = [...FACETS, ...ofOwn].map(({ name, heading, ...facet }): Part => {
    const labels: Chosen =
      name === 'indexed' ? { [UNKNOWN_VALUE]: noData, gone: 'no longer listed' } : (facet.labels ?? {});
    const active = chosen[name];
    const undo = html` <span aria-hidden="true">✕</span><span class="unseen"> (take back)</span>`;
    const link = (value: string, to: string | undefined, mark: Html | null) =>
      html`<a href="${linkOf(name, to)}">${shortened(labels[value] ?? value)}${mark}</a>`;
    const items = inOrder(name, rows).map(({ value, pages }) => {
      const known = value ?? UNKNOWN_VALUE;
      return html`<li>${link(known, known, null)} <span>${count(pages)}</span></li>\n`;
    });
    const shown = active === undefined ? items : html`<li>${link(active, undefined, undo)}</li>`;
    return active === undefined && items.length === 0 ? null : html`<div><h2>${heading}</h2><ul>${shown}</ul></div>\n`;
  });
  return html`<details class="facets"><summary>Narrow down</summary><nav aria-label="Narrow down">
${parts}</nav></details>`;
}

/** Ages are sorted by age, everything else by the number of pages, as it was read. */
function inOrder(name: string, rows: readonly FacetRow[]): FacetRow[] {
  const own = rows.filter(({ facet }) => facet === name);
  const spans: readonly string[] = CRAWL_SPANS;
  const place = ({ value }: FacetRow) => spans.indexOf(value ?? '');
  return name === 'crawl' ? own.sort((one, other) => place(one) - place(other)) : own;
}

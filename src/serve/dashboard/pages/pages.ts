import { z } from 'zod';
import { type Html, html, type Part } from '../../../answers/html/html.js';
import { askSelected, selectedText } from '../../../answers/query/ask-rows.js';
import type { Reader } from '../../../answers/query/reader.js';
import { SELECTED_PAGES, selectionOf, wrongOwn } from '../../../answers/query/selected-pages.js';
import { pageFilters } from '../../../base/config/page-filters.js';
import { type Content, type FileFormat, linkTo, type WebsiteContext } from '../context.js';
import { facetLinks, narrowedDown, OWN, readFacets } from '../facets.js';
import { type Choice, type Field, filterForm, type Select } from '../filter-form.js';
import { shownName } from '../layout.js';
import { list, rowsSelect } from '../list.js';
import {
  askFor,
  columnsQuery,
  headOf,
  PAGE_COLUMNS,
  type PageColumn,
  pageColumns,
  pageRow,
  readsOf,
  SORTABLE,
} from '../page-columns.js';
import { checkPage, type Paging, pagingQuery, readQuery, skipOf } from '../query.js';
import { remembered } from '../remembered.js';
import { changeName, movesNote, sharedOrigin } from '../values.js';

export const pagesQuery = z.object({
  ...pagingQuery,
  ...pageFilters.shape,
  columns: columnsQuery,
  sort: z.enum([...SORTABLE, ...SORTABLE.map((name) => `-${name}` as const)]).default('url'),
});
export type PagesQuery = z.infer<typeof pagesQuery>;

const askList = remembered(readPages);

/** A window of the pages of a website, filtered and sorted. */
export async function pagesPage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(pagesQuery, context.query);
  const pages = await askList(context, query);
  const { page: _page, per, sort, columns: shown, ...filters } = query;
  const asked = { per, ...filters, columns: askFor(shown) };
  const { own } = filters;
  const narrowed = { ...narrowedDown(filters), own };
  const wrong = wrongOwn(pages.own, own);
  const linkWith = (values: Readonly<Record<string, string | undefined>>) =>
    linkTo(context, 'pages', { ...asked, sort, ...values });
  const content = html`${filterForm(linkTo(context, 'pages'), {
    q: query.q ?? '',
    fields: fieldsOf(query),
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
      chosen: { ...narrowed, ...chosenOwn(own) },
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

/** The chosen values of the user's own columns, by the names of their filters. */
function chosenOwn(own: string | undefined): Record<string, string> {
  return Object.fromEntries([...new URLSearchParams(own)].map(([name, value]) => [OWN + name, value]));
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
  const facets = await readFacets(reader, website, selection);
  // Each page has exactly one value of this facet.
  const count = facets.reduce((sum, { facet, pages }) => sum + (facet === 'indexed' ? pages : 0), 0);
  checkPage(query, count);
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
  return { facets, count, rows, period, own: reader.own, noData };
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

function fieldsOf({ from = '', to = '' }: PagesQuery): Field[] {
  return [
    { name: 'from', label: 'Changed from', type: 'date', value: from },
    { name: 'to', label: 'to', type: 'date', value: to },
  ];
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

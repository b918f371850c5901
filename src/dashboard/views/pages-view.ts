import { type Html, html, shortened } from '../../html/html.js';
import { count } from '../../observe/format.js';
import { linkTo, type WebsiteContext } from '../context.js';
import { askFor } from '../data/page-columns.js';
import type { PageRow, Pages, PagesQuery } from '../data/pages.js';
import { stateOf, stateText } from '../data/state-filter.js';
import { rowsSelect } from './changes-view.js';
import { type Boxes, type Choice, filterForm, type Select } from './filter-form.js';
import { nameOf } from './layout.js';
import { list } from './list.js';
import { pageColumns } from './page-columns.js';
import type { Column } from './table.js';

const STATE_CHARACTERS = 60;

/** The pages of a website: filtered, sorted, a window of them. */
export function pagesView(context: WebsiteContext, query: PagesQuery, pages: Pages): Html {
  const { page: _page, sort, columns, ...rest } = query;
  const asked = { ...rest, columns: askFor(columns) };
  const all = pageColumns(context);
  const fields = { q: query.q ?? '', selects: selectsOf(query, pages), boxes: boxesOf(all, columns), kept: { sort } };
  return html`<h1>Pages of ${nameOf(context.website)}</h1>
${filterForm(linkTo(context, 'pages'), fields)}
${list({
  id: 'pages',
  one: 'page',
  caption: 'Pages as they stand now',
  columns: all,
  rows: pages.rows,
  empty: 'No matching pages.',
  asked: {
    window: { ...query, count: pages.count },
    sort: { by: sort, linkOf: (by) => linkTo(context, 'pages', { ...asked, sort: by }) },
    columns,
  },
  linkOf: (page) => linkTo(context, 'pages', { ...asked, sort, page }),
})}`;
}

function boxesOf([first, ...others]: readonly Column<PageRow>[], chosen: readonly string[]): Boxes {
  return {
    name: 'columns',
    label: 'Columns',
    legend: `Columns beside “${first?.head}”`,
    choices: others.map(({ id, head }) => [id, head]),
    chosen,
    always: first?.id ?? '',
  };
}

function selectsOf({ state, indexed, canonical: match, monitored, per }: PagesQuery, { states }: Pages): Select[] {
  const offered: Choice[] = states.map(({ state: name, pages }) => [
    stateText(name),
    `${stateLabel(name)} (${count(pages)})`,
  ]);
  const missing = state === undefined || offered.some(([value]) => value === state);
  return [
    {
      name: 'indexed',
      label: 'Indexed',
      chosen: indexed ?? '',
      choices: [
        ['', 'any'],
        ['yes', 'yes'],
        ['no', 'no'],
        ['-', 'without data'],
      ],
    },
    {
      name: 'state',
      label: 'State',
      chosen: state ?? '',
      choices: [['', 'any'], ...offered, ...(missing ? [] : [[state, stateLabel(stateOf(state))] as const])],
    },
    {
      name: 'canonical',
      label: 'Canonicals',
      chosen: match ?? '',
      choices: [
        ['', 'any'],
        ['match', 'match'],
        ['differ', 'differ'],
        ['-', 'not known'],
      ],
    },
    {
      name: 'monitored',
      label: 'Monitored',
      chosen: monitored ?? '',
      choices: [
        ['', 'now'],
        ['gone', 'gone'],
        ['all', 'now or earlier'],
      ],
    },
    rowsSelect(per),
  ];
}

function stateLabel(state: string | null): string {
  if (state === null) return 'not known';
  return state === '' ? 'empty' : shortened(state, STATE_CHARACTERS);
}

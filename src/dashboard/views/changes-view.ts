import { type Html, html } from '../../html/html.js';
import { count } from '../../observe/format.js';
import { linkTo, type WebsiteContext } from '../context.js';
import { type ChangeRow, type Changes, type ChangesQuery, EVERY_KIND, NIGHTS } from '../data/changes.js';
import { ROWS_A_PAGE } from '../query.js';
import { filterForm, type Select } from './filter-form.js';
import { nameOf } from './layout.js';
import { list } from './list.js';
import type { Column } from './table.js';
import { changeName, pageTimelineLink, text, time } from './values.js';

/** What a change is, what it went from and to, and when it was observed. */
export const CHANGE_COLUMNS: readonly Column<ChangeRow>[] = [
  { id: 'change', head: 'Change', cell: ({ change }) => changeName(change) },
  { id: 'from', head: 'From', cell: ({ from_value }) => text(from_value) },
  { id: 'to', head: 'To', cell: ({ to_value }) => text(to_value) },
  { id: 'observed', head: 'Observed', cell: ({ observed_at }) => time(observed_at) },
];

/** What changed in the last nights, page by page. */
export function changesView(context: WebsiteContext, query: ChangesQuery, changes: Changes): Html {
  const { q, kind, nights, per } = query;
  const asked = { nights, kind, q, per };
  return html`<h1>Changes of ${nameOf(context.website)}</h1>
${filterForm(linkTo(context, 'changes'), { q: q ?? '', selects: selectsOf(query, changes) })}
${list({
  id: 'changes',
  one: 'change',
  caption: `Changes since ${changes.since ?? 'the first snapshot'}, the newest first`,
  columns: [{ id: 'page', head: 'Page', cell: ({ url }) => pageTimelineLink(context, url) }, ...CHANGE_COLUMNS],
  rows: changes.rows,
  empty: 'Nothing of this kind changed in these nights.',
  asked: { window: { ...query, count: changes.count } },
  linkOf: (page) => linkTo(context, 'changes', { ...asked, page }),
})}`;
}

function selectsOf({ nights, kind, per }: ChangesQuery, { kinds }: Changes): Select[] {
  const known = kinds.map(({ change, changes }) => [change, `${changeName(change)} (${count(changes)})`] as const);
  const missing = kind === undefined || kind === EVERY_KIND || kinds.some(({ change }) => change === kind);
  return [
    {
      name: 'kind',
      label: 'Kind',
      chosen: kind ?? '',
      choices: [
        ['', 'all but crawls'],
        [EVERY_KIND, 'all'],
        ...known,
        ...(missing ? [] : [[kind, `${changeName(kind)} (0)`] as const]),
      ],
    },
    {
      name: 'nights',
      label: 'Nights',
      chosen: String(nights),
      choices: NIGHTS.map((number) => [number, number === '1' ? 'the newest' : `the last ${number}`]),
    },
    rowsSelect(per),
  ];
}

/** How many rows a page has. */
export function rowsSelect(per: number): Select {
  return { name: 'per', label: 'Rows', chosen: String(per), choices: ROWS_A_PAGE.map((rows) => [rows, rows]) };
}

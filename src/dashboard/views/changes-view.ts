import { count } from '../../observe/format.js';
import { type Html, html, type Part } from '../../report/html.js';
import { type ChangeRow, type Changes, type ChangesQuery, EVERY_KIND, NIGHTS } from '../data/changes.js';
import { ROWS_A_PAGE } from '../query.js';
import { linkTo, type WebsiteVisit } from '../visit.js';
import { filterForm, type Select } from './filter-form.js';
import { nameOf } from './layout.js';
import { pagingPart, shownOf } from './paging.js';
import { dataTable } from './table.js';
import { changeName, pageTimelineLink, text, time } from './values.js';

/** What changed in the last nights, page by page. */
export function changesView(visit: WebsiteVisit, query: ChangesQuery, changes: Changes): Html {
  const { q, kind, nights, per } = query;
  const asked = { nights, kind, q, per };
  return html`<h1>Changes of ${nameOf(visit.website)}</h1>
${filterForm(linkTo(visit, 'changes'), { q: q ?? '', selects: selectsOf(query, changes) })}
<p id="announcement" class="unseen" role="status"></p>
<div id="results">
${shownOf(query, changes.count, 'change')}
${changesTable(visit, `Changes since ${changes.since ?? 'the first snapshot'}, the newest first`, changes.rows)}
${pagingPart(query, changes.count, (page) => linkTo(visit, 'changes', { ...asked, page }))}
</div>`;
}

/** Changes as a table, with the page that each is of. */
function changesTable(visit: WebsiteVisit, caption: string, rows: readonly ChangeRow[]): Html {
  return dataTable({
    id: 'changes',
    caption,
    columns: [{ head: 'Page' }, { head: 'Change' }, { head: 'From' }, { head: 'To' }, { head: 'Observed' }],
    rows: rows.map((row) => [pageTimelineLink(visit, row.url), ...cellsOf(row)]),
    empty: 'Nothing of this kind changed in these nights.',
  });
}

/** What a change is, what it went from and to, and when it was observed. */
export function cellsOf({ change, from_value, to_value, observed_at }: ChangeRow): Part[] {
  return [changeName(change), text(from_value), text(to_value), time(observed_at)];
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

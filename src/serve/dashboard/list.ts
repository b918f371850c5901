import { type Column, Html, html, type Part, type TableOptions, table } from '../../answers/html/html.js';
import { count, counted } from '../../base/observe/format.js';
import { type Paging, ROWS_A_PAGE } from './query.js';

export interface ListContent<Row> extends TableOptions {
  columns: readonly Column<Row>[];
  /** The window that the address asks for. */
  rows: readonly Row[];
  /** How many rows there are in all. */
  count: number;
  query: Paging;
  /** What a row is called. */
  one: string;
  /** Above the table. */
  above?: Part;
  /** Beside the table; above it on a phone. */
  beside?: Part;
  /** Shows the rows if not as a table. */
  show?(rows: readonly Row[]): Part;
  /** The address of another window of the list, numbered from 1. */
  linkOf(page: number): string;
}

/** A table with a window of a list, which of all rows these are, and links to the other windows. */
export function list<Row>(content: ListContent<Row>): Html {
  const { columns, rows, show, beside } = content;
  const body = html`${show && rows.length > 0 ? show(rows) : table(columns, rows, content)}
${links(content)}`;
  return html`<div id="results">
<p class="shown">${whichRows(content)}</p>
${content.above}
${beside ? html`<div class="narrowed">${beside}<div>${body}</div></div>` : body}
</div>`;
}

/** Which rows of how many are shown: `51 to 100 of 1,234 pages`. */
function whichRows<Row>({ count: rows, query: { page, per }, one }: ListContent<Row>): string {
  if (rows === 0) return `No ${one}s`;
  const first = (page - 1) * per + 1;
  const window = rows <= per ? '' : `${count(first)} to ${count(Math.min(first + per - 1, rows))} of `;
  return window + counted(rows, one);
}

/** Links to the other windows; nothing if there is only one. */
function links<Row>({ count: rows, query: { page, per }, linkOf }: ListContent<Row>): Part {
  const last = Math.ceil(rows / per);
  if (last <= 1) return null;
  const to = (target: number, label: string): Part =>
    target === page || target < 1 || target > last
      ? html`<li><span class="off">${label}</span></li>`
      : html`<li><a href="${linkOf(target)}#results">${label}</a></li>`;
  return html`<nav class="paging" aria-label="Pages of the list"><ul>
${to(1, 'First')}
${to(page - 1, 'Previous')}
<li>Page ${count(page)} of ${count(last)}</li>
${to(page + 1, 'Next')}
${to(last, 'Last')}
</ul></nav>`;
}

/** How many rows a page of a list has, as a field of its filter. */
export function rowsSelect(per: number) {
  return { name: 'per', label: 'Rows', chosen: String(per), choices: ROWS_A_PAGE.map((rows) => [rows, rows] as const) };
}

/** A choice of a filter: its value in the address, and its label. */
export type Choice = readonly [value: string, label: string];

export interface Select {
  name: string;
  label: string;
  choices: readonly Choice[];
  /** The current choice; the first one if it is none of them. */
  chosen: string;
}

interface Field {
  name: string;
  label: string;
  type: 'date' | 'search';
  value: string;
}

interface FilterFields {
  /** A part of a page's address; left out where there is no such filter. */
  q?: string;
  fields?: readonly Field[];
  selects: readonly Select[];
  boxes?: Part;
  kept?: Readonly<Record<string, string | undefined>>;
}

/**
 * A form whose fields become the query string of the same page: it works without scripts, and can be bookmarked and
 * shared. Autocomplete is off: after a step back the browser would restore the last input instead of what the list shows.
 *
 * @param kept other parameters of the address
 */
export function filterForm(action: string, { q, fields = [], selects, boxes, kept = {} }: FilterFields): Html {
  const hidden = Object.entries(kept).flatMap(([name, value]) =>
    value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}">`],
  );
  return html`<form method="get" action="${action}" class="filter" role="search" autocomplete="off">
${hidden}
${q === undefined ? null : fieldOf({ name: 'q', label: 'Address contains', type: 'search', value: q })}${fields.map(fieldOf)}
${selects.map(selectOf)}
${boxes}
<p><button type="submit">Show</button></p>
</form>`;
}

function fieldOf({ name, label, type, value }: Field): Html {
  return html`<p><label for="f-${name}">${label}</label><input id="f-${name}" name="${name}" type="${type}" maxlength="500" value="${value}"></p>
`;
}

function selectOf({ name, label, choices, chosen }: Select): Html {
  const options = choices.map(([value, text]) => {
    const selected = value === chosen ? new Html(' selected=""') : null;
    return html`<option value="${value}"${selected}>${text}</option>\n`;
  });
  return html`<p><label for="f-${name}">${label}</label><select id="f-${name}" name="${name}">
${options}</select></p>
`;
}

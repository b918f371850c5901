import { html, type Part } from './html.js';

const ORDERS = { ascending: ' ▲', descending: ' ▼' } as const;

/** A column of a table. Its cells are made from the whole row. */
export interface Column<Row> {
  head: string;
  /** Numbers are aligned right. */
  isNumber?: boolean;
  /** Its name in the query string, if a click on its head sorts by it. */
  sortedAs?: string;
  cell(row: Row): Part;
}

/** Further options, for the tables of the dashboard. */
export interface TableOptions {
  /** Letters and hyphens; unique on the page. */
  id: string;
  caption: string;
  /** Shown instead of an empty table. */
  empty: string;
  /** The sort order as in the query string, `-` in front for descending, and the link to another one. */
  sort?: { by: string; linkOf(by: string): string };
}

/**
 * A table that scrolls by itself if it is wider than the screen. The order of rows is kept. On a phone its rows are cards
 * with the first column as the title of each, and what it can be sorted by is a line above them.
 *
 * @param options with them the first column names its row
 */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], options?: TableOptions): Part {
  if (options && rows.length === 0) return html`<p class="empty">${options.empty}</p>`;
  const named = options && html` role="region" aria-labelledby="${options.id}"`;
  const caption = options && html`<caption id="${options.id}">${options.caption}</caption>`;
  const cells = (row: Row) =>
    columns.map((column, at) =>
      options && at === 0
        ? html`<th scope="row">${column.cell(row)}</th>`
        : html`<td${numeric(column)} data-head="${column.head}">${column.cell(row)}</td>`,
    );
  return html`<div class="scroll" tabindex="0"${named}><table class="cards">${caption}
<thead${options?.sort && html` class="sorts"`}><tr>${columns.map((column) => headOf(column, options?.sort))}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody></table></div>`;
}

function headOf<Row>(column: Column<Row>, sort: TableOptions['sort']): Part {
  const { head, sortedAs: name } = column;
  if (!sort || name === undefined) return html`<th scope="col"${numeric(column)}>${head}</th>`;
  const order = sort.by === name ? 'ascending' : sort.by === `-${name}` ? 'descending' : null;
  const link = sort.linkOf(order === 'ascending' ? `-${name}` : name);
  const mark = html`<span aria-hidden="true">${order && ORDERS[order]}</span>`;
  return html`<th scope="col"${numeric(column)}${order && html` aria-sort="${order}"`}><a href="${link}">${head}${mark}</a></th>`;
}

function numeric<Row>({ isNumber }: Column<Row>): Part {
  return isNumber ? html` class="number"` : null;
}

import { html, type Part } from './html.js';

const ROWS_UNFOLDED = 15;
/** Fewer than these are not worth a click. */
const LEAST_FOLDED = 5;
const ORDERS = { ascending: ' ▲', descending: ' ▼' } as const;

/** What a column is, all of it. Its cells are made of a whole row. */
export interface Column<Row> {
  head: string;
  /** Numbers stand right. */
  isNumber?: boolean;
  /** What the address calls it, if a click on its head sorts by it. */
  sortedAs?: string;
  cell(row: Row): Part;
}

/** What else a table of an application has. */
export interface TableOptions {
  /** Letters and hyphens; no other table of the page has it. */
  id: string;
  caption: string;
  /** Said instead of an empty table. */
  empty: string;
  /** What the rows are sorted by: what the address calls it, with `-` in front descending; and where another order leads. */
  sort?: { by: string; linkOf(by: string): string };
}

/**
 * A table that scrolls by itself where it is wider than the screen. Rows stand in the order in which they are given.
 *
 * @param options with them the first column names its row, and the keyboard scrolls too
 */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], options?: TableOptions): Part {
  if (options && rows.length === 0) return html`<p class="empty">${options.empty}</p>`;
  const named = options && html` role="region" aria-labelledby="${options.id}" tabindex="0"`;
  const caption = options && html`<caption id="${options.id}">${options.caption}</caption>`;
  const cells = (row: Row) =>
    columns.map((column, at) =>
      options && at === 0
        ? html`<th scope="row">${column.cell(row)}</th>`
        : html`<td${numeric(column)}>${column.cell(row)}</td>`,
    );
  return html`<div class="scroll"${named}><table>${caption}
<thead><tr>${columns.map((column) => headOf(column, options?.sort))}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody></table></div>`;
}

/** A table of many rows, of which all but the first are unfolded by a click; on paper they all stand there. */
export function foldedTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Part {
  if (rows.length <= ROWS_UNFOLDED + LEAST_FOLDED) return table(columns, rows);
  const folded = rows.slice(ROWS_UNFOLDED);
  return html`${table(columns, rows.slice(0, ROWS_UNFOLDED))}<details><summary>${folded.length} more</summary>
${table(columns, folded)}</details>`;
}

function headOf<Row>(column: Column<Row>, sort: TableOptions['sort']): Part {
  const { head, sortedAs: name } = column;
  if (!sort || name === undefined) return html`<th scope="col"${numeric(column)}>${head}</th>`;
  const order = sort.by === name ? 'ascending' : sort.by === `-${name}` ? 'descending' : null;
  const link = sort.linkOf(order === 'ascending' ? `-${name}` : name);
  const mark = html`<span aria-hidden="true">${order && ORDERS[order]}</span>`;
  return html`<th scope="col"${numeric(column)}${order && html` aria-sort="${order}"`}><a href="${link}" data-live="sort-${name}">${head}${mark}</a></th>`;
}

function numeric<Row>({ isNumber }: Column<Row>): Part {
  return isNumber ? html` class="number"` : null;
}

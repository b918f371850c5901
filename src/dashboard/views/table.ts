import { Html, html, type Part } from '../../report/html.js';

export interface Column {
  head: string;
  /** Numbers stand right. */
  isNumber?: boolean;
  /** Where a click on the head leads, and what the rows are sorted by now. */
  sort?: { link: string; standing: 'ascending' | 'descending' | 'none'; key: string };
}

export interface TableContent {
  /** Letters and hyphens; no other table of the page has it. */
  id: string;
  caption: string;
  columns: readonly Column[];
  /** One value a column; the first names its row. */
  rows: readonly (readonly Part[])[];
  /** Said instead of an empty table. */
  empty: string;
}

const SORTED: Record<'ascending' | 'descending' | 'none', string> = { ascending: ' ▲', descending: ' ▼', none: '' };

/** A table that scrolls by itself where it is wider than the screen, with the keyboard too. */
export function dataTable({ id, caption, columns, rows, empty }: TableContent): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table>
<caption id="${id}">${caption}</caption>
<thead><tr>${columns.map(headOf)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map((cell, at) => cellOf(cell, at, columns[at]))}</tr>\n`)}</tbody>
</table></div>`;
}

function headOf({ head, sort, ...column }: Column): Html {
  if (!sort) return html`<th scope="col"${numeric(column)}>${head}</th>`;
  const { link, standing, key } = sort;
  const sorted = standing === 'none' ? null : html` aria-sort="${standing}"`;
  const mark = html`<span aria-hidden="true">${SORTED[standing]}</span>`;
  return html`<th scope="col"${numeric(column)}${sorted}><a href="${link}" data-live="sort-${key}">${head}${mark}</a></th>`;
}

function cellOf(cell: Part, at: number, column: Column | undefined): Html {
  if (at === 0) return html`<th scope="row">${cell}</th>`;
  return html`<td${numeric(column)}>${cell}</td>`;
}

function numeric(column: Pick<Column, 'isNumber'> | undefined): Html | null {
  return column?.isNumber ? new Html(' class="number"') : null;
}

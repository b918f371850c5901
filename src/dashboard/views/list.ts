import type { RowData } from '@tanstack/table-core';
import { counted } from '../../html/figures.js';
import { type Html, html, type Part } from '../../html/html.js';
import { count } from '../../observe/format.js';
import { type Asked, type Table, type TableContent, tableHtml, tableOf } from './table.js';

export interface ListContent<Row extends RowData> extends TableContent<Row> {
  asked: Asked & { window: NonNullable<Asked['window']> };
  /** What a row is called. */
  one: string;
  /** Where another window of the list is, from 1. */
  linkOf(page: number): string;
}

/** A table that shows a window of a list, what it shows of how much, and links to the other windows. */
export function list<Row extends RowData>(content: ListContent<Row>): Html {
  const table = tableOf(content);
  return html`<p id="announcement" class="unseen" role="status"></p>
<div id="results">
${shownPart(table, content.one)}
${tableHtml(table, content)}
${pagingPart(table, content.linkOf)}
</div>`;
}

/** Which rows of how many are shown: `51 to 100 of 1,234 pages`. */
function shownPart<Row extends RowData>(table: Table<Row>, one: string): Html {
  const rows = table.getRowCount();
  if (rows === 0) return html`<p class="shown" id="shown">No ${one}s</p>`;
  const { pageIndex, pageSize } = table.atoms.pagination.get();
  const first = pageIndex * pageSize + 1;
  const last = Math.min(first + pageSize - 1, rows);
  const window = rows <= pageSize ? '' : `${count(first)} to ${count(last)} of `;
  return html`<p class="shown" id="shown">${window}${counted(rows, one)}</p>`;
}

/** Links to the other windows; nothing where there is only one. */
function pagingPart<Row extends RowData>(table: Table<Row>, linkOf: (page: number) => string): Part {
  const last = table.getPageCount();
  if (last <= 1) return null;
  const page = table.atoms.pagination.get().pageIndex + 1;
  const to = (target: number, label: string, key: string): Part =>
    target === page
      ? html`<li><span class="off">${label}</span></li>`
      : html`<li><a href="${linkOf(target)}" data-live="${key}">${label}</a></li>`;
  return html`<nav class="paging" aria-label="Pages of the list"><ul>
${to(1, 'First', 'first')}
${to(table.getCanPreviousPage() ? page - 1 : page, 'Previous', 'previous')}
<li>Page ${count(page)} of ${count(last)}</li>
${to(table.getCanNextPage() ? page + 1 : page, 'Next', 'next')}
${to(last, 'Last', 'last')}
</ul></nav>`;
}

import {
  type Column as ColumnOf,
  columnVisibilityFeature,
  constructTable,
  createColumnHelper,
  metaHelper,
  type RowData,
  type Row as RowOf,
  rowPaginationFeature,
  rowSortingFeature,
  type SortingState,
  type Table as TableOf,
  tableFeatures,
} from '@tanstack/table-core';
import { storeReactivityBindings } from '@tanstack/table-core/store-reactivity-bindings';
import { Html, html, type Part } from '../../html/html.js';
import type { Paging } from '../query.js';

/** What a column is, all of it. Its cells are made of a whole row. */
export interface Column<Row> {
  /** Letters, digits, `_`: what an address calls it. No other column of the table has it. */
  id: string;
  head: string;
  /** Numbers stand right. */
  isNumber?: boolean;
  /** Whether a click on its head sorts by it. */
  isSortable?: boolean;
  cell(row: Row): Part;
}

export interface TableContent<Row extends RowData> {
  /** Letters and hyphens; no other table of the page has it. */
  id: string;
  caption: string;
  /** The first names its row. */
  columns: readonly Column<Row>[];
  /** In the order in which they are shown: the window of a list that was asked for. */
  rows: readonly Row[];
  /** Said instead of an empty table. */
  empty: string;
  /** What the address says about the table, as far as it says anything. */
  asked?: Asked | undefined;
}

export interface Asked {
  /** Where the rows are one window of how many. */
  window?: Paging & { count: number };
  /** What the rows are sorted by: the id of a column, with `-` in front descending; and where another order leads to. */
  sort?: { by: string; linkOf(by: string): string };
  /** Ids of the columns that are shown; all where it is left out. */
  columns?: readonly string[];
}

const FEATURES = tableFeatures({
  coreReactivityFeature: storeReactivityBindings(),
  columnVisibilityFeature,
  rowSortingFeature,
  rowPaginationFeature,
  columnMeta: metaHelper<{ isNumber: boolean }>(),
});
type Features = typeof FEATURES;
export type Table<Row extends RowData> = TableOf<Features, Row>;
type Head<Row extends RowData> = ColumnOf<Features, Row>;

const STANDINGS = { asc: { name: 'ascending', mark: ' ▲' }, desc: { name: 'descending', mark: ' ▼' } } as const;

/** A table that scrolls by itself where it is wider than the screen, with the keyboard too. */
export function dataTable<Row extends RowData>(content: TableContent<Row>): Html {
  return tableHtml(tableOf(content), content);
}

/** A table as the library sees it, in the state that the address asks for. Whoever gives the rows sorts and cuts them. */
export function tableOf<Row extends RowData>({ columns, rows, asked = {} }: TableContent<Row>): Table<Row> {
  const { window, sort, columns: shown } = asked;
  const helper = createColumnHelper<Features, Row>();
  return constructTable<Features, Row>({
    features: FEATURES,
    data: [...rows],
    columns: columns.map(({ id, head, isNumber = false, isSortable = false, cell }) =>
      helper.accessor((row: Row): unknown => cell(row), {
        id,
        header: head,
        enableSorting: isSortable && sort !== undefined,
        meta: { isNumber },
      }),
    ),
    manualSorting: true,
    manualPagination: true,
    sortDescFirst: false,
    enableSortingRemoval: false,
    rowCount: window?.count ?? rows.length,
    initialState: {
      sorting: sort ? sortingOf(sort.by) : [],
      pagination: { pageIndex: (window?.page ?? 1) - 1, pageSize: window?.per ?? Math.max(1, rows.length) },
      columnVisibility: Object.fromEntries(columns.map(({ id }) => [id, shown?.includes(id) ?? true])),
    },
  });
}

function sortingOf(by: string): SortingState {
  return [{ id: by.replace(/^-/, ''), desc: by.startsWith('-') }];
}

/** The table as HTML. */
export function tableHtml<Row extends RowData>(
  table: Table<Row>,
  { id, caption, empty, asked }: TableContent<Row>,
): Html {
  const { rows } = table.getRowModel();
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const heads = table
    .getHeaderGroups()
    .map(({ headers }) => html`<tr>${headers.map(({ column }) => headOf(column, asked))}</tr>`);
  // The library's own cells remember what they showed, for tables that change: a page that is made once needs none.
  const columns = table.getVisibleLeafColumns();
  const cells = (row: RowOf<Features, Row>) =>
    columns.map((column, at) =>
      cellOf(column, { value: partOf(column.accessorFn?.(row.original, row.index)), isFirst: at === 0 }),
    );
  return html`<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table>
<caption id="${id}">${caption}</caption>
<thead>${heads}</thead>
<tbody>
${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody>
</table></div>`;
}

function headOf<Row extends RowData>(column: Head<Row>, asked: Asked | undefined): Html {
  const head = partOf(column.columnDef.header);
  if (!asked?.sort || !column.getCanSort()) return html`<th scope="col"${numeric(column)}>${head}</th>`;
  const standing = column.getIsSorted();
  const sorted = standing ? html` aria-sort="${STANDINGS[standing].name}"` : null;
  const mark = html`<span aria-hidden="true">${standing ? STANDINGS[standing].mark : ''}</span>`;
  const link = asked.sort.linkOf(column.getNextSortingOrder() === 'desc' ? `-${column.id}` : column.id);
  return html`<th scope="col"${numeric(column)}${sorted}><a href="${link}" data-live="sort-${column.id}">${head}${mark}</a></th>`;
}

function cellOf<Row extends RowData>(column: Head<Row>, { value, isFirst }: { value: Part; isFirst: boolean }): Html {
  if (isFirst) return html`<th scope="row">${value}</th>`;
  return html`<td${numeric(column)}>${value}</td>`;
}

function numeric<Row extends RowData>(column: Head<Row>): Html | null {
  return column.columnDef.meta?.isNumber ? new Html(' class="number"') : null;
}

/** What the library hands back, which knows of no types of cells: HTML only where it was made as such, else text. */
function partOf(value: unknown): Part {
  if (value === null || value === undefined || value instanceof Html) return value;
  return Array.isArray(value) ? value.map(partOf) : String(value);
}

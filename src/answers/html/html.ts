import { safe } from '../../base/observe/terminal.js';
import { urlOf } from '../../base/url.js';

/** Longer URLs are shortened in their middle; the full one is in the link and its tooltip. */
const SHOWN_CHARACTERS = 96;
/** Browsers and mail programs may refuse longer ones. */
const LINK_CHARACTERS = 2000;
const TOOLTIP_CHARACTERS = 500;
const ORIGIN = /^https?:\/\/[^/?#]+/i;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text that is HTML. Everything else is escaped in a template. */
export class Html {
  constructor(readonly text: string) {}
}

export type Part = Html | string | number | null | undefined | readonly Part[];

/** HTML with values in it: what is not `Html` itself is escaped; null and undefined are left out. */
export function html(texts: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(texts.reduce((joined, text, at) => joined + render(values[at - 1]) + text));
}

/**
 * Any text as text of a document or of an attribute in double quotes. Invisible characters with an effect (controls,
 * marks that turn the reading direction) are made visible.
 */
export function escaped(text: string): string {
  return safe(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A text cut in its middle between characters, because the beginning and the end of a URL say most. */
export function shortened(text: string, characters = SHOWN_CHARACTERS): string {
  if (text.length <= characters) return text;
  // A text may be megabytes long, so only what can be shown is split into characters.
  const head = [...text.slice(0, characters)];
  const tail = [...text.slice(-characters)];
  const half = Math.floor((characters - 1) / 2);
  return `${head.slice(0, characters - 1 - half).join('')}…${tail.slice(-half).join('')}`;
}

/**
 * A page's address, as a link only if it is a web address that a browser reads as it is written.
 *
 * @param beside a URL on the same line, whose scheme and host need not be repeated
 */
export function pageLink(url: string, characters = SHOWN_CHARACTERS, beside?: string): Html {
  const origin = ORIGIN.exec(beside ?? '')?.[0];
  const shown = shortened(origin && url.startsWith(`${origin}/`) ? url.slice(origin.length) : url, characters);
  const title = shown === url ? null : html` title="${url.slice(0, TOOLTIP_CHARACTERS)}"`;
  const isPlain = /^https?:\/\//i.test(url) && url.length <= LINK_CHARACTERS && safe(url) === url;
  if (!isPlain || urlOf(url) === null) return html`<span class="url"${title}>${shown}</span>`;
  return html`<a class="url" href="${url}" rel="noopener noreferrer"${title}>${shown}</a>`;
}

function render(value: Part): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? escaped(value) : value.map(render).join('');
}

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

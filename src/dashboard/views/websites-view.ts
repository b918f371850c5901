import { percent } from '../../html/figures.js';
import { type Html, html, type Part } from '../../html/html.js';
import { count } from '../../observe/format.js';
import { shareOf } from '../../report/headline.js';
import { linkTo } from '../context.js';
import type { WebsiteRow, WebsitesQuery } from '../data/websites.js';
import { nameOf } from './layout.js';
import { list } from './list.js';
import type { Column } from './table.js';
import { UNKNOWN } from './values.js';

/** The websites that a key may read. */
export function websitesView(
  base: string,
  query: WebsitesQuery,
  websites: { count: number; rows: readonly WebsiteRow[] },
): Html {
  return html`<h1>Websites</h1>
${list({
  id: 'websites',
  one: 'website',
  caption: 'Websites that your key may read, as they stand now',
  columns: columnsOf(base),
  rows: websites.rows,
  empty: 'This key has no access to any website.',
  asked: { window: { ...query, count: websites.count } },
  linkOf: (page) => `${base}/?per=${query.per}&page=${page}`,
})}`;
}

function columnsOf(base: string): Column<WebsiteRow>[] {
  return [
    { id: 'website', head: 'Website', cell: (row) => nameLink(base, row) },
    { id: 'pages', head: 'Pages', isNumber: true, cell: (row) => known(row, count(row.pages)) },
    { id: 'indexed', head: 'Indexed', isNumber: true, cell: (row) => known(row, count(row.indexed)) },
    { id: 'share', head: 'Share', isNumber: true, cell: (row) => known(row, percent(shareOf(row.indexed, row.pages))) },
    { id: 'newest', head: 'Newest snapshot', cell: newest },
  ];
}

function nameLink(base: string, { website, is_known }: WebsiteRow): Part {
  const name = nameOf(website);
  return is_known ? html`<a href="${linkTo({ base, website }, 'overview')}">${name}</a>` : name;
}

/** Before the first snapshot nothing is known of the pages. */
function known({ newest_date }: WebsiteRow, value: Part): Part {
  return newest_date === null ? UNKNOWN : value;
}

function newest({ newest_date, listing_status }: WebsiteRow): Part {
  if (newest_date === null) return 'none yet';
  const partial = listing_status === 'partial' ? html`, <b class="bad">partial</b>` : null;
  return html`<span class="date">${newest_date}</span>${partial}`;
}

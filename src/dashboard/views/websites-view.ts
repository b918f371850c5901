import { count } from '../../observe/format.js';
import { percent } from '../../report/figures.js';
import { shareOf } from '../../report/headline.js';
import { type Html, html, type Part } from '../../report/html.js';
import type { WebsiteRow, WebsitesQuery } from '../data/websites.js';
import { linkTo } from '../visit.js';
import { nameOf } from './layout.js';
import { pagingPart, shownOf } from './paging.js';
import { dataTable } from './table.js';
import { UNKNOWN } from './values.js';

/** The websites that a key may read. */
export function websitesView(
  base: string,
  query: WebsitesQuery,
  websites: { count: number; rows: readonly WebsiteRow[] },
): Html {
  return html`<h1>Websites</h1>
<p id="announcement" class="unseen" role="status"></p>
<div id="results">
${shownOf(query, websites.count, 'website')}
${dataTable({
  id: 'websites',
  caption: 'Websites that your key may read, as they stand now',
  columns: [
    { head: 'Website' },
    { head: 'Pages', isNumber: true },
    { head: 'Indexed', isNumber: true },
    { head: 'Share', isNumber: true },
    { head: 'Newest snapshot' },
  ],
  rows: websites.rows.map((row) => cellsOf(base, row)),
  empty: 'Your key may read no website.',
})}
${pagingPart(query, websites.count, (page) => `${base}/?per=${query.per}&page=${page}`)}
</div>`;
}

function cellsOf(base: string, { website, is_known, newest_date, listing_status, pages, indexed }: WebsiteRow): Part[] {
  const name = nameOf(website);
  const link = is_known ? html`<a href="${linkTo({ base, website }, 'overview')}">${name}</a>` : name;
  if (newest_date === null) return [link, UNKNOWN, UNKNOWN, UNKNOWN, 'none yet'];
  const partial = listing_status === 'partial' ? html`, <b class="bad">partial</b>` : null;
  const newest = html`<span class="date">${newest_date}</span>${partial}`;
  return [link, count(pages), count(indexed), percent(shareOf(indexed, pages)), newest];
}

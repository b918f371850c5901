import { count } from '../../observe/format.js';
import { percent } from '../../report/figures.js';
import { shareOf } from '../../report/headline.js';
import { type Html, html } from '../../report/html.js';
import type { ObservedWebsite } from '../data/websites.js';
import { linkTo, type Website } from '../visit.js';
import { nameOf } from './layout.js';
import { dataTable } from './table.js';

/** The websites that a key may read. */
export function websitesView(
  base: string,
  { observed, waiting }: { observed: readonly ObservedWebsite[]; waiting: readonly Website[] },
): Html {
  return html`<h1>Websites</h1>
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
  rows: observed.map((row) => websiteRow(base, row)),
  empty: 'Nothing was observed yet of a website that your key may read.',
})}
${waiting.length > 0 ? html`<h2>Without a snapshot yet</h2>\n<ul>${waiting.map((one) => html`<li>${nameOf(one)}</li>\n`)}</ul>` : null}`;
}

function websiteRow(base: string, row: ObservedWebsite) {
  const { website_id, website_name, pages, indexed, newest_date, listing_status } = row;
  const website = { id: website_id, name: website_name ?? '' };
  const partial = listing_status === 'partial' ? html`, <b class="bad">partial</b>` : null;
  return [
    html`<a href="${linkTo({ base, website }, 'overview')}">${nameOf(website)}</a>`,
    count(pages),
    count(indexed),
    percent(shareOf(indexed, pages)),
    html`<span class="date">${newest_date}</span>${partial}`,
  ];
}

import { z } from 'zod';
import { askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import type { KeyDetails } from '../../contract/key.js';
import { percent, shareOf } from '../../html/figures.js';
import { type Html, html, type Part } from '../../html/html.js';
import type { Column } from '../../html/table.js';
import { count } from '../../observe/format.js';
import { ServiceError } from '../../service/errors.js';
import type { ServedWebsite } from '../../store/live-reader.js';
import { type DashboardContext, linkTo } from '../context.js';
import { nameOf } from '../layout.js';
import { list } from '../list.js';
import { checkPage, type Paging, pagingQuery, readQuery, skipOf } from '../query.js';
import { UNKNOWN } from '../values.js';

const websiteRow = z.object({
  website_id: z.string(),
  website_name: z.string().nullable(),
  /** Null before the first snapshot. */
  newest_date: z.string().nullable(),
  listing_status: z.string().nullable(),
  /** Whether there was a run. */
  is_known: z.boolean(),
  pages: z.int(),
  indexed: z.int(),
});
/** With the name that it has in its newest snapshot, or else with the key. */
type WebsiteRow = z.infer<typeof websiteRow> & { website: ServedWebsite };

const nameRow = z.object({ website_name: z.string().nullable() });

/** The websites that a key may read, each once. @throws ServiceError 404 behind the last page of the list */
export async function websitesPage({ base, key, query: given, ask }: DashboardContext): Promise<Html> {
  const query = readQuery(z.object(pagingQuery), given);
  const websites = await ask((reader) => readWebsites(reader, key, query));
  return html`<h1>Websites</h1>
${list({
  id: 'websites',
  one: 'website',
  caption: 'Websites that your key may read, as they stand now',
  columns: columnsOf(base),
  empty: 'This key has no access to any website.',
  query,
  ...websites,
  linkOf: (page) => `${base}/?per=${query.per}&page=${page}`,
})}`;
}

async function readWebsites(
  reader: Reader,
  { websites_access }: KeyDetails,
  query: Paging,
): Promise<{ count: number; rows: WebsiteRow[] }> {
  const names = new Map(websites_access.map(({ _id, url }) => [_id, url]));
  checkPage(query, names.size);
  const window = { websites: [...names.keys()], limit: query.per, skip: skipOf(query) };
  const rows = await askRows(reader, 'dashboard/websites', websiteRow, window);
  const named = rows.map((row) => {
    const { website_id: id, website_name: name } = row;
    return { ...row, website: { id, name: name ?? names.get(id) ?? '' } };
  });
  return { count: names.size, rows: named };
}

/**
 * A website by its id, for who may read it. One that is foreign is answered as one that does not exist.
 *
 * @throws ServiceError 404
 */
export async function findWebsite(reader: Reader, { websites_access }: KeyDetails, id: string): Promise<ServedWebsite> {
  const granted = websites_access.find(({ _id }) => _id === id);
  if (!granted) throw new ServiceError(404, 'There is no such website, or your API key was not granted it.');
  const [row] = await askRows(reader, 'dashboard/website_name', nameRow, { website: id });
  if (!row) throw new ServiceError(404, 'There was no run of this website yet.');
  return { id, name: row.website_name ?? granted.url };
}

function columnsOf(base: string): Column<WebsiteRow>[] {
  return [
    { head: 'Website', cell: (row) => nameLink(base, row) },
    { head: 'Pages', isNumber: true, cell: (row) => known(row, count(row.pages)) },
    { head: 'Indexed', isNumber: true, cell: (row) => known(row, count(row.indexed)) },
    { head: 'Share', isNumber: true, cell: (row) => known(row, percent(shareOf(row.indexed, row.pages))) },
    { head: 'Newest snapshot', cell: newest },
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

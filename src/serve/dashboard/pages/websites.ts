import { z } from 'zod';
import { dated, number } from '../../../answers/html/cells.js';
import { type Html, html, type Part } from '../../../answers/html/html.js';
import type { Column } from '../../../answers/html/table.js';
import { askEach, askRows } from '../../../answers/query/ask-rows.js';
import type { Reader } from '../../../answers/query/reader.js';
import type { Status } from '../../../answers/status/status.js';
import { percent, shareOf } from '../../../base/observe/format.js';
import { ServiceError } from '../../api/errors.js';
import type { ServedWebsite } from '../../store/live-reader.js';
import { type DashboardContext, linkTo } from '../context.js';
import { shownName } from '../layout.js';
import { list } from '../list.js';
import { checkPage, pagingQuery, readQuery, skipOf } from '../query.js';

const websiteRow = z.object({
  website_id: z.string(),
  /** Null before the first snapshot, like the next one. */
  website_name: z.string().nullable().default(null),
  listing_status: z.string().nullable().default(null),
  /** The date of the newest complete listing; null without one, like all that follow but one. */
  listed_on: z.string().nullable().default(null),
  /** Whether there was a run. */
  is_known: z.boolean(),
  pages: z.int().nullable().default(null),
  indexed: z.int().nullable().default(null),
  /** Null for a website of the API, too. */
  not_inspected: z.int().nullable().default(null),
});
/** With its name in the newest snapshot, or else the name that the key has for it. */
type WebsiteRow = z.infer<typeof websiteRow> & { website: ServedWebsite };

/** In place of a listing's status: the files of the website cannot be read. */
const DAMAGED = 'damaged';

/** The websites that a key may read, each once. @throws ServiceError 404 after the last page of the list */
export async function websitesPage(
  { base, key, query: given, ask }: DashboardContext,
  _status: Status | null | undefined,
): Promise<Html> {
  const query = readQuery(z.object(pagingQuery), given);
  const names = new Map(key.websites_access.map(({ _id, url }) => [_id, url]));
  checkPage(query, names.size);
  const rows = await ask((opened) => readWebsites(opened, names, { limit: query.per, skip: skipOf(query) }));
  return html`${list({
    id: 'websites',
    one: 'website',
    caption: 'Websites that this key has access to',
    columns: websiteColumns(base, rows),
    empty: 'This key has no access to any website.',
    query,
    rows,
    count: names.size,
    linkOf: (page) => `${base}/?per=${query.per}&page=${page}`,
  })}`;
}

async function readWebsites(
  reader: Reader,
  names: ReadonlyMap<string, string>,
  window: { limit: number; skip: number },
): Promise<WebsiteRow[]> {
  const ids = [...names.keys()];
  const { rows, errors } = await askEach(ids, (website) => {
    const asked = website === null ? { websites: ids, ...window } : { websites: [website], limit: 1, skip: 0 };
    return askRows(reader, 'serve/dashboard/websites', websiteRow, asked, website);
  });
  const damaged = [...errors.keys()].map((id) =>
    websiteRow.parse({ website_id: id, is_known: true, listing_status: DAMAGED }),
  );
  const shown = [...rows, ...damaged].map((row): WebsiteRow => {
    const { website_id: id, website_name: name } = row;
    return { ...row, website: { id, name: name ?? names.get(id) ?? '' } };
  });
  return errors.size === 0 ? shown : shown.slice(window.skip, window.skip + window.limit);
}

/**
 * A website by its id, if the key may read it. Any other gets the same answer as one that does not exist.
 *
 * @throws ServiceError 404
 */
export async function findWebsite({ key, reader, ask }: DashboardContext, id: string): Promise<ServedWebsite> {
  const granted = key.websites_access.find(({ _id }) => _id === id);
  if (!granted) throw new ServiceError(404, 'There is no such website, or this key has no access to it.');
  const served = (await reader.websites()).find((website) => website.id === id);
  if (served) return served;
  // It may have a run but no snapshot.
  const [row] = await ask((opened) => readWebsites(opened, new Map([[id, granted.url]]), { limit: 1, skip: 0 }));
  if (!row?.is_known) throw new ServiceError(404, 'This website has no run yet.');
  return row.website;
}

function websiteColumns(base: string, rows: readonly WebsiteRow[]): Column<WebsiteRow>[] {
  const inspects = rows.some(({ not_inspected: left }) => left !== null);
  return [
    { head: 'Website', cell: (row) => nameLink(base, row) },
    number('Pages', ({ pages }) => pages),
    number('Indexed', ({ indexed }) => indexed),
    ...(inspects ? [number<WebsiteRow>('Not inspected yet', ({ not_inspected: left }) => left)] : []),
    // Of pages of which many were never looked at, a share says nothing.
    number(
      'Of its pages',
      ({ indexed, pages, not_inspected: left }) => (left ? null : shareOf(indexed, pages)),
      percent,
    ),
    { head: 'Newest listing', cell: newest },
  ];
}

function nameLink(base: string, { website, is_known }: WebsiteRow): Part {
  const name = shownName(website);
  return is_known ? html`<a href="${linkTo({ base, website }, 'overview')}">${name}</a>` : name;
}

function newest({ listed_on, listing_status }: WebsiteRow): Part {
  if (listing_status === DAMAGED) return html`<b class="bad">cannot be read</b>`;
  if (listing_status === null) return 'none yet';
  if (listed_on === null) return html`<b class="bad">none complete</b>`;
  const partial = listing_status === 'partial' ? html`, then <b class="bad">partial</b>` : null;
  return html`${dated(listed_on)}${partial}`;
}

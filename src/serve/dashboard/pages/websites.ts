import { z } from 'zod';
import { dated, number } from '../../../answers/html/cells.js';
import { type Column, type Html, html, type Part } from '../../../answers/html/html.js';
import { askEach, askRows } from '../../../answers/query/ask-rows.js';
import type { Reader } from '../../../answers/query/reader.js';
import { FINDINGS } from '../../../answers/status/findings.js';
import type { Status } from '../../../answers/status/status.js';
import { grouped, percent, shareOf, signed } from '../../../base/observe/format.js';
import { ServiceError } from '../../api/errors.js';
import type { ServedWebsite } from '../../store/live-reader.js';
import { type DashboardContext, linkTo, shownName } from '../layout.js';
import { filterForm, list, rowsSelect } from '../list.js';
import { checkPage, pagingQuery, ROWS_A_PAGE, readQuery, skipOf } from '../query.js';

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
  /** Of the indexed pages, since a week before. */
  week_change: z.int().nullable().default(null),
});
/** With its name in the newest snapshot, or else the name that the key has for it. */
type WebsiteRow = z.infer<typeof websiteRow> & {
  website: ServedWebsite;
  /** What needs attention; null if nobody knows. */
  wrong: string[] | null;
};

/** How the list may be sorted. */
const ORDERS = {
  attention: ['What needs attention', (one, other) => isWrong(other) - isWrong(one) || byChange(one, other)],
  change: ['Change in a week', byChange],
  name: ['Name', byName],
  pages: ['Pages', (one, other) => (other.pages ?? 0) - (one.pages ?? 0)],
} as const satisfies Record<string, readonly [label: string, order: (one: WebsiteRow, other: WebsiteRow) => number]>;
const ORDER_NAMES = ['attention', 'change', 'name', 'pages'] as const;

const listQuery = z.object({
  ...pagingQuery,
  per: z.enum(ROWS_A_PAGE).default('200').transform(Number),
  q: z.string().max(500).default(''),
  sort: z.enum(ORDER_NAMES).default('attention'),
});

/** In place of a listing's status: the files of the website cannot be read. */
const DAMAGED = 'damaged';

/** The websites that a key may read, each once. @throws ServiceError 404 after the last page of the list */
export async function websitesPage(
  { base, key, query: given, ask }: DashboardContext,
  status: Status | null | undefined,
): Promise<Html> {
  const query = readQuery(listQuery, given);
  const { q, sort, per } = query;
  const names = new Map(key.websites_access.map(({ _id, url }) => [_id, url]));
  const wanted = q.toLowerCase();
  const all = (await ask((opened) => readWebsites(opened, names, status))).filter(({ website: { id, name } }) =>
    [id, name ?? ''].some((text) => text.toLowerCase().includes(wanted)),
  );
  checkPage(query, all.length);
  const rows = all.toSorted((one, other) => ORDERS[sort][1](one, other) || byName(one, other));
  const choices = ORDER_NAMES.map((name) => [name, ORDERS[name][0]] as const);
  const search = { name: 'q', label: 'Website contains', type: 'search', value: q } as const;
  const selects = [{ name: 'sort', label: 'Sorted by', choices, chosen: sort }, rowsSelect(per)];
  const values = new URLSearchParams({ q, sort, per: String(per) });
  return html`${names.size > 1 ? filterForm(`${base}/`, { fields: [search], selects }) : null}
${list({
  id: 'websites',
  one: 'website',
  caption: 'Websites that this key has access to',
  columns: websiteColumns(base, rows),
  empty: q === '' ? 'This key has no access to any website.' : 'No matching websites.',
  query,
  rows: rows.slice(skipOf(query), skipOf(query) + per),
  count: rows.length,
  linkOf: (page) => `${base}/?${values}&page=${page}`,
})}`;
}

function isWrong({ wrong, listing_status }: WebsiteRow): number {
  return listing_status === DAMAGED || (wrong?.length ?? 0) > 0 ? 1 : 0;
}

/** The largest loss first; then the largest gain. */
function byChange({ week_change: one }: WebsiteRow, { week_change: other }: WebsiteRow): number {
  const [a, b] = [one ?? 0, other ?? 0];
  return Math.min(a, 0) - Math.min(b, 0) || b - a;
}

function byName({ website: one }: WebsiteRow, { website: other }: WebsiteRow): number {
  const [a, b] = [shownName(one), shownName(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

async function readWebsites(
  reader: Reader,
  names: ReadonlyMap<string, string>,
  status: Status | null | undefined = null,
): Promise<WebsiteRow[]> {
  const ids = [...names.keys()];
  const { rows, errors } = await askEach(ids, (website) => {
    const asked = { websites: website === null ? ids : [website] };
    return askRows(reader, 'serve/dashboard/websites', websiteRow, asked, website);
  });
  const damaged = [...errors.keys()].map((id) =>
    websiteRow.parse({ website_id: id, is_known: true, listing_status: DAMAGED }),
  );
  const findings = grouped(status?.findings ?? [], ({ website_id }) => website_id);
  return [...rows, ...damaged].map((row): WebsiteRow => {
    const { website_id: id, website_name: name } = row;
    const wrong = status ? (findings.get(id) ?? []).map(({ kind }) => FINDINGS[kind][0]) : null;
    return { ...row, website: { id, name: name ?? names.get(id) ?? '' }, wrong };
  });
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
  const [row] = await ask((opened) => readWebsites(opened, new Map([[id, granted.url]])));
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
    number('Change in a week', ({ week_change }) => week_change, signed),
    { head: 'Newest listing', cell: newest },
    ...(rows.some(({ wrong }) => wrong !== null) ? [{ head: 'Last run', cell: lastRun }] : []),
  ];
}

function lastRun({ wrong, is_known }: WebsiteRow): Part {
  if (wrong === null || !is_known) return null;
  return wrong.length === 0 ? 'good' : html`<b class="bad">${wrong.join(', ')}</b>`;
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

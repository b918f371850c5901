import { z } from 'zod';
import { askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { text, time } from '../../html/cells.js';
import { html } from '../../html/html.js';
import type { Column } from '../../html/table.js';
import { count } from '../../observe/format.js';
import { type Marker, markersOf } from '../../warehouse/markers.js';
import { type Content, linkTo, type WebsiteContext } from '../context.js';
import { type Choice, filterForm, type Select } from '../filter-form.js';
import { nameOf } from '../layout.js';
import { list, rowsSelect } from '../list.js';
import { checkPage, filterText, type Paging, pagingQuery, readQuery, skipOf } from '../query.js';
import { changeName, pageTimelineLink } from '../values.js';

const NIGHTS = ['1', '7', '30', '90'] as const;
/** Every page is crawled again and again: such a change is shown only when it is chosen. */
const HIDDEN_KIND = 'crawled';
/** The value for changes of every kind. */
const EVERY_KIND = 'all';

const changesQuery = z.object({
  ...pagingQuery,
  nights: z.enum(NIGHTS).default('7').transform(Number),
  kind: filterText,
  q: filterText,
});
type ChangesQuery = z.infer<typeof changesQuery>;

const changeRow = z.object({
  snapshot_date: z.string(),
  observed_at: z.string(),
  url: z.string(),
  change: z.string(),
  from_value: z.string().nullable(),
  to_value: z.string().nullable(),
});
export type ChangeRow = z.infer<typeof changeRow>;

const kindRow = z.object({ change: z.string(), changes: z.int() });
export type KindCount = z.infer<typeof kindRow>;

type Changes = Awaited<ReturnType<typeof readChanges>>;

/** Which changes of a website, as `sql/dashboard` takes it. */
function selectionOf(
  website: string,
  { since, url, contains }: { since?: string | null; url?: string; contains?: string | undefined },
) {
  return { website, since: since ?? null, url: url ?? null, url_contains: contains ?? null };
}

/** What a change is, what it went from and to, and when it was observed. */
export const CHANGE_COLUMNS: readonly Column<ChangeRow>[] = [
  { head: 'Change', cell: ({ change }) => changeName(change) },
  { head: 'From', cell: ({ from_value }) => text(from_value) },
  { head: 'To', cell: ({ to_value }) => text(to_value) },
  { head: 'Observed', cell: ({ observed_at }) => time(observed_at) },
];

/** What changed in the last nights, page by page. */
export async function changesPage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(changesQuery, context.query);
  const changes = await context.ask((reader) => readChanges(reader, context.website.id, query));
  const { q, kind, nights, per } = query;
  const title = `Changes of ${nameOf(context.website)}`;
  const content = html`<h1>${title}</h1>
${filterForm(linkTo(context, 'changes'), { q: q ?? '', selects: selectsOf(query, changes) })}
${list({
  id: 'changes',
  one: 'change',
  caption: `Changes since ${changes.since ?? 'the first snapshot'}, newest first`,
  columns: [{ head: 'Page', cell: ({ url }) => pageTimelineLink(context, url) }, ...CHANGE_COLUMNS],
  empty: 'No change of this kind in these nights.',
  query,
  ...changes,
  linkOf: (page) => linkTo(context, 'changes', { nights, kind, q, per, page }),
})}`;
  return { title, content };
}

/** The changes of the last nights, a window of them. @throws ServiceError 404 for a page behind the last one */
async function readChanges(reader: Reader, website: string, query: ChangesQuery) {
  // The first date that is looked at; null where there is no snapshot.
  const since = newestDates(reader.markers, website, query.nights).at(-1) ?? null;
  const selection = selectionOf(website, { since, contains: query.q });
  const kinds = await askRows(reader, 'dashboard/changes_by_kind', kindRow, selection);
  const chosen = kinds.filter(({ change }) => isChosen(change, query.kind));
  return { since, kinds, ...(await windowOf(reader, { selection, chosen, paging: query })) };
}

/** All changes of one page, a window of them. @throws ServiceError 404 for a page behind the last one */
export async function readChangesOf(reader: Reader, website: string, url: string, paging: Paging) {
  const selection = selectionOf(website, { url });
  const chosen = await askRows(reader, 'dashboard/changes_by_kind', kindRow, selection);
  return windowOf(reader, { selection, chosen, paging });
}

/** How many changes of each kind there are since a date. */
export async function readKinds(reader: Reader, website: string, since: string): Promise<KindCount[]> {
  return askRows(reader, 'dashboard/changes_by_kind', kindRow, selectionOf(website, { since }));
}

async function windowOf(
  reader: Reader,
  { selection, chosen, paging }: { selection: ReturnType<typeof selectionOf>; chosen: KindCount[]; paging: Paging },
): Promise<{ count: number; rows: ChangeRow[] }> {
  const count = chosen.reduce((sum, { changes }) => sum + changes, 0);
  checkPage(paging, count);
  const kinds = chosen.map(({ change }) => change);
  const window = { limit: paging.per, skip: skipOf(paging) };
  return { count, rows: await askRows(reader, 'dashboard/changes', changeRow, { ...selection, kinds, ...window }) };
}

function isChosen(change: string, kind: string | undefined): boolean {
  if (kind === undefined) return change !== HIDDEN_KIND;
  return kind === EVERY_KIND || change === kind;
}

/** The newest dates that a website has snapshots of, the newest first. */
export function newestDates(markers: readonly Marker[], website: string, nights: number): string[] {
  const dates = markersOf(markers, website).flatMap(({ kind, date }) => (kind === 'snapshot' ? [date] : []));
  return [...new Set(dates)].sort().reverse().slice(0, nights);
}

function selectsOf({ nights, kind, per }: ChangesQuery, { kinds }: Changes): Select[] {
  const named = (change: string, changes: number): Choice => [change, `${changeName(change)} (${count(changes)})`];
  const isOffered = kind === undefined || kind === EVERY_KIND || kinds.some(({ change }) => change === kind);
  const offered = [
    ...Object.entries({ '': 'all but crawls', [EVERY_KIND]: 'all' }),
    ...kinds.map(({ change, changes }) => named(change, changes)),
    ...(isOffered ? [] : [named(kind, 0)]),
  ];
  const spans = NIGHTS.map((number): Choice => [number, number === '1' ? 'the newest' : `the last ${number}`]);
  return [
    { name: 'kind', label: 'Kind', chosen: kind ?? '', choices: offered },
    { name: 'nights', label: 'Nights', chosen: String(nights), choices: spans },
    rowsSelect(per),
  ];
}

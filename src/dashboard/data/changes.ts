import { z } from 'zod';
import { askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { checkPage, filterText, type Paging, pagingQuery, skipOf } from '../query.js';
import { newestDates } from './nights.js';

export const NIGHTS = ['1', '7', '30', '90'] as const;
/** Every page is crawled again and again: such a change is told only to who asks for it. */
const UNASKED = 'crawled';
/** Stands for changes of every kind. */
export const EVERY_KIND = 'all';

export const changesQuery = z.object({
  ...pagingQuery,
  nights: z.enum(NIGHTS).default('7').transform(Number),
  kind: filterText,
  q: filterText,
});
export type ChangesQuery = z.infer<typeof changesQuery>;

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

export interface Changes {
  /** The first date that is looked at; null where there is no snapshot. */
  since: string | null;
  /** Of all kinds. */
  kinds: KindCount[];
  /** How many the list has in all, and its window. */
  count: number;
  rows: ChangeRow[];
}

/** Which changes of a website. */
interface Selection {
  since?: string | null;
  url?: string | null;
  contains?: string | null;
}

/** The changes of the last nights, a window of them. @throws ServiceError 404 for a page behind the last one */
export async function readChanges(reader: Reader, website: string, query: ChangesQuery): Promise<Changes> {
  const since = newestDates(reader.markers, website, query.nights).at(-1) ?? null;
  const selection = { since, contains: query.q ?? null };
  const kinds = await readKinds(reader, website, selection);
  const chosen = kinds.filter(({ change }) => isChosen(change, query.kind));
  return { since, kinds, ...(await windowOf(reader, website, { selection, chosen, paging: query })) };
}

/** All changes of one page, a window of them. @throws ServiceError 404 for a page behind the last one */
export async function readChangesOf(reader: Reader, website: string, url: string, paging: Paging) {
  const selection = { url };
  const chosen = await readKinds(reader, website, selection);
  return windowOf(reader, website, { selection, chosen, paging });
}

/** How many changes of each kind there are. */
export async function readKinds(
  reader: Reader,
  website: string,
  { since = null, url = null, contains = null }: Selection,
): Promise<KindCount[]> {
  return askRows(reader, 'dashboard/changes_by_kind', kindRow, { website, since, url, url_contains: contains });
}

async function windowOf(
  reader: Reader,
  website: string,
  { selection, chosen, paging }: { selection: Selection; chosen: KindCount[]; paging: Paging },
): Promise<{ count: number; rows: ChangeRow[] }> {
  const { since = null, url = null, contains = null } = selection;
  const count = chosen.reduce((sum, { changes }) => sum + changes, 0);
  checkPage(paging, count);
  const rows = await askRows(reader, 'dashboard/changes', changeRow, {
    website,
    since,
    url,
    url_contains: contains,
    kinds: chosen.map(({ change }) => change),
    limit: paging.per,
    skip: skipOf(paging),
  });
  return { count, rows };
}

export function isChosen(change: string, kind: string | undefined): boolean {
  if (kind === undefined) return change !== UNASKED;
  return kind === EVERY_KIND || change === kind;
}

import { z } from 'zod';
import { type PageFilters, pageFilters } from '../../base/config/page-filters.js';
import type { Scalar } from '../../base/storage/engine.js';
import { sql } from '../../base/storage/sql.js';
import type { OwnColumns } from './own-pages.js';
import type { Reader } from './reader.js';

/** The statement with all pages of a selection. */
export const SELECTED_PAGES = 'answers/query/selected_pages';
/** Filters that the listing of an earlier date can be asked for, too. */
const OF_ANY_LISTING: ReadonlySet<string> = new Set(['q', 'directory', 'state', 'indexed', 'canonical']);

const FILTERS = pageFilters.omit({ q: true, own: true }).keyof().options;
const countRow = z.object({ pages: z.int() });

/** A statement that reads the pages of a selection as `(selected_pages)`. */
export function ofSelectedPages(text: string): string {
  return text.replace('(selected_pages)', () => `(\n${sql(SELECTED_PAGES)})`);
}

/** Which pages of a website, as `selected_pages.sql` takes it. */
export function selectionOf(website: string, filters: PageFilters & { sort?: string }): Record<string, Scalar> {
  const { q = null, own, sort = 'url' } = filters;
  const narrowed = Object.fromEntries(FILTERS.map((name) => [name, filters[name] ?? null]));
  return { website, url_contains: q, ...narrowed, own: own === undefined ? null : ownValues(own), sort };
}

/** The values of a filter by the user's own columns, `owner=Anna&template=-`, as the JSON that `selected_pages.sql` takes. */
export function ownValues(own: string): string {
  return JSON.stringify(Object.fromEntries(new URLSearchParams(own)));
}

/** Why such a filter can select nothing, without a full stop; null if it can. */
export function wrongOwn({ columns, notes }: OwnColumns, own: string | undefined): string | null {
  if (own === undefined) return null;
  const asked = [...new URLSearchParams(own)];
  const [unknown] = asked.find(([name]) => !columns.includes(name)) ?? [];
  const isWhole = asked.length > 0 && asked.every(([, value]) => value !== '');
  if (unknown === undefined) return isWhole ? null : 'own: write column=value, or column=- for pages without one';
  const there = [...(columns.length > 0 ? [`there are ${columns.join(', ')}.`] : []), ...notes];
  const known = there.map((sentence) => sentence.slice(0, -1)).join('; ');
  return `own: there is no column "${unknown}"; ${known || 'pages_from is not configured, or not used here'}`;
}

/**
 * How many pages of a website match now, and how many did in the complete listing of a date; null without one, or if
 * only the present is known of a filter.
 */
export async function countPages(reader: Reader, website: string, filters: PageFilters, listed: string | null) {
  const selection = selectionOf(website, filters);
  const count = ofSelectedPages('select count(*)::integer as pages from (selected_pages)');
  const [now] = await reader.rows(countRow, count, selection);
  const isKnown = Object.keys(filters).every((name) => OF_ANY_LISTING.has(name));
  if (listed === null || !isKnown) return { now: now?.pages ?? 0, before: null };
  const then = `with page_state as (${sql('answers/query/pages_before')}) ${count}`;
  const [before] = await reader.rows(countRow, then, { ...selection, listed });
  return { now: now?.pages ?? 0, before: before?.pages ?? null };
}

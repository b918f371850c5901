import { z } from 'zod';
import { type PageFilters, pageFilters } from '../../base/config/page-filters.js';
import type { Scalar } from '../../base/storage/engine.js';
import { sql } from '../../base/storage/sql.js';
import type { OwnColumns } from './own-pages.js';
import type { Reader } from './reader.js';

/** The pages of a selection, with the parameters of `selectionOf`. */
export const SELECTED_PAGES = 'selected_pages($filters::json, $sort::varchar)';
/** Filters that the listing of an earlier date can be asked for, too. */
const OF_ANY_LISTING: ReadonlySet<string> = new Set(['q', 'directory', 'state', 'indexed', 'canonical']);

const FILTERS = pageFilters.omit({ q: true, own: true }).keyof().options;
const countRow = z.object({ pages: z.int() });

/** Which pages of a website, as the macro `selected_pages` takes it. */
export function selectionOf(website: string, filters: PageFilters & { sort?: string }): Record<string, Scalar> {
  const { q, own, sort = 'url' } = filters;
  const narrowed = Object.fromEntries(FILTERS.map((name) => [name, filters[name]]));
  const asked = { website, url_contains: q, ...narrowed, own: own === undefined ? own : ownValues(own) };
  return { filters: JSON.stringify(asked), sort };
}

/** The values of a filter by the user's own columns, such as `owner=Anna&template=-`. */
export function ownValues(own: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(own));
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
 * How many pages of a website match in its newest complete listing, and how many did in that of a date; null without one,
 * or if only the present is known of a filter.
 */
export async function countPages(reader: Reader, website: string, filters: PageFilters, listed: string | null) {
  const isKnown = Object.keys(filters).every((name) => OF_ANY_LISTING.has(name));
  const countOf = async (day: string | null) => {
    const { filters: asked } = selectionOf(website, filters);
    const given = { filters: asked ?? null, listed: day };
    const [row] = await reader.rows(countRow, sql('answers/query/count_pages'), given, website);
    return row?.pages ?? 0;
  };
  return { now: await countOf(null), before: listed === null || !isKnown ? null : await countOf(listed) };
}

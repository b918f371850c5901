import type { PageFilters } from '../../base/config/page-filters.js';

/** The statement with all pages of a selection. */
export const SELECTED_PAGES = 'answers/query/selected_pages';

/** Which pages of a website, as `selected_pages.sql` takes it. */
export function selectionOf(website: string, query: PageFilters & { sort?: string }) {
  const {
    q = null,
    state = null,
    directory = null,
    sitemap = null,
    crawl = null,
    indexed = null,
    canonical = null,
  } = query;
  const { from = null, to = null, sort = 'url' } = query;
  const changed = query.changed ?? (from === null && to === null ? null : 'any');
  // Pages that fell out or disappeared may be among those that are gone.
  const monitored = query.monitored ?? (changed === 'disappeared' || changed === 'fell_out' ? 'all' : null);
  const narrowed = { directory, sitemap, crawl, state, indexed, canonical, monitored };
  return { website, url_contains: q, ...narrowed, changed, from, to, sort };
}

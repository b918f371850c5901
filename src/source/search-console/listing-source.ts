import { SITEMAP_FACTS_UNKNOWN, type SubmittedSitemap } from './google-client.js';

/** What can name pages of a property. `search_console`: its list of sitemaps. */
export type SourceKind = 'search_console' | 'search_analytics' | 'robots_txt' | 'sitemap' | 'index';

/** What search analytics is called where places that name pages are listed. */
export const SEARCH_ANALYTICS = 'search analytics';

/** One place that was read for a listing, and how that went: a row of `listing_sources`, but for what SQL counts. */
export interface ListingSource extends Omit<SubmittedSitemap, 'path'> {
  /** The address of a file, or what else it is called. */
  source: string;
  kind: SourceKind;
  /** The places that name it. */
  named_by: string[];
  /** Of the last answer; null if there was none, or it is no file. */
  http_status: number | null;
  /** Whether at least half of its entries are those of Google News. */
  is_news: boolean;
  /** What was read: pages, sitemaps, or rows of search analytics. */
  entries: number;
  /** What pages are missing for; the listing is partial. */
  error: string | null;
  /** What is wrong with it, and harms nothing. */
  remark: string | null;
}

export function newSource(source: string, kind: SourceKind, namedBy: readonly string[]): ListingSource {
  const nothing = {
    http_status: null,
    is_news: false,
    entries: 0,
    error: null,
    remark: null,
    ...SITEMAP_FACTS_UNKNOWN,
  };
  return { source, kind, named_by: [...namedBy], ...nothing };
}

/** Adds what is wrong with a source to what else is. */
export function addFinding(source: ListingSource, what: 'error' | 'remark', text: string): void {
  source[what] = source[what] === null ? text : `${source[what]}; ${text}`;
}

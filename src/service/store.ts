import type { CoverageEntry } from '../contract/coverage.js';
import type { KeyDetails } from '../contract/key.js';
import type { UrlReport } from '../contract/report.js';
import type { ListingWish, Moment } from './wish.js';

/** A window of a listing, and what it is a window of. */
export interface ListingWindow {
  /** The entries, or the JSON text of an array of them, in UTF-8: a store that keeps texts need not parse them. */
  entries: CoverageEntry[] | Buffer;
  /** All entries of the listing that the window is of. */
  count: number;
  /** Names the state that the window shows; asked for again it shows the same, whatever came since. */
  version?: string;
}

/**
 * What the HTTP interface needs to know of the world that it serves. The simulator's world is one, a warehouse
 * another; neither knows of HTTP.
 */
export interface Store {
  /**
   * Whether it knows the past, and can filter and sort: then it is told what a request wishes. Otherwise those
   * parameters are ignored, as a service ignores parameters that it does not know.
   */
  readonly grantsWishes?: boolean;
  /** The key that a bearer token belongs to, or null. `websites_access` says what it may read. */
  findKey(token: string): Promise<KeyDetails | null>;
  hasWebsite(websiteId: string): Promise<boolean>;
  /**
   * A window of the listing in its stable order, and the number of all monitored pages; null for no such website.
   *
   * @throws ServiceError 404 where the wish names a state that the store does not have
   */
  listCoverage(websiteId: string, skip: number, limit: number, wish: ListingWish): Promise<ListingWindow | null>;
  /** The report of a page on the first of these websites that monitors it, or did then; null where none does. */
  findReport(url: string, websiteIds: readonly string[], moment: Moment): Promise<UrlReport | null>;
  /** Whether any website but these monitors the page. */
  isMonitoredBeside(websiteIds: readonly string[], url: string): Promise<boolean>;
}

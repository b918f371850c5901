import type { CoverageEntry } from '../../source/contract/coverage.js';
import type { KeyDetails } from '../../source/contract/key.js';
import type { UrlReport } from '../../source/contract/report.js';
import type { WindowBounds } from './pagination.js';

/** A point in time: the end of a calendar date, or a time; null is now. */
export type Moment = { date: string } | { time: Date } | null;

/** Which state of a website a request for a listing asks for. */
export interface StateQuery {
  moment: Moment;
  /** The state that an earlier window of the same walk showed. */
  version: string | null;
}

/** Whose request it is, and whether the client still waits for the answer. */
export interface RequestContext {
  /** The key's `_id`: a store that is busy lets keys take turns. */
  keyId: string;
  /** Aborted when the client is gone, to stop whatever is still computed for it. */
  signal: AbortSignal;
  /** Of the service, as the client knows it. Left out: nothing links to it. */
  origin?: string;
}

/** Which state of a website an answer shows, if the store keeps history. */
export interface ShownState {
  /** Names the state: a request for it shows the same again, whatever was committed since. */
  version?: string;
  /** When the newest walk that is shown began. */
  observedAt?: Date;
}

/** A window of a listing. */
export interface ListingWindow extends ShownState {
  entries: CoverageEntry[];
  /** All entries that match. */
  count: number;
}

/**
 * What the HTTP API reads from: the simulator's world or a warehouse. Neither knows about HTTP. Every method rejects
 * with the signal's reason once its client is gone, and with a ServiceError 503 if the store is too busy.
 */
export interface Store {
  /**
   * Whether it keeps history and can filter and sort. If so, it gets the query beyond the specification. If not, those
   * parameters are ignored, like any that a service does not know.
   */
  readonly hasHistory?: boolean;
  /** The key that a bearer token belongs to, or null. `websites_access` says what it may read. */
  findKey(token: string): Promise<KeyDetails | null>;
  hasWebsite(websiteId: string): Promise<boolean>;
  /** When the newest snapshot of a website began (of several, the oldest of these), and that it is too old, in words. */
  dataAge?(websiteIds: readonly string[]): Promise<{ asOf: string; stale: string | null } | null>;
  /**
   * A window of a website's listing in its stable order, and the number of all monitored pages.
   *
   * @throws ServiceError 404 if the query names a state that the store does not have
   */
  listCoverage(
    websiteId: string,
    window: WindowBounds,
    query: StateQuery,
    context: RequestContext,
  ): Promise<ListingWindow>;
  /**
   * The report of a page from the first of some websites that monitors it, or did then; `elsewhere` if only others
   * monitor it now, null if none does.
   */
  findReport(
    url: string,
    websiteIds: readonly string[],
    moment: Moment,
    context: RequestContext,
  ): Promise<(ShownState & { report: UrlReport }) | 'elsewhere' | null>;
}

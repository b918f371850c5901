import type { CoverageEntry } from '../contract/coverage.js';
import type { KeyDetails } from '../contract/key.js';
import type { UrlReport } from '../contract/report.js';

/**
 * What the HTTP interface needs to know of the world that it serves. The simulator's world is one, a warehouse can be
 * another; neither knows of HTTP.
 */
export interface Store {
  /** The key that a bearer token belongs to, or null. `websites_access` says what it may read. */
  findKey(token: string): Promise<KeyDetails | null>;
  hasWebsite(websiteId: string): Promise<boolean>;
  /** A window of the listing in its stable order, and the number of all monitored pages; null for no such website. */
  listCoverage(
    websiteId: string,
    skip: number,
    limit: number,
  ): Promise<{ entries: CoverageEntry[]; count: number } | null>;
  /** Every website that monitors this page with its report there. Empty: nobody monitors it. */
  findReports(url: string): Promise<{ websiteId: string; report: UrlReport }[]>;
}

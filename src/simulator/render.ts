import type { CoverageEntry } from '../contract/coverage.js';
import { COVERAGE_STATES } from '../contract/known-values.js';
import type { UrlReport } from '../contract/report.js';
import { DAY_MS, HOUR_MS } from '../time.js';
import {
  BLOCKED,
  type Canonical,
  canonicalsOf,
  isIndexed,
  NO_DATA,
  NOINDEX,
  traitsOf,
  unpackCanonicals,
} from './lifecycle.js';
import { DECLARES_CANONICAL, IN_SITEMAP, NEVER } from './page-table.js';
import { hash } from './random.js';
import type { SimulatedWebsite } from './website.js';

type Moment = Readonly<{ from: number; span: number; salt: number }>;

/** How long before a night's 'now' things happen: a page is detected, then visited, then inspected. */
const DETECTION_MS: Moment = { from: 23 * HOUR_MS, span: HOUR_MS, salt: 1 };
const CRAWL_MS: Moment = { from: 2 * HOUR_MS, span: 21 * HOUR_MS, salt: 2 };
const INSPECTION_MS: Moment = { from: 0, span: 2 * HOUR_MS, salt: 3 };
const DESKTOP_ONE_IN = 12;

/** Renders the pages of one website as the interface shows them on one night of its world. */
export class Renderer {
  constructor(
    private readonly website: SimulatedWebsite,
    private readonly startMs: number,
    private readonly night: number,
  ) {}

  /** The coverage entry of a page (specification, 2.1). */
  entry(page: number): CoverageEntry {
    const code = this.#code(page);
    const url = this.website.urls.url(page);
    const hasData = code !== NO_DATA;
    const canonicals = this.#canonicals(page);
    return {
      url,
      index_summary: this.#summary(code),
      index_coverage_state: COVERAGE_STATES[code] ?? null,
      // Omitted, not null, for a page without inspection data.
      ...(hasData
        ? { canonicals_match: canonicals.engine === null ? null : canonicals.engine === canonicals.user }
        : {}),
      searchengine_selected_canonical: canonicals.engine,
      user_selected_canonical: canonicals.user,
      ...this.#lastCrawl(page, hasData),
      inspection_link: hasData ? this.#inspectionLink(page, 'latest') : null,
      service_link: this.#serviceLink(page),
    };
  }

  /** The URL report of a page (2.3): every field, all but `url` null for a page without inspection data. */
  report(page: number): UrlReport {
    const code = this.#code(page);
    const { table, urls } = this.website;
    const traits = traitsOf(code);
    const fetched = traits && traits.fetchStatus !== null;
    const canonicals = this.#canonicals(page);
    const hasData = code !== NO_DATA;
    const yesNo = (is: boolean): string | null => (fetched ? (is ? 'Yes' : 'No') : null);
    return {
      url: urls.url(page),
      index_summary: this.#summary(code),
      index_coverage_state: COVERAGE_STATES[code] ?? null,
      indexing_allowed: yesNo(code !== NOINDEX),
      searchengine_selected_canonical: canonicals.engine,
      user_selected_canonical: canonicals.user,
      searchenginebot_primary_crawler: fetched ? this.#crawler(page) : null,
      ...this.#lastCrawl(page, hasData),
      page_fetch_status: traits?.fetchStatus ?? null,
      blocked_by_robots_txt: yesNo(code === BLOCKED),
      sitemaps: hasData ? this.#sitemaps(page) : null,
      inspection_date: hasData ? this.#time(page, table.inspected[page], INSPECTION_MS) : null,
      page_detection: hasData ? this.#time(page, table.detected[page], DETECTION_MS) : null,
      inspection_link: hasData ? this.#inspectionLink(page, 'latest') : null,
      service_link: hasData ? this.#serviceLink(page) : null,
      ...this.#history(page, hasData),
    };
  }

  #history(page: number, hasData: boolean): Omit<UrlReport, 'url'> {
    const { table } = this.website;
    const event = (nights: Int32Array): { is: string | null; at: string | null; link: string | null } => {
      const night = nights[page] ?? NEVER;
      if (!hasData || night === NEVER) return { is: hasData ? 'No' : null, at: null, link: null };
      return { is: 'Yes', at: this.#time(page, night, INSPECTION_MS), link: this.#inspectionLink(page, String(night)) };
    };
    const indexed = event(table.lastIndexed);
    const canonical = event(table.canonicalChanged);
    const blocked = event(table.blocked);
    const changed = unpackCanonicals(table.canonicalsAtChange[page] ?? 0);
    return {
      previously_indexed: indexed.is,
      previously_indexed_timestamp: indexed.at,
      previously_indexed_link: indexed.link,
      canonical_changed: canonical.is,
      canonical_changed_searchengine_canonical: canonical.at && this.#canonicalUrl(page, changed.engine),
      canonical_changed_user_canonical: canonical.at && this.#canonicalUrl(page, changed.user),
      canonical_changed_timestamp: canonical.at,
      canonical_changed_link: canonical.link,
      ever_blocked_by_robots_txt: blocked.is,
      ever_blocked_by_robots_txt_timestamp: blocked.at,
      ever_blocked_by_robots_txt_link: blocked.link,
    };
  }

  #code(page: number): number {
    return this.website.table.state[page] ?? NO_DATA;
  }

  #flag(page: number, flag: number): boolean {
    return ((this.website.table.flags[page] ?? 0) & flag) !== 0;
  }

  #summary(code: number): string | null {
    return code === NO_DATA ? null : isIndexed(code) ? 'Indexed' : 'Not Indexed';
  }

  #canonicals(page: number): { engine: string | null; user: string | null } {
    const { engine, user } = canonicalsOf(this.#code(page), this.#flag(page, DECLARES_CANONICAL));
    return { engine: this.#canonicalUrl(page, engine), user: this.#canonicalUrl(page, user) };
  }

  /** The page that another one duplicates never changes. */
  #canonicalUrl(page: number, canonical: Canonical): string | null {
    if (canonical === 'none') return null;
    if (canonical === 'self') return this.website.urls.url(page);
    return this.website.urls.url(page === 0 ? 1 : hash(page, 1) % page);
  }

  #lastCrawl(page: number, hasData: boolean): { last_crawl_time: string | null; days_since_last_crawl: number | null } {
    const crawled = this.website.table.crawled[page] ?? NEVER;
    if (!hasData || crawled === NEVER) return { last_crawl_time: null, days_since_last_crawl: null };
    const crawledMs = this.#timeMs(page, crawled, CRAWL_MS);
    const nowMs = this.startMs + this.night * DAY_MS;
    return {
      last_crawl_time: new Date(crawledMs).toISOString(),
      days_since_last_crawl: Math.floor((nowMs - crawledMs) / DAY_MS),
    };
  }

  #crawler(page: number): string {
    return hash(page, 2) % DESKTOP_ONE_IN === 0 ? 'DESKTOP' : 'MOBILE';
  }

  #sitemaps(page: number): string[] {
    return this.#flag(page, IN_SITEMAP) ? this.website.urls.sitemaps(page) : [];
  }

  #time(page: number, night: number | undefined, when: Moment): string {
    return new Date(this.#timeMs(page, night ?? 0, when)).toISOString();
  }

  #timeMs(page: number, night: number, { from, span, salt }: Moment): number {
    return this.startMs + night * DAY_MS - from - (hash(page, night, salt) % span);
  }

  #inspectionLink(page: number, event: string): string {
    const resource = encodeURIComponent(`sc-domain:${this.website.settings.domain}`);
    return `https://search.example/inspect?resource_id=${resource}&page=${page}&event=${event}`;
  }

  #serviceLink(page: number): string {
    return `https://app.example/websites/${encodeURIComponent(this.website.settings.id)}/pages/${page}`;
  }
}

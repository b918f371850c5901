import { DAY_MS, HOUR_MS } from '../../../base/time.js';
import type { CoverageEntry } from '../../../source/contract/coverage.js';
import type { UrlReport } from '../../../source/contract/report.js';
import { BLOCKED, type Canonical, canonicalsOf, isIndexed, NO_DATA, NOINDEX, REMOVED, traitsOf } from './lifecycle.js';
import type { Page } from './page-life.js';
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
  entry(page: Page): CoverageEntry {
    const { url, index_summary, index_coverage_state, ...rest } = this.#shared(page);
    const { searchengine_selected_canonical: engine, user_selected_canonical: user } = rest;
    return {
      url,
      index_summary,
      index_coverage_state,
      // Omitted, not null, for a page without inspection data.
      ...(page.state === NO_DATA ? {} : { canonicals_match: engine === null ? null : engine === user }),
      ...rest,
      service_link: this.#serviceLink(page),
    };
  }

  /** The URL report of a page (2.3): every field, all but `url` null for a page without inspection data. */
  report(page: Page): UrlReport {
    const { state } = page;
    const traits = traitsOf(state);
    const fetched = traits && traits.fetchStatus !== null;
    const crawler = hash(page.number, 2) % DESKTOP_ONE_IN === 0 ? 'DESKTOP' : 'MOBILE';
    const hasData = state !== NO_DATA;
    const yesNo = (is: boolean): string | null => (fetched ? (is ? 'Yes' : 'No') : null);
    const { url, index_summary, index_coverage_state, inspection_link, ...rest } = this.#shared(page);
    const { searchengine_selected_canonical, user_selected_canonical, ...lastCrawl } = rest;
    // In the order of the contract, as the service sends them.
    return {
      url,
      index_summary,
      index_coverage_state,
      indexing_allowed: yesNo(state !== NOINDEX),
      searchengine_selected_canonical,
      user_selected_canonical,
      searchenginebot_primary_crawler: fetched ? crawler : null,
      ...lastCrawl,
      page_fetch_status: traits?.fetchStatus ?? null,
      blocked_by_robots_txt: yesNo(state === BLOCKED),
      sitemaps: hasData ? (page.inSitemap ? this.website.urls.sitemaps(page.number) : []) : null,
      inspection_date: hasData ? this.#time(page, page.inspected ?? 0, INSPECTION_MS) : null,
      page_detection: hasData ? this.#time(page, page.detected, DETECTION_MS) : null,
      inspection_link,
      service_link: hasData ? this.#serviceLink(page) : null,
      ...this.#history(page, hasData),
    };
  }

  /** What listing and report say alike. */
  #shared(page: Page) {
    const { state, number } = page;
    const hasData = state !== NO_DATA;
    const { engine, user } = canonicalsOf(state, page.declaresCanonical);
    return {
      url: this.website.urls.url(number),
      index_summary: hasData ? (isIndexed(state) ? 'Indexed' : 'Not Indexed') : null,
      index_coverage_state: state === NO_DATA || state === REMOVED ? null : state,
      searchengine_selected_canonical: this.#canonicalUrl(page, engine),
      user_selected_canonical: this.#canonicalUrl(page, user),
      ...this.#lastCrawl(page, hasData),
      inspection_link: hasData ? this.#inspectionLink(page, 'latest') : null,
    };
  }

  #history(page: Page, hasData: boolean): Omit<UrlReport, 'url'> {
    const event = (night: number | null): { is: string | null; at: string | null; link: string | null } => {
      if (!hasData || night === null) return { is: hasData ? 'No' : null, at: null, link: null };
      return { is: 'Yes', at: this.#time(page, night, INSPECTION_MS), link: this.#inspectionLink(page, String(night)) };
    };
    const changed = page.canonicalChanged;
    const indexed = event(page.lastIndexed);
    const canonical = event(changed?.night ?? null);
    const blocked = event(page.blocked);
    return {
      previously_indexed: indexed.is,
      previously_indexed_timestamp: indexed.at,
      previously_indexed_link: indexed.link,
      canonical_changed: canonical.is,
      canonical_changed_searchengine_canonical: canonical.at && this.#canonicalUrl(page, changed?.engine),
      canonical_changed_user_canonical: canonical.at && this.#canonicalUrl(page, changed?.user),
      canonical_changed_timestamp: canonical.at,
      canonical_changed_link: canonical.link,
      ever_blocked_by_robots_txt: blocked.is,
      ever_blocked_by_robots_txt_timestamp: blocked.at,
      ever_blocked_by_robots_txt_link: blocked.link,
    };
  }

  /** The page that another one duplicates never changes. */
  #canonicalUrl({ number }: Page, canonical: Canonical = 'none'): string | null {
    if (canonical === 'none') return null;
    if (canonical === 'self') return this.website.urls.url(number);
    return this.website.urls.url(number === 0 ? 1 : hash(number, 1) % number);
  }

  #lastCrawl(page: Page, hasData: boolean): { last_crawl_time: string | null; days_since_last_crawl: number | null } {
    if (!hasData || page.crawled === null) return { last_crawl_time: null, days_since_last_crawl: null };
    const crawledMs = this.#timeMs(page, page.crawled, CRAWL_MS);
    const nowMs = this.startMs + this.night * DAY_MS;
    return {
      last_crawl_time: new Date(crawledMs).toISOString(),
      days_since_last_crawl: Math.floor((nowMs - crawledMs) / DAY_MS),
    };
  }

  #time(page: Page, night: number, when: Moment): string {
    return new Date(this.#timeMs(page, night, when)).toISOString();
  }

  #timeMs({ number }: Page, night: number, { from, span, salt }: Moment): number {
    return this.startMs + night * DAY_MS - from - (hash(number, night, salt) % span);
  }

  #inspectionLink({ number }: Page, event: string): string {
    const resource = encodeURIComponent(`sc-domain:${this.website.settings.domain}`);
    return `https://search.example/inspect?resource_id=${resource}&page=${number}&event=${event}`;
  }

  #serviceLink({ number }: Page): string {
    return `https://app.example/websites/${encodeURIComponent(this.website.settings.id)}/pages/${number}`;
  }
}

import type { Row } from '../given/parquet.js';

/** What one night of a website is known to have answered. Nights count from 1. */
export interface ObservedNight {
  night: number;
  complete: boolean;
  /** Listed entries by URL, one for each page. */
  listed: Map<string, Row>;
  /** URLs of refused entries of pages that are listed nowhere else. */
  refused: Set<string>;
  /** How the report of each page that was asked for ended, and the report where it was accepted. */
  reports: Map<string, { outcome: 'fetched' | 'missing' | 'failed' | 'rejected'; report: Row | null }>;
}

/** A row of `page_changes`; `since` is the night of the snapshot that it is compared with. */
export interface Change {
  url: string;
  change: string;
  from: unknown;
  to: unknown;
  since: number | null;
}

/** What is known of a page after a night; times are nights. */
export interface PageKnown {
  first: number;
  last: number;
  listedIn: number | null;
  listed: Row;
  reportIn: number | null;
  report: Row;
  wanted: string | null;
  absences: number;
  failures: number;
  failedLast: number | null;
  gone: number | null;
  unlistedSince: number | null;
}

const COMPARED = [
  ['coverage_state', 'index_coverage_state'],
  ['searchengine_canonical', 'searchengine_selected_canonical'],
  ['user_canonical', 'user_selected_canonical'],
  ['canonicals_match', 'canonicals_match'],
] as const;
const REPORTED = [
  ['fetch_status', 'page_fetch_status'],
  ['indexing_allowed', 'indexing_allowed'],
  ['crawler', 'searchenginebot_primary_crawler'],
] as const;

/**
 * The state and the changes of a website's pages, worked out from the contract alone: no SQL, no file, nothing of the
 * code under test.
 */
export class Recomputed {
  pages = new Map<string, PageKnown>();
  #hadComplete = false;

  /** Lives through a night and returns what changed. */
  live(night: ObservedNight): Change[] {
    const urls = new Set([...this.pages.keys(), ...night.listed.keys(), ...night.refused]);
    const changes: Change[] = [];
    const after = new Map<string, PageKnown>();
    for (const url of urls) {
      const page = this.#page(url, night);
      after.set(url, page.known);
      changes.push(...page.changes.map((change) => ({ url, ...change })));
    }
    this.pages = after;
    this.#hadComplete ||= night.complete;
    return changes;
  }

  #page(url: string, night: ObservedNight): { known: PageKnown; changes: Omit<Change, 'url'>[] } {
    const was = this.pages.get(url);
    const now = night.listed.get(url);
    const asked = night.reports.get(url);
    const present = now !== undefined || night.refused.has(url);
    const answered = asked?.outcome === 'fetched';
    const here = present || answered;
    const isNew = !was && this.#hadComplete;
    const appeared = now !== undefined && (isNew || (was?.unlistedSince ?? null) !== null);
    const isAbsent = !present && was !== undefined && night.complete;
    const disappears = isAbsent && was.listedIn !== null && was.unlistedSince === null;
    const absences = here ? 0 : (was?.absences ?? 0) + (night.complete ? 1 : 0);
    const isGone = absences >= 2 || (absences === 1 && asked?.outcome === 'missing');
    const gone = here ? null : (was?.gone ?? (isGone ? night.night : null));
    const before = now && was && was.listedIn !== null ? was.listed : null;
    const changed = now && before ? stateChanged(before, now) : false;
    const recrawled = now && before ? isRecrawled(before, now) : false;
    const known: PageKnown = {
      first: was?.first ?? night.night,
      last: present ? night.night : (was?.last ?? night.night),
      listedIn: now ? night.night : (was?.listedIn ?? null),
      listed: now ?? was?.listed ?? {},
      reportIn: answered ? night.night : (was?.reportIn ?? null),
      report: asked?.report ?? was?.report ?? {},
      wanted: answered ? null : changed ? 'changed' : wantedAfter(was?.wanted ?? null, recrawled),
      absences,
      failures: answered ? 0 : (was?.failures ?? 0) + (asked ? 1 : 0),
      failedLast: answered ? null : asked ? night.night : (was?.failedLast ?? null),
      gone,
      unlistedSince: unlistedSince(was, now !== undefined, (present && isNew) || isAbsent ? night.night : null),
    };
    const changes = [
      ...(appeared
        ? [{ change: 'appeared', from: null, to: now['index_summary'] ?? null, since: was?.listedIn ?? null }]
        : []),
      ...(disappears
        ? [
            {
              change: 'disappeared',
              from: was.listed['index_summary'] ?? null,
              to: null,
              since: was.listedIn,
            },
          ]
        : []),
      ...(now && before && !appeared ? listingChanges(before, now, was?.listedIn ?? null) : []),
      ...(asked?.report && was && was.reportIn !== null ? reportChanges(was.report, asked.report, was.reportIn) : []),
    ];
    return { known, changes };
  }
}

function wantedAfter(was: string | null, recrawled: boolean): string | null {
  return was === 'changed' || !recrawled ? was : 'recrawled';
}

function unlistedSince(was: PageKnown | undefined, isListed: boolean, since: number | null): number | null {
  if (isListed) return null;
  // An absence after the page was there is a new one.
  return was?.absences === 0 ? (since ?? was.unlistedSince) : (was?.unlistedSince ?? since);
}

function stateChanged(was: Row, now: Row): boolean {
  return ['index_summary', ...COMPARED.map(([, field]) => field)].some((field) => was[field] !== now[field]);
}

function isRecrawled(was: Row, now: Row): boolean {
  return now['last_crawl_time'] !== null && now['last_crawl_time'] !== was['last_crawl_time'];
}

function listingChanges(was: Row, now: Row, since: number | null): Omit<Change, 'url'>[] {
  const [from, to] = [was['index_summary'], now['index_summary']];
  const summary = (change: string) => ({ change, from, to, since });
  return [
    ...(to === 'Indexed' && from !== 'Indexed' ? [summary('indexed')] : []),
    ...(from === 'Indexed' && to !== 'Indexed' && to !== null ? [summary('deindexed')] : []),
    ...(from !== null && to === null ? [summary('data_lost')] : []),
    ...different(COMPARED, was, now, since),
    ...(isRecrawled(was, now)
      ? [{ change: 'crawled', from: was['last_crawl_time'], to: now['last_crawl_time'], since }]
      : []),
  ];
}

function reportChanges(was: Row, now: Row, since: number): Omit<Change, 'url'>[] {
  const [from, to] = [was['blocked_by_robots_txt'], now['blocked_by_robots_txt']];
  const [sitemapsBefore, sitemaps] = [asSet(was['sitemaps']), asSet(now['sitemaps'])];
  return [
    ...(from === 'No' && to === 'Yes' ? [{ change: 'robots_blocked', from, to, since }] : []),
    ...(from === 'Yes' && to === 'No' ? [{ change: 'robots_unblocked', from, to, since }] : []),
    ...different(REPORTED, was, now, since),
    ...(sitemapsBefore === sitemaps ? [] : [{ change: 'sitemaps', from: sitemapsBefore, to: sitemaps, since }]),
  ];
}

function different(fields: typeof COMPARED | typeof REPORTED, was: Row, now: Row, since: number | null) {
  const text = (value: unknown) => (typeof value === 'boolean' ? String(value) : value);
  return fields.flatMap(([change, field]) =>
    was[field] === now[field] ? [] : [{ change, from: text(was[field]), to: text(now[field]), since }],
  );
}

function asSet(value: unknown): string | null {
  return Array.isArray(value) ? JSON.stringify([...new Set(value.map(String))].sort()) : null;
}

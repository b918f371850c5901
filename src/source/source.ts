import type { Config } from '../base/config/schema.js';
import { keyOf } from '../base/url.js';
import { type Issue, validate } from '../base/validate.js';
import type { Client, Purpose } from './client.js';
import { urlReportSchema } from './contract/report.js';
import { SourceError } from './errors.js';
import { type JudgedEntry, looksLikeHtml, whyNotJson } from './walk/coverage-window.js';
import type { WalkJournal, WalkResult } from './walk/walk.js';
import type { Interrupted } from './walk/walk-state.js';

/** The outcome of requesting one page's report. Every planned report has exactly one. */
export type ReportOutcome =
  | {
      outcome: 'fetched';
      /** The body as it arrived. */
      text: string;
      /** The parsed body. */
      record: object;
      absent: string[];
      extra: Record<string, unknown> | null;
    }
  | { outcome: 'missing' | 'failed'; status: number | null; message: string }
  /** A fall, which is believed only if `again` more answers, each for itself and later, say the same. */
  | { outcome: 'unconfirmed'; message: string; again: number; extra: Record<string, unknown> | null }
  | { outcome: 'rejected'; issues: Issue[]; payload: string };

/**
 * What an error says about one page's report.
 *
 * @throws the error if no other page can be fetched either: `unauthorized`, `paused`, `Stopped`
 */
export function outcomeOf(error: unknown): ReportOutcome {
  if (!(error instanceof SourceError) || error.kind === 'unauthorized' || error.kind === 'paused') throw error;
  if (error.kind === 'bad_body') return rejected('invalid_utf8', error.message, '');
  return { outcome: error.kind === 'not_found' ? 'missing' : 'failed', status: error.status, message: error.message };
}

/** Checks the body of a 200 answer against the contract and against the requested page. */
export function judgeReport(text: string, url: string): ReportOutcome {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const what = looksLikeHtml(text) ? 'an HTML page, not JSON' : `not JSON: ${whyNotJson(error)}`;
    return rejected('invalid_json', `the body is ${what}`, text);
  }
  const verdict = validate(urlReportSchema, value);
  if (!verdict.accepted) return { outcome: 'rejected', issues: verdict.issues, payload: text };
  const { record, absent, extra } = verdict;
  if (record.url === url) return { outcome: 'fetched', text, record, absent, extra };
  const key = keyOf(url);
  if (key === null || keyOf(record.url) !== key)
    return rejected('url_mismatch', 'the report is for another URL', text, 'url');
  // The service spells this address in two ways; everything else uses the spelling of the listing.
  return { outcome: 'fetched', text, record: { ...record, url }, absent, extra };
}

function rejected(code: string, message: string, payload: string, path = ''): ReportOutcome {
  return { outcome: 'rejected', issues: [{ path, code, message }], payload };
}

/** Requests to Search Console that are under way: with more, Google answers each later, and refuses some. */
export const GOOGLE_AT_ONCE = 8;

/** The types of search whose days are fetched. */
export const SEARCH_TYPES = ['web', 'image', 'video', 'news', 'discover', 'googleNews'] as const;
export type SearchType = (typeof SEARCH_TYPES)[number];

/** How often something was shown and clicked, and its average position. */
interface SearchFigures {
  clicks: number;
  impressions: number;
  /** Null where the type of search knows none. */
  position: number | null;
}

/** A day of one type of search. */
export interface SearchDate {
  /** `YYYY-MM-DD` in California. */
  date: string;
  type: SearchType;
  /** Whether its figures no longer change. */
  isFinal: boolean;
}

/** The dates of a type of search that have data, with the sums of all pages. */
export interface SearchTotals {
  dates: ReadonlyMap<string, SearchFigures>;
  /** The first date whose figures may still change. */
  firstPreliminary: string;
}

/** What search showed of a page on one day. */
export interface SearchRow extends SearchFigures {
  /** The page's identity; null for what is no page of the property. */
  url: string | null;
  /** As search analytics names it, if that is not `url`: with its fragment, each is a row of its own. */
  page?: string;
  /** The spelling of its address, if it is not `url`. */
  spelling?: string;
}

/** What search shows of a website's pages, day by day. */
export interface SearchDays {
  /** The date of now, `YYYY-MM-DD`. */
  readonly today: string;
  /** The dates that have data, from `since` on. @throws SourceError; `TooLate`, `Stopped` */
  totals(type: SearchType, since: string, purpose: Purpose): Promise<SearchTotals>;
  /** The pages of a day, as they arrive. @throws SourceError; `TooLate`, `Stopped` */
  rows(date: SearchDate, purpose: Purpose): AsyncIterable<SearchRow[]>;
  /** Whether a day with so many rows lacks others. */
  isCut(rows: number): boolean;
}

/** What became of the days of search analytics tonight, before a listing. */
export interface Searched {
  /** How many rows were read. */
  entries: number;
  /** What pages of the listing are missing for. */
  error: string | null;
  /** What harms no listing. */
  remark: string | null;
  /** Days of the history that are left for later nights, and days that are unknown until they are read again. */
  left: number;
  doubtful: number;
  /** An address on each host with pages, of 50 hosts at most. */
  hosts: readonly string[];
}

/** Where a listing goes. */
export interface ListingSink extends WalkJournal {
  purpose: Purpose;
  /** What search analytics named tonight and in the nights before; null without any. */
  searched: Searched | null;
  /** When the reading of many places ends with what was read by then, in milliseconds since 1970. */
  notAfter: number;
  /** Called after each answer, whatever it is. @throws ClockError */
  answered(): void;
  /** Logs what the user should know about a place that was read: at `warn` if pages are missing for it. */
  note(text: string, level: 'info' | 'warn'): void;
  /** Merges what many places name, which is read while this works. */
  merged(found: Sightings): Promise<Merged>;
}

/** What the places that name pages say: each page once for each of them, in batches. */
export interface Sightings {
  sightings(): AsyncIterable<readonly object[]>;
  /** What became of each place. Whole after `sightings`. */
  sources: readonly { error: string | null }[];
}

/** What places name, merged. */
export interface Merged {
  /** Each page once, with all that was said about it; and those that were named until lately. Read once. */
  pages: AsyncIterable<JudgedEntry>;
  /** The places, with what they named. */
  sources: readonly MergedSource[];
  /** What was left out for want of memory; null if nothing was. */
  lacks: string | null;
}

/** A row of `listing_sources`. */
interface MergedSource {
  /** How many pages it names. */
  pages: number;
}

/** A page whose report is requested. */
export interface Page {
  url: string;
  /** The spelling of its address to ask with, if it is not `url`. */
  spelling?: string | null | undefined;
  /** What was known until now: that it is in the index, or that Google knows it. */
  history?: 'indexed' | 'known' | null | undefined;
  /** How many answers contradicted that tonight. */
  looks?: number | undefined;
  /** How many more of them are held back of the day's quota. */
  again?: number | undefined;
}

/** How many inspections a property allows: to pages of what it covers. */
export interface Quota {
  /** As Google spells it. */
  property: string;
  /** As `scopeOf` has it. */
  scope: string;
  perDay: number;
}

/**
 * Where the pages of a website and their reports come from. A night knows only this: the service's API implements it
 * (`ApiSource`), and Search Console (`SearchConsoleSource`).
 */
export interface Source {
  /** Whether it lists only which pages there are: their states come from inspections, which have a quota a day. */
  readonly byInspection: boolean;
  /** How many requests may be under way, and be sent in a minute. */
  readonly limits: Pick<Config['api'], 'concurrency' | 'requests_per_minute'>;
  /** Who sends them. */
  readonly client: Pick<Client, 'utilisation' | 'clockAhead' | 'redact'>;
  /** Lists the website's pages, or resumes an interrupted listing. @throws SourceError if there is no listing; `Stopped` */
  list(sink: ListingSink, from: Interrupted | undefined): Promise<WalkResult>;
  /**
   * Requests the report of a page.
   *
   * @returns null if the day's quota is spent, or every property refuses, so that the page is left for another day
   * @throws SourceError if no other page can be fetched either; `TooLate`, `Stopped`
   */
  report(page: Page, purpose: Purpose): Promise<ReportOutcome | null>;
  /** Asks for the least of what is no report. @throws SourceError */
  probe(purpose: Purpose): Promise<unknown>;
  /** The quotas of a day, the widest property first, and what is left of each; null without any. @throws SourceError */
  quotas(purpose: Purpose): Promise<(Quota & { left: number })[] | null>;
  /** What search shows of the pages; without it the service has no such data. @throws SourceError */
  searchDays?(purpose: Purpose): Promise<SearchDays>;
  /** The properties that refuse every inspection, and why pages are left for that; null if none is. */
  readonly refusal?: { properties: readonly string[]; message: string | null };
}

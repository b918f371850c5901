import type { Config } from '../base/config/schema.js';
import type { Client, Purpose } from './client.js';
import type { ReportOutcome } from './report.js';
import type { JudgedEntry } from './walk/coverage-window.js';
import type { WalkJournal, WalkResult } from './walk/walk.js';
import type { Interrupted } from './walk/walk-state.js';

/** Where a listing goes. */
export interface ListingSink extends WalkJournal {
  purpose: Purpose;
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
}

/** A row of `listing_sources`. */
export interface MergedSource {
  /** How many pages it names. */
  pages: number;
}

/** A page whose report is requested. */
export interface Page {
  url: string;
  /** The spelling of its address to ask with, if it is not `url`. */
  spelling?: string | null | undefined;
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
  /** The properties that refuse every inspection, and why pages are left for that; null if none is. */
  readonly refusal?: { properties: readonly string[]; message: string | null };
}

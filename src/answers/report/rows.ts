import { z } from 'zod';
import { driftRow as newDriftRow } from '../status/website-status.js';
import { estimateRow } from './estimate.js';

const whole = z.int();
const text = z.string();
const maybeText = z.string().nullable();
const maybeWhole = whole.nullable();

/** One website up to the end of the period, and the complete listings that are compared. */
export const websiteRow = z.object({
  website_id: text,
  website_name: maybeText,
  first_date: text,
  now_date: maybeText,
  before_date: maybeText,
  /** Whether pages are inspected by and by, with Search Console. */
  by_inspection: z.boolean(),
  /** Pages that look as if they fell, at the end of a period that ends with the newest snapshot. */
  unconfirmed: z.int(),
  /** Pages whose rich results have errors, likewise. */
  rich_results_failed: z.int(),
});
export type WebsiteRow = z.infer<typeof websiteRow>;

/** One date of one website, of the analysis `indexing_trend`. */
export const trendRow = z.object({
  website_id: text,
  snapshot_date: text,
  pages: whole,
  indexed: whole,
  not_indexed: whole,
  without_data: whole,
  not_inspected: whole,
  ...estimateRow.shape,
});
export type TrendRow = z.infer<typeof trendRow>;

/** What a run fetched and what it cost; null if it has no snapshot. */
const outcome = z.object({
  took_seconds: z.number(),
  listing_status: maybeText,
  pages_expected: maybeWhole,
  pages_listed: maybeWhole,
  pages_rejected: maybeWhole,
  reports_status: maybeText,
  reports_wanted: maybeWhole,
  reports_planned: maybeWhole,
  reports_fetched: maybeWhole,
  reports_missing: maybeWhole,
  reports_failed: maybeWhole,
  reports_rejected: maybeWhole,
  requests_sent: maybeWhole,
  requests_throttled: maybeWhole,
});
export type RunOutcome = z.infer<typeof outcome>;

export const snapshotRow = outcome.extend({
  website_id: text,
  snapshot_date: text,
  utilisation: z.number().nullable(),
});
export type SnapshotRow = z.infer<typeof snapshotRow>;

/** A run of one website, with what its snapshot says. */
export const runRow = outcome.extend({ started_at: text, outcome: text, error: maybeText, runs: whole });
export type RunRow = z.infer<typeof runRow>;

/** Pages of one website with some kind of change, each counted once. */
export const changesRow = z.object({
  website_id: text,
  clicks_lost: whole,
  /** A clause, if hardly any page that fell out was crawled since the night before. */
  crawls: maybeText,
  appeared: whole,
  disappeared: whole,
  canonical_flips: whole,
  canonical_flip_times: whole,
  robots_blocked: whole,
  robots_unblocked: whole,
});
export type ChangesRow = z.infer<typeof changesRow>;

/** A coverage state that pages went from and to, of the analysis `state_transitions`. */
export const transitionRow = z.object({
  from_state: maybeText,
  to_state: maybeText,
  pages: whole,
});

/** Of the analysis `coverage_by_directory`; the change is null if there is no listing before. */
export const directoryRow = z.object({
  website_id: text,
  directory: text,
  pages: whole,
  indexed: whole,
  share_indexed: z.number().nullable(),
  indexed_change: maybeWhole,
});
export type DirectoryRow = z.infer<typeof directoryRow>;

/** Of a directory of a website, of all others (null) or of a state, on one date. */
export const coverageRow = z.object({
  column_date: text,
  listed_on: text,
  is_place: z.boolean(),
  place: maybeText,
  index_coverage_state: text,
  pages: whole,
  not_inspected: whole,
  indexed: whole,
});
export type CoverageRow = z.infer<typeof coverageRow>;

/** Pages that fell out in the period before, and those of them that are indexed now. */
export const backRow = z.object({ fell_out: whole, back: whole });

/** The pages of a sitemap; one counts in each of its sitemaps. */
export const sitemapRow = z.object({
  website_id: text,
  sitemap: text,
  pages: whole,
  indexed: whole,
  entered: whole,
  fell_out: whole,
});
export type SitemapRow = z.infer<typeof sitemapRow>;

/** Pages in a coverage state now and their change since the listing before, of the analysis `coverage_by_state`. */
export const stateRow = z.object({
  website_id: text,
  index_summary: maybeText,
  index_coverage_state: text,
  pages: whole,
  pages_change: maybeWhole,
});
export type StateRow = z.infer<typeof stateRow>;

/** A night that broke its trend, of the analysis `events`. `name`: the directory or state that it happened to. */
export const eventRow = z.object({
  snapshot_date: text,
  nights: whole,
  what: z.enum(['website', 'directory', 'state']),
  name: maybeText,
  change: whole,
  direction: z.enum(['left', 'came']),
  moved: whole,
  crawls: maybeText,
  directory: maybeText,
  directory_pages: maybeWhole,
  state: maybeText,
  state_pages: maybeWhole,
  notes: maybeText,
});
export type EventRow = z.infer<typeof eventRow>;

/** A note, once for all of its websites; their names are null if it is for all that are shown. */
export const noteRow = z.object({
  ...{ note_id: text, note_date: text, note: text, directory: maybeText },
  ...{ websites: z.array(text), names: maybeText },
});

/** How the number of indexed pages came about, of the analysis `index_balance`: the sum of its parts. */
export const balanceRow = z.object({
  website_id: text,
  indexed_before: whole,
  first_inspected: whole,
  entered: whole,
  appeared: whole,
  fell_out: whole,
  retired: whole,
  deindexed: whole,
  data_lost: whole,
  gone: whole,
  /** Fell out and came back. */
  returned: whole,
  indexed: whole,
});
export type BalanceRow = z.infer<typeof balanceRow>;
/** A period without a listing to compare. */
export const NOT_COMPARED = z.object({ website_id: text, entered: z.null() });

/** A page that fell out of the index: a sample of the `fallen` pages that went to the same state. */
export const fallenRow = z.object({
  website_id: text,
  state: text,
  fallen: whole,
  url: text,
  snapshot_date: text,
  last_seen_indexed: maybeText,
  clicks: maybeWhole,
  from_state: text,
  known: maybeText,
  index_summary_now: maybeText,
  is_listed_now: z.boolean().nullable(),
});
export type FallenRow = z.infer<typeof fallenRow>;

/** The directory in which most pages fell out, and the largest one beside it: a row of the macro `fallen_places`. */
export const placeRow = z.object({
  directory: text,
  fell_out: whole,
  indexed_before: whole,
  beside: maybeText,
  beside_fell_out: maybeWhole,
  beside_indexed: maybeWhole,
});
export type PlaceRow = z.infer<typeof placeRow>;

/** From where to where pages moved that fell out of the index, and how many took their place. */
export const movedRow = z.object({ from_place: text, to_place: text, pages: whole, twins: whole });
export type MovedRow = z.infer<typeof movedRow>;

/** How the pages moved of which the user's own column has this value; null: none. */
export const ownMovesRow = z.object({
  value: maybeText,
  indexed_before: whole,
  entered: whole,
  fell_out: whole,
  indexed: whole,
});
export type OwnMovesRow = z.infer<typeof ownMovesRow>;

/** What changed pages have in common: their share with this value, and that of all pages. */
const common = { website_id: text, dimension: text, value: text, pages: whole };
const shares = { share: z.number(), overall_share: z.number(), lift: z.number() };
export const flipCommonRow = z.object({ ...common, changed: whole, ...shares });
/** A row of the analysis `deindexed_in_common`. */
export const deindexedCommonRow = z
  .object({ ...common, fell_out: whole, ...shares })
  .transform(({ fell_out, ...rest }) => ({ ...rest, changed: fell_out }));
export type CommonRow = z.infer<typeof flipCommonRow>;

/** A canonical that went from one URL to another, of the analysis `canonical_flips`. */
export const flipRow = z.object({
  website_id: text,
  url: text,
  chosen_by: text,
  from_canonical: text,
  to_canonical: text,
  snapshot_date: text,
});
export type FlipRow = z.infer<typeof flipRow>;

/** Pages of a span of days, of the analyses `crawl_freshness` and `report_ages`. */
export const crawlAgeRow = z
  .object({ last_crawl: text, pages: whole })
  .transform(({ last_crawl: span, pages }) => ({ span, pages }));
export const reportAgeRow = z
  .object({ report_age: text, pages: whole })
  .transform(({ report_age: span, pages }) => ({ span, pages }));

/** A row of the analysis `pages_not_crawled`. */
export const staleRow = z.object({
  website_id: text,
  url: text,
  last_crawl_time: maybeText,
  days_since_crawl: whole.nullable(),
  index_coverage_state: maybeText,
});
export type StaleRow = z.infer<typeof staleRow>;

/** A row of the analysis `sources`. */
export const sourceRow = z.object({
  source: text,
  kind: text,
  http_status: maybeWhole,
  entries: whole,
  pages: whole,
  only_here: whole,
  pages_unnamed: whole,
  problem: maybeText,
  is_missing_pages: z.boolean(),
  last_downloaded: maybeText,
  errors: maybeWhole,
  warnings: maybeWhole,
});
export type SourceRow = z.infer<typeof sourceRow>;

/** A row of the analysis `drift_diary`. */
export const driftRow = newDriftRow.extend({ first_seen_date: text });
export type DriftRow = z.infer<typeof driftRow>;

export const rejectedRow = z.object({
  source: text,
  field: text,
  message: text,
  records: whole,
  total: whole,
});
export type RejectedRow = z.infer<typeof rejectedRow>;

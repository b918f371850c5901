import type { Reason } from '../journal/plan.js';

/** Reports by the reason why they are wanted. */
export type Reports = Record<Reason | 'total', number>;

/** A page whose report is wanted; its place in its website's plan, from 1. */
export interface WantedPage {
  place: number;
  url: string;
  reason: Reason;
  /** Whole days; null without a report. */
  report_age_days: number | null;
}

/** What the next listing is expected to bring: medians over `snapshots` earlier complete listings, in pages. */
export interface Expected {
  missing: number;
  changed: number;
  new: number;
  recrawled: number;
  snapshots: number;
}

/** One website. The names in this file are those of `plan --json`. */
export interface PlannedWebsite {
  website_id: string;
  website_name: string | null;
  /** Where its token stands in the configuration. */
  key: string;
  /** What tells the number of its pages. */
  basis: 'snapshot' | 'service' | 'snapshot_and_service';
  /** The newest one; null before the first. */
  snapshot_id: string | null;
  pages: number;
  pages_never_fetched: number;
  pages_keep_failing: number;
  listing_requests: number;
  /** Listing and reached reports. */
  requests: number;
  /** Null without earlier listings to tell from. */
  expected: Expected | null;
  wanted: Reports;
  reached: Reports;
  not_reached: Reports;
  /** What leaves reports unreached. */
  limit: 'deadline' | 'max_per_run' | null;
  first_pages: WantedPage[];
  /** The first known page that is not reached. */
  first_not_reached: WantedPage | null;
  /** 0: all are; null: never, for the reason that `never_young_because` gives. */
  nights_until_young: number | null;
  never_young_because: string | null;
}

/** The websites of one API key, which share its requests. */
export interface PlannedKey {
  key: string;
  website_ids: string[];
  pages: number;
  listing_requests: number;
  requests: number;
  wanted: number;
  reached: number;
  not_reached: number;
  /** Null: unlimited. */
  requests_per_minute: number | null;
  /** In its last run; null where none was measured. */
  measured_requests_per_minute: number | null;
  /** Seconds; null where the pace is unlimited and none was measured. */
  duration_seconds: number | null;
  duration_seconds_for_all: number | null;
  ends_at: string | null;
}

/** What the next run does. Times are ISO 8601 in UTC. */
export interface Forecast {
  planned_at: string;
  warehouse: string;
  sentence: string;
  younger_than_days: number;
  /** Null: unlimited. */
  max_reports: number | null;
  deadline_seconds: number;
  refresh_after_seconds: number;
  /** Of the schedule. */
  time_zone: string;
  /** The warehouse holds a journal: a run is under way, or the next one resumes it first. */
  unfinished_run: boolean;
  /** Requests that this plan itself cost. */
  requests_sent: number;
  websites: PlannedWebsite[];
  /** Websites whose pages neither a snapshot nor the service tells. */
  unknown_websites: { website_id: string; website_name: string | null }[];
  keys: PlannedKey[];
  totals: {
    pages: number;
    listing_requests: number;
    requests: number;
    wanted: Reports;
    reached: Reports;
    not_reached: Reports;
    duration_seconds: number | null;
    duration_seconds_for_all: number | null;
    /** When a run that starts now ends. */
    ends_at: string | null;
    nights_until_young: number | null;
  };
  /** Null where the job is switched off. It takes no flags, so `ends_at` is null where some are given. */
  next_nightly_sync: { starts_at: string; ends_at: string | null } | null;
}

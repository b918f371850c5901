import { z } from 'zod';
import type { FollowerState } from '../followers/follower.js';
import { byReason, type Reason } from '../journal/plan.js';
import type { RequestCounts } from '../source/client.js';

export interface ReportsReceipt {
  /** Requested: `fetched` + `missing` + `failed` + `rejected`. */
  planned: number;
  fetched: number;
  /** Of these, how many were answered before an interruption. */
  reused: number;
  missing: number;
  failed: number;
  rejected: number;
  /** `planned`, by reason. */
  by_reason: Record<Reason, number>;
  /** Worth fetching, but left to the next run. Null if only the listing was fetched. */
  left: number | null;
}

/** What a run did to one website. The names are those of `sync --json`. */
export interface WebsiteReceipt {
  website_id: string;
  snapshot_id: string | null;
  status: 'committed' | 'failed';
  listing_status: 'complete' | 'partial' | null;
  reports_status: string | null;
  pages: { expected: number | null; listed: number; rejected: number };
  reports: ReportsReceipt;
  requests: RequestCounts;
  /** Answered requests ÷ those that the pace allowed, 0 to 1; null if that is unlimited or unknown. */
  utilisation: number | null;
  resumed: boolean;
  duration_ms: number;
  /** Where a damaged journal of the website is kept, relative to the warehouse folder; it may be deleted. */
  set_aside?: string;
  error?: string;
}

export interface Receipt {
  run_id: string | null;
  websites: WebsiteReceipt[];
  followers: FollowerState[];
  /** Why no website is listed: the websites are unknown. */
  error?: string;
}

/** A receipt of a website that got no snapshot. */
export function failedReceipt(
  websiteId: string,
  error: string,
  rest: Pick<WebsiteReceipt, 'requests' | 'resumed' | 'duration_ms' | 'set_aside'>,
): WebsiteReceipt {
  return {
    website_id: websiteId,
    snapshot_id: null,
    status: 'failed',
    listing_status: null,
    reports_status: null,
    pages: { expected: null, listed: 0, rejected: 0 },
    reports: {
      planned: 0,
      fetched: 0,
      reused: 0,
      missing: 0,
      failed: 0,
      rejected: 0,
      by_reason: byReason(() => 0),
      left: null,
    },
    utilisation: null,
    ...rest,
    error,
  };
}

/** Parses `snapshots.reports_by_reason`. Reasons that no report had count 0. */
export function reasonsIn(text: string): Record<Reason, number> {
  return countedReasons.parse(JSON.parse(text));
}

const countedReasons = z.object(byReason(() => z.int().default(0)));

/**
 * The exit code for a receipt: 1 if a website got no snapshot, 3 with warnings (a partial listing, interrupted reports,
 * too many rejects, a damaged journal, a lagging follower), else 0, even if a budget or deadline was reached.
 */
export function exitCodeOf(receipt: Receipt, maxRejectRatio: number): 0 | 1 | 3 {
  if (receipt.error !== undefined || receipt.websites.some(({ status }) => status === 'failed')) return 1;
  const look = receipt.websites.some((website) => worthALook(website, maxRejectRatio));
  return look || receipt.followers.some(({ behind }) => behind > 0) ? 3 : 0;
}

function worthALook(
  { listing_status, reports_status, reports, pages, set_aside }: WebsiteReceipt,
  maxRejectRatio: number,
): boolean {
  return (
    set_aside !== undefined ||
    listing_status === 'partial' ||
    reports_status === 'interrupted' ||
    reports_status === 'failed' ||
    pages.rejected > maxRejectRatio * pages.listed ||
    reports.rejected > maxRejectRatio * reports.planned
  );
}

import { z } from 'zod';
import type { NamedWebsite } from '../base/config/websites.js';
import { causesIn, causeText, counted, grouped, type Said } from '../base/observe/format.js';
import type { Logger } from '../base/observe/log.js';
import { idProblem } from '../base/storage/names.js';
import type { RequestCounts } from '../source/client.js';
import { type FollowerState, titleOf } from '../warehouse/copies/follower.js';
import { byReason, type Reason } from '../warehouse/journal/plan.js';
import { websiteOf } from '../warehouse/log/folder/layout.js';
import { exitCodeOf, type Problem, problemsOf } from '../warehouse/log/verdict.js';

export interface ReportsReceipt {
  /** Requested: `fetched` + `missing` + `failed` + `rejected` + `unconfirmed`. */
  planned: number;
  fetched: number;
  /** Of these, how many were answered before an interruption. */
  reused: number;
  missing: number;
  failed: number;
  rejected: number;
  /** Pages that look as if they fell. */
  unconfirmed: number;
  /** `planned`, by reason. */
  by_reason: Record<Reason, number>;
  /** Worth fetching, but left to the next run. Null if only the listing was fetched. */
  left: number | null;
}

/** What a run did to one website. The names are those of `sync --json`. */
export interface WebsiteReceipt {
  website_id: string;
  website_name: string | null;
  snapshot_id: string | null;
  status: 'committed' | 'failed';
  listing_status: 'complete' | 'partial' | null;
  reports_status: string | null;
  pages: { expected: number | null; listed: number; rejected: number };
  reports: ReportsReceipt;
  /** Which sources named pages that nothing names any more; left out if none. */
  sources_quiet?: string;
  /** The field, the kind and an example of what is wrong with most rejected records; left out if none were. */
  rejected_for?: string;
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
  /** What is doubtful about this machine's clock. */
  clock?: string;
  /** Why no website is listed: the websites are unknown. */
  error?: string;
  /** Files that are not as they were committed, relative to the warehouse folder. */
  damaged?: string[];
}

/** A receipt of a website that got no snapshot. */
export function failedReceipt(
  website: Pick<WebsiteReceipt, 'website_id' | 'website_name'>,
  error: string,
  rest: Pick<WebsiteReceipt, 'requests' | 'resumed' | 'duration_ms' | 'set_aside'>,
): WebsiteReceipt {
  return {
    website_id: website.website_id,
    website_name: website.website_name,
    snapshot_id: null,
    status: 'failed',
    listing_status: null,
    reports_status: null,
    ...countsIn({}, 0),
    ...rest,
    error,
  };
}

/** What a row of `snapshots` counts; nothing of an empty one. */
export function countsIn(
  row: Readonly<Record<string, unknown>>,
  reused: number,
): Pick<WebsiteReceipt, 'pages' | 'reports' | 'utilisation'> {
  const number = (name: string) => Number(row[name] ?? 0);
  const numberIfKnown = (name: string) => (row[name] == null ? null : number(name));
  const wanted = numberIfKnown('reports_wanted');
  return {
    pages: {
      expected: numberIfKnown('pages_expected'),
      listed: number('pages_listed'),
      rejected: number('pages_rejected'),
    },
    reports: {
      planned: number('reports_planned'),
      fetched: number('reports_fetched'),
      reused,
      missing: number('reports_missing'),
      failed: number('reports_failed'),
      rejected: number('reports_rejected'),
      unconfirmed: number('reports_unconfirmed'),
      by_reason: countedReasons.parse(JSON.parse(String(row['reports_by_reason'] ?? '{}'))),
      left: wanted === null ? null : wanted - number('reports_planned'),
    },
    utilisation: numberIfKnown('utilisation'),
  };
}

/** Receipts of websites whose ids nothing has checked before, as they are the service's, and no folder can be named after. */
export function receiptsOfUnusable(websites: readonly NamedWebsite[]): WebsiteReceipt[] {
  return websites.flatMap(({ id, name }) => {
    const problem = idProblem(id);
    if (problem === null) return [];
    const error = `this id ${problem}; list the other websites under websites`;
    const requests = { sent: 0, throttled: 0, retried: 0 };
    return failedReceipt({ website_id: id, website_name: name }, error, { requests, resumed: false, duration_ms: 0 });
  });
}

/** Of `snapshots.reports_by_reason`: reasons that no report had count 0. */
const countedReasons = z.object(byReason(() => z.int().default(0)));

/** The exit code for a receipt. */
export function runExitCode(receipt: Receipt): 0 | 1 | 3 {
  return exitCodeOf(problemsIn(receipt));
}

/** All that is wrong with how a run ended: its exit code, pings, notices and last line follow from this. */
export function problemsIn({ websites, followers, clock, error, damaged = [] }: Receipt): Problem[] {
  const lagging = followers.filter(({ behind }) => behind > 0);
  return [
    ...(error === undefined ? [] : [{ kind: 'failed' as const, website_id: null, count: 1, message: error }]),
    ...websites.flatMap(problemsOf),
    ...[...grouped(damaged, websiteOf)].map(([website_id, files]) => damageOf(website_id, files)),
    ...(clock === undefined ? [] : [{ kind: 'clock' as const, website_id: null, count: 1, message: clock }]),
    ...lagging.map((one) => ({ kind: 'lagging' as const, website_id: null, count: one.behind, message: lagOf(one) })),
  ];
}

function damageOf(website_id: string, [first = '', ...more]: readonly string[]): Problem {
  const files = more.length > 0 ? `${first} and ${counted(more.length, 'more file')} were` : `${first} was`;
  const message = `${files} changed after the commit; restore what is damaged from a backup: \`indexhouse verify\` lists it all`;
  return { kind: 'damaged', website_id, count: more.length + 1, message };
}

/** What is wrong with how a run ended, as messages name the websites. */
export function saidIn(receipt: Receipt): (Said & Problem)[] {
  const names = new Map(receipt.websites.map((website) => [website.website_id, nameOf(website)]));
  return problemsIn(receipt).map((problem) => {
    return { ...problem, website: names.get(problem.website_id ?? '') ?? null };
  });
}

/** What people call a website. */
export function nameOf({ website_id, website_name }: Pick<WebsiteReceipt, 'website_id' | 'website_name'>): string {
  return website_name ?? website_id;
}

/** Logs what is wrong with how a run ended for its websites, a line for each cause. */
export function logProblems(logger: Logger, said: readonly (Said & Problem)[]): void {
  for (const cause of causesIn(said.filter(({ website_id }) => website_id !== null))) {
    const websites = cause.all.length;
    logger[cause.all[0].kind === 'failed' ? 'error' : 'warn']({ websites }, causeText(cause));
  }
}

export function lagOf({ reason, ...follower }: FollowerState): string {
  return reason ?? `${titleOf(follower)} lags`;
}

import { counted, duration, moment, type Said } from '../../base/observe/format.js';
import { idProblem } from '../../base/storage/names.js';
import { type FollowerLag, lagText } from '../../warehouse/copies/follower.js';
import { NO_WEBSITE, type Waiting } from '../../warehouse/journal/run-file.js';
import { type Problem, type ProblemKind, problemsOf } from '../../warehouse/log/verdict.js';
import { staleText } from './data-age.js';
import type { Found, StatusInput, WaitingNotices } from './found.js';
import type { UnfinishedRun } from './unfinished-runs.js';
import { nameOf, type WebsiteStatus } from './website-status.js';

/** Clocks of two machines may differ by this much. */
const CLOCK_TOLERANCE_MS = 60_000;

const NO_SNAPSHOT = 'no snapshot yet; run `indexhouse sync`';

const SET_ASIDE =
  'is a damaged journal, whose run started over. Check the disk, then delete the folder or send it with a bug report';

type Named = Pick<WebsiteStatus, 'website_id' | 'website_name'>;

const NOTHING = {
  listing_status: null,
  reports_status: null,
  pages: { listed: 0, rejected: 0 },
  reports: { planned: 0, failed: 0, rejected: 0 },
};

/** What can need attention: a problem of the last run, or one that only `status` sees; one of it, and several, in words. */
export const FINDINGS = {
  failed: ['failed', 'failed'],
  partial: ['partial listing', 'partial listings'],
  reports: ['with failed reports', 'with failed reports'],
  rejects: ['with rejected records', 'with rejected records'],
  quiet: ['with pages that nothing names any more', 'with pages that nothing names any more'],
  unfinished: ['unfinished run', 'unfinished runs'],
  overdue: ['missed night', 'missed nights'],
  missing: ['missing snapshot', 'missing snapshots'],
  stale: ['old snapshot', 'old snapshots'],
  waiting: ['run that waits', 'runs that wait'],
  disk: ['full disk', 'full disks'],
  damaged: ['damaged file', 'damaged files'],
  clock: ['wrong clock', 'wrong clocks'],
  lagging: ['copy behind', 'copies behind'],
  sign_in: ['sign-in that ends', 'sign-ins that end'],
  jobs: ['failed job', 'failed jobs'],
  notices: ['channel that refuses notices', 'channels that refuse notices'],
} as const satisfies Record<ProblemKind, readonly [one: string, several: string]> & Record<string, unknown>;

/** Something that needs attention. */
export interface Finding extends Said {
  kind: keyof typeof FINDINGS;
}

/** What needs attention, worst first. */
export function findingsOf(status: Found, { maxAge }: Pick<StatusInput, 'maxAge'>): Finding[] {
  const { unfinished, followers, running, waiting, set_aside, damaged } = status;
  const websites = status.websites.filter(({ is_configured }) => is_configured);
  const syncing = running?.process_id ?? null;
  const as =
    (kind: Finding['kind'], of: Named | null = null) =>
    (message: string) => ({ kind, website_id: of?.website_id ?? null, website: of && nameOf(of), message });
  const ends = websites.flatMap((website) =>
    lastProblems(website, status).map(({ kind, message }) => as(kind, website)(message)),
  );
  const failed = status.failed[NO_WEBSITE];
  // The warehouse has no row of such a website.
  const unusable = Object.entries(status.failed).filter(([id]) => idProblem(id) !== null);
  return [
    ...(failed ? [as('failed')(`the last run failed: ${failed.error}`)] : []),
    ...ends,
    ...unusable.map(([id, { error }]) => as('failed', { website_id: id, website_name: null })(`no snapshot: ${error}`)),
    ...(status.clock ? [as('clock')(status.clock)] : []),
    ...(waiting ? [as('waiting')(waitingText(waiting))] : []),
    ...(status.removal ? [as('unfinished')(status.removal)] : []),
    ...(status.unrecorded ? [as('unfinished')(status.unrecorded)] : []),
    ...unfinished.flatMap((run) => abandoned(run).map(as('unfinished', run))),
    ...(status.overdue ? [as('overdue')(status.overdue)] : []),
    ...(status.disk ? [as('disk')(status.disk)] : []),
    ...set_aside.map((folder) => `${folder} ${SET_ASIDE}`).map(as('damaged')),
    ...websites.flatMap((website) => missing(website, status).map(as('missing', website))),
    // An unmounted disk looks the same.
    ...(status.websites.length === 0 && status.run_since === null ? [as('missing')(NO_SNAPSHOT)] : []),
    ...websites.flatMap((website) => stale(website, maxAge).map(as('stale', website))),
    ...(damaged.length > 0 ? [as('damaged')(damagedFiles(damaged))] : []),
    ...followers.flatMap((follower) => lagging(follower, running !== null, syncing)).map(as('lagging')),
    ...status.sign_ins.map(as('sign_in')),
    ...status.jobs.map(as('jobs')),
    ...status.notices.flatMap((notices) => notTaken(notices, status.checked_at)).map(as('notices')),
  ];
}

function lastProblems(website: WebsiteStatus, { failed }: Pick<Found, 'failed'>): Problem[] {
  const { website_id, last_run, last_snapshot: last } = website;
  const unrecorded = failed[website_id];
  const { outcome, error } =
    unrecorded && unrecorded.run_id > (last_run?.run_id ?? '')
      ? { outcome: 'failed', error: unrecorded.error }
      : { outcome: last_run?.outcome, error: last_run?.error };
  if (outcome === 'failed') return problemsOf({ ...NOTHING, website_id, status: 'failed', error });
  if (!last) return [];
  const pages = { listed: last.pages_listed, rejected: last.pages_rejected };
  const reports = { planned: last.reports_planned, failed: last.reports_failed, rejected: last.reports_rejected };
  const why = last.run_id === last_run?.run_id ? error : null;
  return problemsOf({ ...last, website_id, status: 'committed', pages, reports, error: why });
}

function waitingText({ for: what, error, since, until }: Waiting): string {
  return `the run waits for ${what} since ${moment(since)} (${error}); it tries again at ${moment(until)}`;
}

/** A warning if a channel refused notices. Notices that were not sent yet cause none. */
function notTaken({ channel, notices, since, error }: WaitingNotices, checkedAt: string): string[] {
  if (since === null) return [];
  const age = duration(Math.max(0, Date.parse(checkedAt) - Date.parse(since)));
  return [
    `${counted(notices, 'notice has', 'notices have')} waited for ${channel} for ${age}: ${error}; the next sync or \`indexhouse notify\` sends them again`,
  ];
}

function damagedFiles([first, ...more]: Found['damaged']): string {
  const rest = more.length > 0 ? `, and ${more.length} more cannot be read` : '';
  return `${first?.path} ${first?.reason}${rest}; restore damaged files from a backup: \`indexhouse verify\` lists them all`;
}

function missing({ website_id, last_snapshot, last_run }: WebsiteStatus, { unfinished, run_since }: Found): string[] {
  const known = last_snapshot ?? run_since ?? last_run ?? unfinished.find((run) => run.website_id === website_id);
  return known ? [] : [NO_SNAPSHOT];
}

/** A night without a run leaves no failed run: only the age of the last snapshot shows it. */
function stale({ last_snapshot: last }: WebsiteStatus, maxAge: number): string[] {
  if (last === null) return [];
  if (last.age_seconds * 1000 < -CLOCK_TOLERANCE_MS) {
    const ahead = duration(-last.age_seconds * 1000);
    return [`the last snapshot is ${ahead} ahead of this machine's clock; check the clock`];
  }
  const old = staleText(last.age_seconds * 1000, maxAge);
  return old === null ? [] : [`${old}; check that \`indexhouse sync\` runs`];
}

function abandoned(run: UnfinishedRun): string[] {
  if (run.error) return [run.error];
  if (run.in_progress) return [];
  const next = run.resumable
    ? 'the next `indexhouse sync` resumes it'
    : 'it is too old to resume: the next `indexhouse sync` commits a complete listing and starts a new run';
  return [`a run is not finished, because ${run.stopped}; ${next}`];
}

function lagging(follower: FollowerLag, running: boolean, syncing: number | null): string[] {
  // While a sync runs, the follower lags until the sync ends.
  if (running && (follower.held === null || follower.held.process_id === syncing)) return [];
  const lagging = lagText(follower);
  return lagging ? [`${lagging.message}; ${lagging.remedy}`] : [];
}

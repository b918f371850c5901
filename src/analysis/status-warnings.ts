import type { FollowerLag } from './follower-lag.js';
import type { Status, WebsiteStatus } from './status.js';
import type { UnfinishedRun } from './unfinished-runs.js';

/** Of the folder of a damaged journal. */
const SET_ASIDE =
  'is a damaged journal; what was intact has been used. Check the disk, then delete the folder or ' +
  'send it with a bug report';

/** What somebody should look at, a sentence each, worst first; none where all is well. */
export function warningsOf(status: Omit<Status, 'warnings'>, maxRejectRatio: number): string[] {
  const { websites, unfinished, followers, running, set_aside, damaged } = status;
  const syncing = running?.process_id ?? null;
  return [
    ...websites.flatMap((website) => failedRun(website)),
    ...unfinished.flatMap((run) => abandoned(run)),
    ...set_aside.map((folder) => `${folder} ${SET_ASIDE}`),
    ...websites.flatMap((website) => lastSnapshot(website, maxRejectRatio)),
    ...(damaged.length > 0 ? [damagedFiles(damaged)] : []),
    ...followers.flatMap((follower) => lagging(follower, running !== null, syncing)),
  ];
}

function damagedFiles([first, ...more]: Status['damaged']): string {
  const rest = more.length > 0 ? `, and ${more.length} more cannot be read` : '';
  return `${first?.path} ${first?.reason}${rest}; restore damaged files from a backup: \`indexhouse verify\` lists them all`;
}

/** What a website is called in a sentence. */
export function nameOf({ website_id, website_name }: { website_id: string; website_name: string | null }): string {
  return website_name ?? website_id;
}

function failedRun(website: WebsiteStatus): string[] {
  const { last_run } = website;
  if (last_run?.outcome !== 'failed') return [];
  return [`${nameOf(website)}: the last run failed: ${last_run.error ?? 'no reason was recorded'}`];
}

function abandoned(run: UnfinishedRun): string[] {
  if (run.error) return [`${nameOf(run)}: ${run.error}`];
  if (run.in_progress) return [];
  const next = run.resumable
    ? 'the next `indexhouse sync` resumes it'
    : 'it is too old to resume: the next `indexhouse sync` commits a complete listing and starts a new run';
  return [`${nameOf(run)}: a run was interrupted; ${next}`];
}

function lastSnapshot(website: WebsiteStatus, maxRejectRatio: number): string[] {
  const last = website.last_snapshot;
  if (!last) return [];
  const name = nameOf(website);
  // Of a run that committed, the error says why its listing or its reports broke off.
  const reason =
    last.run_id === website.last_run?.run_id && website.last_run.error ? `: ${website.last_run.error}` : '';
  const rejected = last.reports_rejected > maxRejectRatio * last.reports_planned;
  return [
    ...(last.listing_status === 'partial' ? [`${name}: the last listing is partial${reason}`] : []),
    ...(last.reports_status === 'interrupted' || last.reports_status === 'failed'
      ? [`${name}: the last reports ended as ${last.reports_status}${reason}`]
      : []),
    ...(rejected ? [`${name}: ${last.reports_rejected} of ${last.reports_planned} reports were rejected`] : []),
  ];
}

function lagging(
  { name, behind, exact, held, error }: FollowerLag,
  running: boolean,
  syncing: number | null,
): string[] {
  // While a sync runs, the follower is behind until its end.
  if (running && (held === null || held.process_id === syncing)) return [];
  if (error) return [`indexhouse.${name} cannot be read (${error}); delete it, and the next sync rebuilds it`];
  if (behind === 0) return [];
  const by = `indexhouse.${name} is ${exact ? '' : 'at least '}${behind} snapshot${behind === 1 ? '' : 's'} behind`;
  const why = held
    ? `${held.holder} has it open; the next sync catches up once it is closed`
    : 'the next sync catches up';
  return [`${by}; ${why}`];
}

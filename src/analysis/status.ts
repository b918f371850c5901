import { localFollowers } from '../followers/follow.js';
import { type Follower, type FollowerLag, lagText } from '../followers/follower.js';
import { journalsSetAside } from '../journal/folder.js';
import { duration } from '../observe/format.js';
import { withEngine } from '../storage/engine.js';
import { type LockHolder, probeLock } from '../storage/locks.js';
import { withTemporary } from '../storage/temporary.js';
import { warehouseFolder } from '../warehouse/layout.js';
import type { Marker } from '../warehouse/markers.js';
import { type UnfinishedRun, unfinishedRuns } from './unfinished-runs.js';
import { type WaitingNotices, waitingNotices } from './waiting-notices.js';
import {
  type NewDrift,
  nameOf,
  type PageState,
  readWebsites,
  type WebsiteStatus,
  type WebsitesInput,
} from './website-status.js';

/** What `status --json` prints. */
export interface Status {
  warehouse: string;
  checked_at: string;
  websites: WebsiteStatus[];
  /** The process that holds the run lock: a sync or another writing command is running. */
  running: LockHolder | null;
  unfinished: UnfinishedRun[];
  /** Folders of damaged journals that were set aside; they may be deleted. */
  set_aside: string[];
  followers: FollowerLag[];
  /** Monitored pages by verdict and coverage state. */
  page_states: PageState[];
  /** What is new in the drift diary since the snapshot before the newest one of each website. */
  new_drift: NewDrift[];
  /** Websites with rejected records. */
  quarantine: ReturnType<typeof quarantineOf>;
  /** Notices that channels have not accepted. */
  notices: WaitingNotices[];
  /** Files of the log that cannot be read. */
  damaged: { path: string; table: string; website_id: string; reason: string }[];
  /** What needs attention, a sentence each. */
  warnings: string[];
}

export interface StatusInput extends WebsitesInput {
  /** Milliseconds: the next sync resumes a younger unfinished run, and closes an older one. */
  resumeWithin: number;
  maxRejectRatio: number;
  /** Milliseconds: a newest snapshot that is older is stale. */
  maxAge: number;
  /** What follows the log; only the DuckDB files if left out. */
  followers?: readonly Follower[];
}

/**
 * Finds out how a warehouse is doing, from its Parquet files and journals. No process that holds a database blocks it,
 * and it writes nothing into the warehouse except a missing state. Do not call it in a process that syncs.
 */
export async function readStatus(input: StatusInput): Promise<Status> {
  const { warehouse } = input;
  return withTemporary('status', async (temporary) => {
    // Before the journals, so that a sync that ends in between does not look abandoned.
    const running = input.cache ? null : await probeLock(warehouseFolder(warehouse).lock);
    const unfinished = await unfinishedRuns({ ...input, isRunning: running !== null });
    const engine = { memoryLimit: input.memoryLimit, temporary };
    const { log, websites, drift, pageStates } = await withEngine(engine, (opened) =>
      readWebsites(opened, input, temporary),
    );
    const { markers, damaged } = log;
    // Only the machine that writes knows its followers.
    const known = input.cache ? [] : (input.followers ?? localFollowers({ ...engine, lockTimeout: 0 }));
    const followers: FollowerLag[] = [];
    for (const follower of known) followers.push(await follower.lag(log, engine));
    const found = {
      warehouse,
      checked_at: new Date(input.now).toISOString(),
      websites,
      running,
      unfinished,
      set_aside: await journalsSetAside(warehouse),
      followers,
      new_drift: drift,
      page_states: pageStates,
      quarantine: quarantineOf(markers),
      notices: await waitingNotices(warehouse),
      damaged: damaged.map(({ path, table, websiteId, reason }) => ({ path, table, website_id: websiteId, reason })),
    };
    return { ...found, warnings: warningsOf(found, input) };
  });
}

/** Counts the quarantined records of each website that has some, from the markers alone. */
function quarantineOf(markers: readonly Marker[]) {
  const counts = new Map<string, { records: number; replayed: number }>();
  for (const { kind, websiteId, files } of markers) {
    const rows = (table: string) => files[table]?.rows ?? 0;
    const count = counts.get(websiteId) ?? { records: 0, replayed: 0 };
    if (kind === 'snapshot') count.records += rows('rejected_records');
    else count.replayed += rows('coverage') + rows('url_reports');
    counts.set(websiteId, count);
  }
  return (
    [...counts]
      .filter(([, { records }]) => records > 0)
      // What no replay has committed is still waiting.
      .map(([website_id, count]) => ({ website_id, ...count, waiting: count.records - count.replayed }))
  );
}

/** Clocks of two machines may differ by this much. */
const CLOCK_TOLERANCE_MS = 60_000;

/** The warning about the folder of a damaged journal. */
const SET_ASIDE =
  'is a damaged journal; what was intact has been used. Check the disk, then delete the folder or ' +
  'send it with a bug report';

/** What needs attention, a sentence each, worst first. */
export function warningsOf(status: Omit<Status, 'warnings'>, { maxRejectRatio, maxAge }: StatusInput): string[] {
  const { websites, unfinished, followers, running, set_aside, damaged } = status;
  const syncing = running?.process_id ?? null;
  return [
    ...websites.flatMap((website) => failedRun(website)),
    ...unfinished.flatMap((run) => abandoned(run)),
    ...set_aside.map((folder) => `${folder} ${SET_ASIDE}`),
    ...websites.flatMap((website) => stale(website, status, maxAge)),
    ...websites.flatMap((website) => lastSnapshot(website, maxRejectRatio)),
    ...(damaged.length > 0 ? [damagedFiles(damaged)] : []),
    ...followers.flatMap((follower) => lagging(follower, running !== null, syncing)),
    ...status.notices.flatMap((waiting) => notTaken(waiting, status.checked_at)),
  ];
}

/** A warning if a channel refused notices. Notices that were not sent yet cause none. */
function notTaken({ channel, notices, since, error }: WaitingNotices, checkedAt: string): string[] {
  if (since === null) return [];
  const age = duration(Math.max(0, Date.parse(checkedAt) - Date.parse(since)));
  const wait = notices === 1 ? '1 notice has waited' : `${notices} notices have waited`;
  return [`${wait} for ${channel} for ${age}: ${error}; the next sync or \`indexhouse notify\` sends them again`];
}

function damagedFiles([first, ...more]: Status['damaged']): string {
  const rest = more.length > 0 ? `, and ${more.length} more cannot be read` : '';
  return `${first?.path} ${first?.reason}${rest}; restore damaged files from a backup: \`indexhouse verify\` lists them all`;
}

function failedRun(website: WebsiteStatus): string[] {
  const { last_run } = website;
  if (last_run?.outcome !== 'failed') return [];
  return [`${nameOf(website)}: the last run failed: ${last_run.error ?? 'no reason was recorded'}`];
}

/** A night without a run leaves no failed run: only the age of the last snapshot shows it. */
function stale(website: WebsiteStatus, { unfinished }: Pick<Status, 'unfinished'>, maxAge: number): string[] {
  const name = nameOf(website);
  const last = website.last_snapshot;
  if (last === null) {
    const isTold = website.last_run !== null || unfinished.some(({ website_id }) => website_id === website.website_id);
    return isTold ? [] : [`${name}: no snapshot yet; run \`indexhouse sync\``];
  }
  if (last.age_seconds * 1000 < -CLOCK_TOLERANCE_MS) {
    const ahead = duration(-last.age_seconds * 1000);
    return [`${name}: the last snapshot is ${ahead} ahead of this machine's clock; check the clock`];
  }
  if (last.age_seconds * 1000 <= maxAge) return [];
  const age = duration(last.age_seconds * 1000);
  return [
    `${name}: the last snapshot is ${age} old, more than ${duration(maxAge)}; check that \`indexhouse sync\` runs`,
  ];
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
  // The error of a committed run says why its listing or its reports were interrupted.
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

function lagging(follower: FollowerLag, running: boolean, syncing: number | null): string[] {
  // While a sync runs, the follower lags until the sync ends.
  if (running && (follower.held === null || follower.held.process_id === syncing)) return [];
  const told = lagText(follower);
  return told ? [`${told.message}; ${told.remedy}`] : [];
}

import { duration, moment } from '../../base/observe/format.js';
import { withEngine } from '../../base/storage/engine.js';
import { type LockHolder, probeLock } from '../../base/storage/locks.js';
import { idProblem } from '../../base/storage/names.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { otherWriter, readWriter, type Writer } from '../../warehouse/bucket/lease.js';
import { localFollowers } from '../../warehouse/copies/follow.js';
import { type Follower, type FollowerLag, lagText } from '../../warehouse/copies/follower.js';
import { journalsSetAside } from '../../warehouse/journal/folder.js';
import { NO_WEBSITE, type RunFileContent, readRunFile, type Waiting } from '../../warehouse/journal/run-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import { type Marker, newestMarkers } from '../../warehouse/log/markers.js';
import { exitCodeOf, type Problem, type ProblemKind, problemsOf } from '../../warehouse/log/verdict.js';
import { unfinishedRemoval } from '../../warehouse/removal/steps.js';
import { staleText } from './data-age.js';
import { type UnfinishedRun, unfinishedRuns } from './unfinished-runs.js';
import { type WaitingNotices, waitingNotices } from './waiting-notices.js';
import {
  type NewDrift,
  nameOf,
  type PageState,
  readWebsites,
  type SourcesRead,
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
  /** What the run in progress waits for; null if it does not wait. */
  waiting: Waiting | null;
  /** Why the newest run got no snapshot of a website, where `runs` has no row of it; by website, `*` for none. */
  failed: RunFileContent['failed'];
  /** What the last run found doubtful about this machine's clock; null if nothing. */
  clock: string | null;
  /** This folder as the writer of its bucket; null if it has written to none. */
  writer: Writer | null;
  /** A removal that is not finished, and what to do about it; null if there is none. */
  removal: string | null;
  unfinished: UnfinishedRun[];
  /** Folders of damaged journals that were set aside; they may be deleted. */
  set_aside: string[];
  followers: FollowerLag[];
  page_states: PageState[];
  /** What is new in the drift diary since the snapshot before the newest one of each website. */
  new_drift: NewDrift[];
  /** How what names the pages of each property was read for its newest snapshot. */
  sources: SourcesRead[];
  quarantine: ReturnType<typeof quarantineOf>;
  notices: WaitingNotices[];
  damaged: { path: string; table: string; website_id: string; reason: string }[];
  /** What needs attention, a sentence each. */
  warnings: string[];
  /** 1 if a website got no snapshot in its last run, 3 if anything else needs attention, else 0. */
  exit_code: 0 | 1 | 3;
}

/** What was found, before it is judged. */
export type Found = Omit<Status, 'warnings' | 'exit_code'>;

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
    const runFile = await readRunFile(warehouseFolder(warehouse).run);
    const unfinished = await unfinishedRuns({ ...input, isRunning: running !== null, runFile });
    const engine = { memoryLimit: input.memoryLimit, temporary };
    const { log, websites, drift, sources, pageStates, damaged } = await withEngine(engine, (opened) =>
      readWebsites(opened, input, temporary),
    );
    // Only the machine that writes knows its followers.
    const known = input.cache ? [] : (input.followers ?? localFollowers({ ...engine, lockTimeout: 0 }));
    const followers: FollowerLag[] = [];
    for (const follower of known) followers.push(await follower.lag(log, engine));
    const begun = await unfinishedRemoval(warehouse);
    const removal = running ? null : begun;
    // What is being removed is no damage.
    const lost = begun?.removal ? [] : damaged;
    const found = {
      warehouse,
      checked_at: new Date(input.now).toISOString(),
      websites,
      running,
      waiting: running === null ? null : (runFile?.waiting ?? null),
      failed: runFile?.failed ?? {},
      clock: runFile?.clock ?? null,
      removal: removal && `${removal.message}; ${removal.remedy}`,
      unfinished,
      set_aside: await journalsSetAside(warehouse),
      followers,
      writer: await readWriter(warehouse),
      new_drift: drift,
      sources,
      page_states: pageStates,
      quarantine: quarantineOf(log.markers),
      notices: await waitingNotices(warehouse),
      damaged: lost.map(({ path, table, websiteId, reason }) => ({ path, table, website_id: websiteId, reason })),
    };
    return judged(found, input);
  });
}

/** Says what needs attention of what was found. */
export function judged(found: Found, input: Pick<StatusInput, 'maxRejectRatio' | 'maxAge'>): Status {
  const findings = findingsOf(found, input);
  return { ...found, warnings: findings.map(({ message }) => message), exit_code: exitCodeOf(findings) };
}

/** The websites of whose newest snapshot some records are in quarantine, and how many, from the markers alone. */
function quarantineOf(markers: readonly Marker[]): { website_id: string; records: number }[] {
  return newestMarkers(markers)
    .map(({ websiteId, files }) => ({ website_id: websiteId, records: files['rejected_records']?.rows ?? 0 }))
    .filter(({ records }) => records > 0);
}

/** Clocks of two machines may differ by this much. */
const CLOCK_TOLERANCE_MS = 60_000;

const SET_ASIDE =
  'is a damaged journal, whose run started over. Check the disk, then delete the folder or send it with a bug report';

const SET_THEM_ASIDE = '`indexhouse restore --take-over` sets that aside and makes this machine the writer';

const NOTHING = {
  listing_status: null,
  reports_status: null,
  pages: { listed: 0, rejected: 0 },
  reports: { planned: 0, failed: 0, rejected: 0 },
};

/** Something that needs attention: a problem of the last run, or one that only `status` sees. */
interface Finding {
  kind: ProblemKind | 'stale' | 'waiting' | 'unfinished' | 'notices';
  message: string;
}

/** What needs attention, worst first. */
function findingsOf(
  status: Found,
  { maxRejectRatio, maxAge }: Pick<StatusInput, 'maxRejectRatio' | 'maxAge'>,
): Finding[] {
  const { unfinished, followers, running, waiting, set_aside, damaged } = status;
  const websites = status.websites.filter(({ is_configured }) => is_configured);
  const syncing = running?.process_id ?? null;
  const as = (kind: Finding['kind']) => (message: string) => ({ kind, message });
  const ends = websites.flatMap((website) =>
    lastProblems(website, status, maxRejectRatio).map(({ kind, message }) =>
      as(kind)(`${nameOf(website)}: ${message}`),
    ),
  );
  const failed = status.failed[NO_WEBSITE];
  // The warehouse has no row of such a website.
  const unusable = Object.entries(status.failed).filter(([id]) => idProblem(id) !== null);
  return [
    ...(failed ? [as('failed')(`the last run failed: ${failed.error}`)] : []),
    ...ends,
    ...unusable.map(([id, { error }]) => as('failed')(`${id}: no snapshot: ${error}`)),
    ...(status.clock ? [as('clock')(status.clock)] : []),
    ...(waiting ? [as('waiting')(waitingText(waiting))] : []),
    ...(status.removal ? [as('unfinished')(status.removal)] : []),
    ...unfinished.flatMap((run) => abandoned(run)).map(as('unfinished')),
    ...set_aside.map((folder) => `${folder} ${SET_ASIDE}`).map(as('damaged')),
    ...websites.flatMap((website) => stale(website, status, maxAge)).map(as('stale')),
    ...(damaged.length > 0 ? [as('damaged')(damagedFiles(damaged))] : []),
    ...otherWriters(status).map(as('lagging')),
    ...followers.flatMap((follower) => lagging(follower, running !== null, syncing)).map(as('lagging')),
    ...status.notices.flatMap((notices) => notTaken(notices, status.checked_at)).map(as('notices')),
  ];
}

/** Another machine became the writer of the bucket: what was committed here since is nowhere else. */
function otherWriters({ writer, followers }: Found): string[] {
  if (!writer?.other) return [];
  const lacks = followers.find(({ name }) => name === 'bucket')?.lacks ?? [];
  const only = lacks.length > 0 ? `; only this folder has ${lacks.join(', ')}` : '';
  return [`the bucket ${otherWriter(writer.other)}${only}; ${SET_THEM_ASIDE}`];
}

function lastProblems(website: WebsiteStatus, { failed }: Pick<Found, 'failed'>, maxRejectRatio: number): Problem[] {
  const { website_id, last_run, last_snapshot: last } = website;
  const unrecorded = failed[website_id];
  const { outcome, error } =
    unrecorded && unrecorded.run_id > (last_run?.run_id ?? '')
      ? { outcome: 'failed', error: unrecorded.error }
      : { outcome: last_run?.outcome, error: last_run?.error };
  if (outcome === 'failed') return problemsOf({ ...NOTHING, website_id, status: 'failed', error }, maxRejectRatio);
  if (!last) return [];
  const pages = { listed: last.pages_listed, rejected: last.pages_rejected };
  const reports = { planned: last.reports_planned, failed: last.reports_failed, rejected: last.reports_rejected };
  const why = last.run_id === last_run?.run_id ? error : null;
  return problemsOf({ ...last, website_id, status: 'committed', pages, reports, error: why }, maxRejectRatio);
}

function waitingText({ for: what, error, since, until }: Waiting): string {
  return `the run waits for ${what} since ${moment(since)} (${error}); it tries again at ${moment(until)}`;
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

/** A night without a run leaves no failed run: only the age of the last snapshot shows it. */
function stale(website: WebsiteStatus, { unfinished }: Pick<Status, 'unfinished'>, maxAge: number): string[] {
  const name = nameOf(website);
  const last = website.last_snapshot;
  if (last === null) {
    const isKnown = website.last_run !== null || unfinished.some(({ website_id }) => website_id === website.website_id);
    return isKnown ? [] : [`${name}: no snapshot yet; run \`indexhouse sync\``];
  }
  if (last.age_seconds * 1000 < -CLOCK_TOLERANCE_MS) {
    const ahead = duration(-last.age_seconds * 1000);
    return [`${name}: the last snapshot is ${ahead} ahead of this machine's clock; check the clock`];
  }
  const old = staleText(last.age_seconds * 1000, maxAge);
  return old === null ? [] : [`${name}: ${old}; check that \`indexhouse sync\` runs`];
}

function abandoned(run: UnfinishedRun): string[] {
  if (run.error) return [`${nameOf(run)}: ${run.error}`];
  if (run.in_progress) return [];
  const next = run.resumable
    ? 'the next `indexhouse sync` resumes it'
    : 'it is too old to resume: the next `indexhouse sync` commits a complete listing and starts a new run';
  return [`${nameOf(run)}: a run is not finished, because ${run.stopped}; ${next}`];
}

function lagging(follower: FollowerLag, running: boolean, syncing: number | null): string[] {
  // While a sync runs, the follower lags until the sync ends.
  if (running && (follower.held === null || follower.held.process_id === syncing)) return [];
  const lagging = lagText(follower);
  return lagging ? [`${lagging.message}; ${lagging.remedy}`] : [];
}

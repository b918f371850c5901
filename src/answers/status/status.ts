import { basename } from 'node:path';
import { moment } from '../../base/observe/format.js';
import { withEngine } from '../../base/storage/engine.js';
import { lowDiskText } from '../../base/storage/free-disk.js';
import { probeLock } from '../../base/storage/locks.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { localFollowers } from '../../warehouse/copies/follow.js';
import type { FollowerLag } from '../../warehouse/copies/follower.js';
import { journalsSetAside } from '../../warehouse/journal/folder.js';
import { readRunFile, unrecordedText } from '../../warehouse/journal/run-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import { type Marker, newestMarkers } from '../../warehouse/log/markers.js';
import { provenSince, readProven } from '../../warehouse/log/proven.js';
import { exitCodeOf } from '../../warehouse/log/verdict.js';
import { unfinishedRemoval } from '../../warehouse/removal/steps.js';
import { type Jobs, readJobs } from '../../warehouse/upkeep/jobs.js';
import { type Finding, findingsOf } from './findings.js';
import type { Found, StatusInput } from './found.js';
import { causesOf, type LastNight, lastNightOf, UNREADABLE } from './last-night.js';
import { nightsOf, overdueText } from './overdue.js';
import { unfinishedRuns } from './unfinished-runs.js';
import { waitingNotices } from './waiting-notices.js';
import { readWebsites, type WebsiteStatus } from './website-status.js';

/** What `status --json` prints. */
export interface Status extends Found {
  /** The verdict on the last night. */
  last_night: LastNight;
  /** What needs attention, worst first, each by itself. */
  findings: Finding[];
  /** The same, a sentence for each cause. */
  warnings: string[];
  /** 1 if a website got no snapshot in its last run, 3 if anything else needs attention, else 0. */
  exit_code: 0 | 1 | 3;
}

/**
 * Finds out how a warehouse is doing, from its Parquet files and journals. No process that holds a database blocks it,
 * and it writes nothing into the warehouse except a missing state. Do not call it in a process that syncs.
 */
export async function readStatus(input: StatusInput): Promise<Status> {
  const { warehouse } = input;
  return withTemporary('status', async (temporary) => {
    // Before the journals, so that a sync that ends in between does not look abandoned.
    const running = await probeLock(warehouseFolder(warehouse).lock);
    const runFile = await readRunFile(warehouseFolder(warehouse).run);
    const unfinished = await unfinishedRuns({ ...input, isRunning: running !== null, runFile });
    const engine = { memoryLimit: input.memoryLimit, temporary };
    const { log, websites, drift, sources, pageStates, damaged } = await withEngine(engine, (opened) =>
      readWebsites(opened, input, temporary),
    );
    const known = input.followers ?? localFollowers({ ...engine, lockTimeout: 0 });
    const followers: FollowerLag[] = [];
    for (const follower of known) followers.push(await follower.lag(log, engine));
    const begun = await unfinishedRemoval(warehouse);
    const removal = running ? null : begun;
    // What is being removed is no damage.
    const lost = begun?.removal ? [] : damaged;
    const low = input.diskOf ? lowDiskText(await input.diskOf(warehouse)) : null;
    const found = {
      warehouse,
      checked_at: new Date(input.now).toISOString(),
      websites,
      running,
      run_since: running && runFile && !runFile.has_ended ? runFile.started_at : null,
      waiting: running === null ? null : (runFile?.waiting ?? null),
      failed: runFile?.failed ?? {},
      clock: runFile?.clock ?? null,
      unrecorded: running ? null : unrecordedText(runFile, unfinished.length > 0),
      overdue: running ? null : await missedNight(log.markers, websites, input),
      disk: low && `${low}: a run would end at once; free some space`,
      sign_ins: input.signIns?.(input.now) ?? [],
      jobs: failedJobs(await readJobs(warehouse)),
      removal: removal && `${removal.message}; ${removal.remedy}`,
      unfinished,
      set_aside: await journalsSetAside(warehouse),
      followers,
      new_drift: drift,
      sources,
      page_states: pageStates,
      quarantine: quarantineOf(log.markers),
      notices: await waitingNotices(warehouse),
      proven_since: provenSince(await readProven(warehouse)),
      damaged: lost.map(({ path, table, websiteId, reason }) => ({ path, table, website_id: websiteId, reason })),
    };
    return judged(found, input);
  });
}

/** The verdict on the last night of these websites, or of all; also if it cannot be read. */
export async function readLastNight(input: StatusInput, websites: readonly string[] | null): Promise<LastNight> {
  const status = await readStatus(input).catch(() => null);
  const asked = status && websites ? statusForKey(status, websites, input) : status;
  return asked?.last_night ?? UNREADABLE;
}

/** That a night is missed, as `Found.overdue` has it. Do not call it in the process of a daemon. */
export async function missedNight(
  markers: readonly Marker[],
  websites: readonly Pick<WebsiteStatus, 'last_run'>[],
  { warehouse, due, now }: Pick<StatusInput, 'warehouse' | 'due' | 'now'>,
): Promise<string | null> {
  const isOfDaemon = due?.ofDaemon && (await probeLock(warehouseFolder(warehouse).scheduleLock));
  const known = isOfDaemon ? { ...due, schedule: due.ofDaemon ?? null } : due;
  const nights = nightsOf(markers, websites);
  // A run that recorded nothing but its start.
  const begun = Date.parse((await readRunFile(warehouseFolder(warehouse).run))?.started_at ?? '');
  if (begun > (nights.at(-1) ?? 0)) nights.push(begun);
  return overdueText(nights, { due: known, now });
}

/** Says what needs attention of what was found. */
export function judged(found: Found, input: Pick<StatusInput, 'maxAge'>): Status {
  const findings = findingsOf(found, input);
  const last_night = lastNightOf(found, findings);
  return { ...found, last_night, findings, warnings: causesOf(findings), exit_code: exitCodeOf(findings) };
}

/** From the markers alone. */
function quarantineOf(markers: readonly Marker[]): Found['quarantine'] {
  return newestMarkers(markers)
    .map(({ websiteId, files }) => ({ website_id: websiteId, records: files['rejected_records']?.rows ?? 0 }))
    .filter(({ records }) => records > 0);
}

/** The scheduled jobs that did not end well. A night has its own rows in `runs`. */
function failedJobs({ 'nightly-sync': _, ...jobs }: Jobs): string[] {
  return Object.entries(jobs).flatMap(([name, { begun_at, exit_code }]) =>
    exit_code
      ? [`the scheduled ${name} of ${moment(begun_at)} ended with exit code ${exit_code}: see the log of the daemon`]
      : [],
  );
}

/** What a key learns nothing of: this machine, its folders, and what its operator runs. */
const UNSEEN = {
  proven_since: null,
  unrecorded: null,
  overdue: null,
  disk: null,
  sign_ins: [],
  jobs: [],
  warehouse: '',
  waiting: null,
  removal: null,
  clock: null,
  unfinished: [],
  set_aside: [],
  followers: [],
  notices: [],
} satisfies Partial<Found>;

/** The part of a status about these websites. A field that `Found` gains is decided here before this compiles. */
export function statusForKey(status: Status, websites: readonly string[], input: Pick<StatusInput, 'maxAge'>): Status {
  const own = <R extends { website_id: string }>(rows: readonly R[]) =>
    rows.filter(({ website_id }) => websites.includes(website_id));
  const isRunning = own(status.unfinished).some(({ in_progress }) => in_progress);
  const found: Found = {
    ...UNSEEN,
    checked_at: status.checked_at,
    websites: own(status.websites),
    running: isRunning ? status.running : null,
    run_since: isRunning ? status.run_since : null,
    failed: Object.fromEntries(Object.entries(status.failed).filter(([id]) => websites.includes(id))),
    page_states: own(status.page_states),
    new_drift: own(status.new_drift),
    sources: own(status.sources),
    quarantine: own(status.quarantine),
    damaged: own(status.damaged).map((file) => ({ ...file, path: basename(file.path) })),
  };
  return judged(found, input);
}

import { z } from 'zod';
import { moment } from '../../base/observe/format.js';
import { withEngine } from '../../base/storage/engine.js';
import { type Disk, lowDiskText } from '../../base/storage/free-disk.js';
import { readJson } from '../../base/storage/json-file.js';
import { probeLock } from '../../base/storage/locks.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { localFollowers } from '../../warehouse/copies/follow.js';
import type { Follower, FollowerLag } from '../../warehouse/copies/follower.js';
import { journalsSetAside } from '../../warehouse/journal/folder.js';
import { readRunFile, unrecordedText } from '../../warehouse/journal/run-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import { type Marker, newestMarkers } from '../../warehouse/log/markers.js';
import { provenSince, readProven } from '../../warehouse/log/proven.js';
import { unfinishedRemoval } from '../../warehouse/removal/steps.js';
import { type Jobs, readJobs } from '../../warehouse/upkeep/jobs.js';
import { type Due, nightsOf, overdueText } from './overdue.js';
import { unfinishedRuns } from './unfinished-runs.js';
import { readWebsites, type WebsiteStatus, type WebsitesInput } from './website-status.js';

/** The part of a channel's entry in the journal of notices that `status` shows. */
export const channelState = z.object({
  /** What logs call it. */
  label: z.string().default('a channel'),
  waiting: z.array(z.unknown()),
  /** Since when it accepts no messages, and why; null while it does. */
  failing: z.object({ since: z.iso.datetime(), error: z.string() }).nullable().default(null),
});

/** Notices that a channel has not accepted. The names are those of `status --json`. */
export interface WaitingNotices {
  channel: string;
  notices: number;
  /** ISO 8601; null if they were not sent yet. */
  since: string | null;
  error: string | null;
}

const channels = z.object({ channels: z.record(z.string(), channelState) });

/** What waits to be sent; nothing if the journal of notices is missing, damaged or not ours to read. */
async function waitingNotices(warehouse: string): Promise<WaitingNotices[]> {
  const known = await readJson(warehouseFolder(warehouse).notices, channels).catch(() => null);
  return Object.values(known?.channels ?? {}).flatMap(({ label, waiting, failing }) =>
    waiting.length > 0
      ? [{ channel: label, notices: waiting.length, since: failing?.since ?? null, error: failing?.error ?? null }]
      : [],
  );
}

export interface StatusInput extends WebsitesInput {
  /** Milliseconds: a newest snapshot that is older is stale. */
  maxAge: number;
  /** When the next night is due, by a schedule or the rhythm of the last ones. */
  due?: Due | undefined;
  /** Looks at the disk on which the next run writes; not looked at if left out. */
  diskOf?: ((folder: string) => Promise<Disk>) | undefined;
  /** The sign-ins that end soon, at a time in milliseconds since 1970; not looked at if left out. */
  signIns?: ((now: number) => string[]) | undefined;
  /** What follows the log; only the DuckDB files if left out. */
  followers?: () => Promise<readonly Follower[]>;
}

/** What was found about a warehouse, before it is judged. */
export type Found = Awaited<ReturnType<typeof readFound>>;

/** Reads what `readStatus` judges. */
export async function readFound(input: StatusInput) {
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
    const known = (await input.followers?.()) ?? localFollowers({ ...engine, lockTimeout: 0 });
    const followers: FollowerLag[] = [];
    for (const follower of known) followers.push(await follower.lag(log, engine));
    const begun = await unfinishedRemoval(warehouse);
    const removal = running ? null : begun;
    // What is being removed is no damage.
    const lost = begun?.removal ? [] : damaged;
    const low = input.diskOf ? lowDiskText(await input.diskOf(warehouse)) : null;
    return {
      warehouse,
      checked_at: new Date(input.now).toISOString(),
      websites,
      /** The process that holds the run lock: a sync or another writing command is running. */
      running,
      /** When the run in progress started or was resumed; null if there is none. */
      run_since: running && runFile && !runFile.has_ended ? runFile.started_at : null,
      /** What the run in progress waits for; null if it does not wait. */
      waiting: running === null ? null : (runFile?.waiting ?? null),
      /** Why the newest run got no snapshot of a website, where `runs` has no row of it; by website, `*` for none. */
      failed: runFile?.failed ?? {},
      /** What the last run found doubtful about this machine's clock; null if nothing. */
      clock: runFile?.clock ?? null,
      /** That a run began, and why what became of it is unknown; null if it is known. */
      unrecorded: running ? null : unrecordedText(runFile, unfinished.length > 0),
      /** That a night should have begun, and did not; null if none is missed. */
      overdue: running ? null : await missedNight(log.markers, websites, input),
      /** That the disk has too little space for the next run; null if it has not. */
      disk: low && `${low}: a run would end at once; free some space`,
      /** Each sign-in to Search Console that ends soon or has ended, and what to do. */
      sign_ins: input.signIns?.(input.now) ?? [],
      /** Each scheduled job that did not end well the last time, other than the night. */
      jobs: failedJobs(await readJobs(warehouse)),
      /** A removal that is not finished, and what to do about it; null if there is none. */
      removal: removal && `${removal.message}; ${removal.remedy}`,
      unfinished,
      /** Folders of damaged journals that were set aside; they may be deleted. */
      set_aside: await journalsSetAside(warehouse),
      followers,
      /** What is new in the drift diary since the snapshot before the newest one of each website. */
      new_drift: drift,
      /** How what names the pages of each property was read for its newest snapshot. */
      sources,
      page_states: pageStates,
      /** The websites of whose newest snapshot some records are in quarantine, and how many. */
      quarantine: quarantineOf(log.markers),
      notices: await waitingNotices(warehouse),
      /** Since when every file is known to be as it was committed, ISO 8601; null: some were not proven yet. */
      proven_since: provenSince(await readProven(warehouse)),
      damaged: lost.map(({ path, table, websiteId, reason }) => ({ path, table, website_id: websiteId, reason })),
    };
  });
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

/** From the markers alone. */
function quarantineOf(markers: readonly Marker[]): { website_id: string; records: number }[] {
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

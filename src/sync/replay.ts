import type { Config } from '../base/config/schema.js';
import { namedWebsites, websiteIds } from '../base/config/websites.js';
import { Stopped } from '../base/exit.js';
import type { Logger } from '../base/observe/log.js';
import { makeFolder } from '../base/storage/durable.js';
import { type EngineOptions, withEngine } from '../base/storage/engine.js';
import { sql } from '../base/storage/sql.js';
import { idAfter } from '../base/time.js';
import { checkLease } from '../warehouse/bucket/lease.js';
import { followAll } from '../warehouse/copies/follow.js';
import {
  type JournalFolder,
  replayFolder,
  unfinishedJournals,
  unfinishedReplays,
} from '../warehouse/journal/folder.js';
import { readHeader } from '../warehouse/journal/header.js';
import { commitStaged, dropJournal, dropOldStates, isStagedWhole } from '../warehouse/log/commit.js';
import { dropScratch, scratchFolder } from '../warehouse/log/folder/layout.js';
import { checkWarehouseThere, prepareWarehouse } from '../warehouse/log/folder/prepare.js';
import { RunLock } from '../warehouse/log/lock.js';
import { filesOf, type Marker, markerPaths, markersOf } from '../warehouse/log/markers.js';
import { OpenWarehouse } from '../warehouse/log/open.js';
import { type Manifest, readManifest, stageCommit } from '../warehouse/log/stage/stage.js';
import { currentState, factsOf } from '../warehouse/log/state.js';
import { engineOptions, type RunContext } from './context.js';
import { type Judged, judgeAgain, REPLAY_WALK } from './replay-journal.js';

export interface ReplayOptions {
  config: Config;
  version: string;
  log: Logger;
  /** Ids or names; all that the warehouse holds if empty. */
  websites: string[];
  /** Only snapshots of this date, `YYYY-MM-DD`, or later. */
  since: string | null;
  /** Only validate and count; commit nothing. */
  dryRun: boolean;
  signal: AbortSignal;
}

/** What became of the rejected records of each snapshot, under the names of `replay --json`. */
export type ReplayReceipt = Awaited<ReturnType<typeof replay>>;

/**
 * Validates quarantined records against today's contract, and commits what passes, without a request: one commit for
 * each snapshot, with a marker of its own. The originals stay in `rejected_records`.
 *
 * @throws BusyError, WarehouseError, ReplayStopped
 */
export async function replay(options: ReplayOptions) {
  const { path, time_zone, memory_limit } = options.config.warehouse;
  await checkWarehouseThere(path);
  await prepareWarehouse(path, time_zone, memory_limit);
  const lock = options.dryRun ? null : await RunLock.take(path, 'replay');
  try {
    return await new Replay(options).run();
  } finally {
    lock?.release();
    await dropScratch(path);
  }
}

/** 3 with warnings: a website was skipped, or a follower lags. */
export function exitCodeOf({ skipped, followers }: ReplayReceipt): 0 | 3 {
  return skipped.length > 0 || followers.some(({ behind }) => behind > 0) ? 3 : 0;
}

const STOPPED =
  'stopped between two snapshots; what was replayed is committed, and the next `indexhouse replay` does the rest';

class Replay {
  readonly #warehouse: string;
  readonly #scratch: EngineOptions;

  constructor(private readonly options: ReplayOptions) {
    this.#warehouse = options.config.warehouse.path;
    this.#scratch = engineOptions(options.config, scratchFolder(this.#warehouse));
  }

  async run() {
    const { config, dryRun, signal } = this.options;
    if (!dryRun) {
      await checkLease(this.#writer, true);
      await recoverReplays(this.#writer);
    }
    const log = await this.#readLog();
    // A website that is no longer configured may still have records in quarantine.
    const known = [...(await log.websites()), ...(namedWebsites(config) ?? [])];
    const waiting = this.#waiting(log.markers, websiteIds(this.options.websites, known, 'the warehouse'));
    const unfinished = await unfinishedWebsites(this.#warehouse);
    const snapshots = [];
    for (const snapshot of waiting.filter(({ websiteId }) => !unfinished.has(websiteId))) {
      if (signal.aborted) throw new Stopped(STOPPED);
      snapshots.push(await this.#replayOne(snapshot, log));
    }
    const left = new Set(waiting.map(({ websiteId }) => websiteId).filter((id) => unfinished.has(id)));
    const skipped = [...left].map((id) => ({ website_id: id, reason: UNFINISHED }));
    const followers = dryRun ? [] : await followAll({ config, warehouse: this.#warehouse, log: this.options.log });
    return { dry_run: dryRun, snapshots, skipped, followers };
  }

  #readLog(): Promise<OpenWarehouse> {
    return withEngine(this.#scratch, (engine) => OpenWarehouse.readWhole(engine, this.#warehouse));
  }

  /** The snapshots that were asked for and have rejected records that no replay has taken, oldest first. */
  #waiting(markers: Marker[], websites: readonly string[]): Marker[] {
    const { since } = this.options;
    return markers.filter(
      (marker) =>
        marker.kind === 'snapshot' &&
        (websites.length === 0 || websites.includes(marker.websiteId)) &&
        (since === null || marker.date >= since) &&
        rowsOf(marker, 'rejected_records') > replayedOf(marker, markers),
    );
  }

  async #replayOne(snapshot: Marker, log: OpenWarehouse) {
    const { websiteId, snapshotId, date } = snapshot;
    const about = { website_id: websiteId, snapshot_id: snapshotId, snapshot_date: date };
    if (this.options.dryRun) return { ...about, ...receiptOf(await this.#judge(snapshot, log, null), null) };
    const newest = markersOf(log.markers, websiteId).at(-1)?.commitId;
    const folder = replayFolder(this.#warehouse, idAfter(newest), websiteId);
    await makeFolder(folder.path);
    const judged = await this.#judge(snapshot, log, folder);
    if (judged.coverage + judged.urlReports === 0) {
      await dropJournal(folder);
      return { ...about, ...receiptOf(judged, null) };
    }
    const manifest = await this.#stage(snapshot, folder, judged);
    await checkLease(this.#writer);
    await commitStaged(this.#warehouse, folder, manifest);
    await dropOldStates(this.#warehouse, websiteId, Date.now());
    this.options.log.info({ website: websiteId, snapshot: snapshotId, ...judged }, 'replayed');
    return { ...about, ...receiptOf(judged, manifest) };
  }

  /** Validates over the files of this snapshot and of its replays. */
  #judge(snapshot: Marker, log: OpenWarehouse, folder: JournalFolder | null): Promise<Judged> {
    const own = log.markers.filter(({ snapshotId }) => snapshotId === snapshot.snapshotId);
    return withEngine(folder ? engineOptions(this.options.config, folder.temporary) : this.#scratch, async (engine) => {
      for (const table of ['rejected_records', 'coverage', 'url_reports'] as const) {
        await engine.view(table, log.query(table, filesOf(log.path, own, table)));
      }
      await engine.view('replays', log.query('replays', markerPaths(own, 'replays')));
      await engine.run(sql('warehouse/views/quarantine'));
      return judgeAgain(engine, folder);
    });
  }

  /** Writes every file of the replay's commit. Its state follows that of the website's newest commit. */
  async #stage(snapshot: Marker, folder: JournalFolder, judged: Judged): Promise<Manifest> {
    const { config, version } = this.options;
    const engine = engineOptions(config, folder.temporary);
    const markers = markersOf((await this.#readLog()).markers, snapshot.websiteId);
    const marker: Marker = { ...snapshot, kind: 'replay', commitId: folder.runId, listingComplete: false };
    return stageCommit({
      warehouse: this.#warehouse,
      folder,
      facts: factsOf(marker, markers),
      walk: REPLAY_WALK,
      previousState: await currentState(this.#warehouse, markers, engine),
      compression: config.warehouse.parquet_compression,
      engine,
      snapshot: {
        replay_id: folder.runId,
        snapshot_id: snapshot.snapshotId,
        website_id: snapshot.websiteId,
        snapshot_at: snapshot.snapshotAt,
        snapshot_date: snapshot.date,
        replayed_at: new Date().toISOString(),
        still_rejected: judged.stillRejected,
        version,
      },
      run: {},
    });
  }

  get #writer() {
    return { config: this.options.config, warehouse: this.#warehouse, log: this.options.log };
  }
}

/**
 * Finishes the replays that were staged when their process died, and drops the others, whose records are still in
 * quarantine. Call it with the run lock held, before anything else is committed, because a staged replay was compared
 * with the state at that time.
 */
export async function recoverReplays(context: Pick<RunContext, 'config' | 'warehouse' | 'log'>): Promise<void> {
  const { warehouse, log } = context;
  for (const folder of await unfinishedReplays(warehouse)) {
    const about = { website: folder.websiteId, replay: folder.runId };
    const staged = await readManifest(folder);
    try {
      const manifest = staged && (await isStagedWhole(warehouse, folder, staged)) ? staged : null;
      if (manifest) await checkLease(context);
      if (manifest) await commitStaged(warehouse, folder, manifest);
      log.info(about, manifest ? 'finished an interrupted replay' : 'dropped an interrupted replay');
    } catch (error) {
      log.error({ ...about, err: error }, 'an interrupted replay cannot be finished; the next replay starts over');
    }
    await dropJournal(folder);
  }
}

const UNFINISHED = 'it has an unfinished run, which must be committed first: run `indexhouse sync --recover`';

/** Websites whose next commit has an older id than any replay would get now. */
async function unfinishedWebsites(warehouse: string): Promise<Set<string>> {
  const unfinished = new Set<string>();
  for (const folder of await unfinishedJournals(warehouse)) {
    // One that cannot be read may be repaired and resumed.
    const header = await readHeader(folder).catch(() => undefined);
    if (header !== null) unfinished.add(folder.websiteId);
  }
  return unfinished;
}

function rowsOf(marker: Marker, table: string): number {
  return marker.files[table]?.rows ?? 0;
}

function replayedOf({ snapshotId }: Marker, markers: Marker[]): number {
  const replays = markers.filter((marker) => marker.kind === 'replay' && marker.snapshotId === snapshotId);
  return replays.reduce((all, marker) => all + rowsOf(marker, 'coverage') + rowsOf(marker, 'url_reports'), 0);
}

function receiptOf({ coverage, urlReports, stillRejected }: Judged, manifest: Manifest | null) {
  return {
    /** Null if nothing was committed: no record passed, or it was a dry run. */
    replay_id: manifest?.commit_id ?? null,
    /** Records that pass now. */
    coverage,
    url_reports: urlReports,
    changes: manifest?.files['page_changes']?.rows ?? 0,
    still_rejected: stillRejected,
  };
}

import { copyFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exists, makeFolder, publish, syncFile } from '../storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../storage/engine.js';
import { isWholeParquet } from '../storage/parquet-file.js';
import { identifier, sql } from '../storage/sql.js';
import { stateBase } from './checkpoints.js';
import { columnsOfTables } from './columns.js';
import { type CommitFacts, copyComparison, setCommitFacts, viewComparison } from './comparison.js';
import { schemaFile } from './layout.js';
import { filesOf, type Marker, markersOf, newestMarkers, stateFileOf } from './markers.js';
import { makeSchemas } from './prepare.js';
import type { DataTable, Table } from './tables.js';

export const STATE_FORMAT = 'format parquet, compression zstd, row_group_size 20480';

/**
 * The state that follows a website's newest commit: its file, or null before the first commit. A missing or torn file is
 * made anew from the log, because a state is derived and nothing else.
 *
 * @param markers all of this website, oldest first
 */
export async function currentState(
  warehouse: string,
  markers: Marker[],
  engine: EngineOptions,
): Promise<string | null> {
  const newest = markers.at(-1);
  if (!newest) return null;
  const file = stateFileOf(warehouse, newest);
  if (!(await isWholeParquet(file))) await rebuildState(warehouse, markers, engine, file);
  return file;
}

/**
 * The state that follows each website's newest commit, for who only reads: one that is missing is made anew in
 * `options.temporary`.
 */
export async function statesSeen(
  warehouse: string,
  markers: readonly Marker[],
  options: EngineOptions,
): Promise<string[]> {
  const files: string[] = [];
  for (const newest of newestMarkers(markers)) {
    const file = stateFileOf(warehouse, newest);
    const isThere = await exists(file);
    files.push(isThere ? file : stateFileOf(options.temporary, newest));
    if (!isThere) await rebuildState(warehouse, markersOf(markers, newest.websiteId), options, files.at(-1) ?? file);
  }
  return files;
}

/**
 * Replays the log of a website, commit by commit, into the state that follows the last of these commits: from its
 * beginning, or from the newest checkpoint.
 *
 * @param markers all of this website, oldest first
 * @throws CheckpointError where the checkpoint that stands for deleted files is missing
 */
export async function rebuildState(
  warehouse: string,
  markers: Marker[],
  options: EngineOptions,
  target: string,
): Promise<void> {
  const { checkpoint, included } = await stateBase(warehouse, markers);
  await withEngine(options, async (engine) => {
    const replayed = new StateReplay(engine, warehouse, options.temporary);
    await replayed.prepare();
    let state = checkpoint;
    for (const [at, marker] of markers.entries()) {
      if (at < included) continue;
      const before: string | null = state;
      state = await replayed.follow(marker, markers.slice(0, at), before);
      if (before !== null && before !== checkpoint) await rm(before);
    }
    if (state === null) return;
    const made = state === checkpoint ? join(options.temporary, 'state.copy') : state;
    if (state === checkpoint) await copyFile(state, made);
    await makeFolder(dirname(target));
    await syncFile(made);
    await publish(made, target);
  });
}

/** What a state follows from: the views of `sql/stage`, and the tables whose files they read. */
const FOLLOWED = {
  now_coverage: 'coverage',
  now_url_reports: 'url_reports',
  now_report_failures: 'report_failures',
  now_rejected_records: 'rejected_records',
} as const satisfies Record<string, DataTable>;
const VIEWS: Readonly<Record<string, Table>> = { ...FOLLOWED, previous_state: 'page_state' };

/** Makes one state after the other: the views are made once, and read other files for each commit. */
class StateReplay {
  /** Whether the views are those for a replay; null before there are any. */
  #isForReplay: boolean | null = null;

  constructor(
    private readonly engine: Engine,
    private readonly warehouse: string,
    private readonly temporary: string,
  ) {}

  async prepare(): Promise<void> {
    // Each statement reads its files several times.
    await this.engine.run('set parquet_metadata_cache = true');
    await makeSchemas(this.engine, this.temporary);
  }

  /** @returns the file of the state after this commit, under a name that no other state had */
  async follow(marker: Marker, earlier: readonly Marker[], before: string | null): Promise<string> {
    const facts = factsOf(marker, earlier);
    await setCommitFacts(this.engine, facts);
    await this.#setFiles('previous_state', 'page_state', before === null ? [] : [before]);
    for (const [view, table] of Object.entries(FOLLOWED)) {
      await this.#setFiles(view, table, filesOf(this.warehouse, [marker], table));
    }
    if (this.#isForReplay !== facts.isReplay) await this.#view(facts);
    const file = join(this.temporary, `state.${marker.commitId}`);
    await copyComparison(this.engine, sql('stage/page_state'), { file, format: STATE_FORMAT, sortedBy: 'url' });
    return file;
  }

  #setFiles(view: string, table: Table, files: string[]): Promise<void> {
    return this.engine.set({ [`files_of_${view}`]: [schemaFile(this.temporary, table), ...files] });
  }

  async #view(facts: CommitFacts): Promise<void> {
    const columns = await columnsOfTables(this.engine);
    for (const [view, table] of Object.entries(VIEWS)) {
      // By name: DuckDB refuses a view whose files have other columns than when it was made.
      const names = (columns.get(table) ?? []).map(({ name }) => identifier(name)).join(', ');
      const files = `read_parquet(getvariable('files_of_${view}'), union_by_name = true, hive_partitioning = false)`;
      await this.engine.view(view, `select ${names} from ${files}`);
    }
    await viewComparison(this.engine, facts);
    this.#isForReplay = facts.isReplay;
  }
}

/** The facts of a commit that the log holds, given the ones before it. */
export function factsOf(marker: Marker, earlier: readonly Marker[]): CommitFacts {
  return {
    commitId: marker.commitId,
    snapshotId: marker.snapshotId,
    websiteId: marker.websiteId,
    snapshotAt: new Date(marker.snapshotAt),
    date: marker.date,
    listingComplete: marker.listingComplete,
    // What a replay holds was received with its snapshot, so only what came before that can lack the page.
    hadComplete: hasComplete(earlier.filter(({ commitId }) => commitId < marker.snapshotId)),
    isReplay: marker.kind === 'replay',
  };
}

export function hasComplete(markers: readonly Marker[]): boolean {
  return markers.some((marker) => marker.listingComplete);
}

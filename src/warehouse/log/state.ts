import { copyFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Failure } from '../../base/exit.js';
import { makeFolder, publishFile } from '../../base/storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { isWholeParquet } from '../../base/storage/parquet-file.js';
import { type DamagedFile, findDamaged, needing } from './folder/damage.js';
import { listTableFiles, tableFile, withOwnScratch } from './folder/layout.js';
import { tableQuery } from './folder/prepare.js';
import type { DataTable, Table } from './folder/tables.js';
import { filesOf, type Marker, markersOf, newestMarkers, stateFileOf } from './markers.js';
import { type CommitFacts, copyComparison, setCommitFacts, viewComparison } from './stage/comparison.js';

/**
 * The state file of a website's newest commit, or null before the first one. A missing or incomplete file is rebuilt from
 * the log.
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

/** Finds the state after each website's newest commit; does not rebuild those that are missing or cannot be read. */
export async function findStates(engine: Engine, { path, markers }: { path: string; markers: readonly Marker[] }) {
  const all = newestMarkers(markers).map((newest) => ({ newest, file: stateFileOf(path, newest) }));
  const files = all.map(({ file }) => file);
  const damaged = new Set((await findDamaged(engine, 'page_state', files)).map((file) => file.path));
  return {
    present: all.filter(({ file }) => !damaged.has(file)),
    lacking: all.filter(({ file }) => damaged.has(file)).map(({ newest }) => newest),
  };
}

/** How readers rebuild a state. */
export interface StateOptions extends EngineOptions {
  /** Called for each rebuilt state with its website and file. */
  onRebuilt?: ((websiteId: string, file: string) => void | Promise<void>) | undefined;
}

/**
 * The states of these websites. Those that are missing or damaged are rebuilt, and kept if the warehouse can be written.
 *
 * @param log all commits of each website
 * @throws DamageError if a file that a state is derived from cannot be read; CheckpointError if one is out of use
 */
export async function readStates(
  engine: Engine,
  log: { path: string; markers: readonly Marker[] },
  options: StateOptions,
): Promise<string[]> {
  const { present, lacking } = await findStates(engine, log);
  const files = present.map(({ file }) => file);
  for (const newest of lacking) {
    const { websiteId } = newest;
    const file = stateFileOf(options.temporary, newest);
    await rebuildState(log.path, markersOf(log.markers, websiteId), options, file);
    const kept = stateFileOf(log.path, newest);
    const isKept = await keepState(log.path, file, kept);
    await options.onRebuilt?.(websiteId, isKept ? kept : file);
    files.push(file);
  }
  return files;
}

async function damagedOf(engine: Engine, warehouse: string, markers: readonly Marker[]): Promise<DamagedFile[]> {
  const damaged: DamagedFile[] = [];
  for (const table of Object.values(FOLLOWED)) {
    damaged.push(...(await findDamaged(engine, table, filesOf(warehouse, markers, table))));
  }
  return damaged;
}

/** Copies the state into its place, completely or not at all. */
async function keepState(warehouse: string, made: string, target: string): Promise<boolean> {
  const keep = async (scratch: string) => {
    const temporary = join(scratch, 'state');
    await makeFolder(scratch);
    await copyFile(made, temporary);
    await publishFile(temporary, target, warehouse);
    return true;
  };
  // A read-only warehouse, or a full disk: the next reader rebuilds it again.
  return withOwnScratch(warehouse, keep).catch(() => false);
}

/**
 * Follows the log of a website, commit by commit, from its beginning or the newest checkpoint, to the state after the
 * last of these commits.
 *
 * @param markers all of this website, oldest first
 * @throws DamageError if one of their files cannot be read; CheckpointError where the checkpoint that stands for deleted
 *   files is missing
 */
export async function rebuildState(
  warehouse: string,
  markers: Marker[],
  options: EngineOptions,
  target: string,
  onCompared?: OnCompared,
): Promise<void> {
  const { checkpoint, included } = await stateBase(warehouse, markers);
  await withEngine(options, async (engine) => {
    const rebuilding = new StateRebuild(engine, warehouse, options.temporary);
    await rebuilding.prepare();
    let state = checkpoint;
    for (const [at, marker] of markers.entries()) {
      if (at < included) continue;
      const before: string | null = state;
      const find = () => damagedOf(engine, warehouse, markers.slice(included));
      state = await needing(find, () => rebuilding.follow(marker, markers.slice(0, at), before, onCompared));
      if (before !== null && before !== checkpoint) await rm(before);
    }
    if (state === null) return;
    const made = state === checkpoint ? join(options.temporary, 'state.copy') : state;
    if (state === checkpoint) await copyFile(state, made);
    const isOutside = relative(warehouse, target).startsWith('..');
    await publishFile(made, target, isOutside ? undefined : warehouse);
  });
}

/** Called for each commit with the file of the versions that it adds, as compared now; empty if it adds none. */
export type OnCompared = (marker: Marker, versions: string[]) => Promise<void>;

/** What a state is derived from: the views of `sql/warehouse/stage`, and the tables whose files they read. */
const FOLLOWED = {
  now_coverage: 'coverage',
  now_url_reports: 'url_reports',
  now_report_failures: 'report_failures',
  now_rejected_records: 'rejected_records',
} as const satisfies Record<string, DataTable>;
const VIEWS: Readonly<Record<string, Table>> = {
  ...FOLLOWED,
  previous_state: 'page_state',
};

/** Builds one state after another: the views are created once, and read other files for each commit. */
class StateRebuild {
  constructor(
    private readonly engine: Engine,
    private readonly warehouse: string,
    private readonly temporary: string,
  ) {}

  async prepare(): Promise<void> {
    // Each statement reads its files several times.
    await this.engine.run('set parquet_metadata_cache = true');
    for (const [view, table] of Object.entries(VIEWS)) await this.#view(view, table, []);
    await viewComparison(this.engine);
  }

  /** @returns the file of the state after this commit, under a name that no other state has used */
  async follow(
    marker: Marker,
    earlier: readonly Marker[],
    before: string | null,
    onCompared?: OnCompared,
  ): Promise<string> {
    const facts = factsOf(marker, earlier);
    await setCommitFacts(this.engine, facts);
    await this.#view('previous_state', 'page_state', before === null ? [] : [before]);
    for (const [view, table] of Object.entries(FOLLOWED)) {
      await this.#view(view, table, filesOf(this.warehouse, [marker], table));
    }
    const file = join(this.temporary, `state.${marker.snapshotId}`);
    if (!onCompared) {
      await copyComparison(this.engine, { state: file });
      return file;
    }
    const versions = join(this.temporary, 'versions');
    const rows = await copyComparison(this.engine, { state: file, versions });
    await onCompared(marker, rows.versions > 0 ? [versions] : []);
    return file;
  }

  #view(view: string, table: Table, files: string[]): Promise<void> {
    return this.engine.view(view, tableQuery(table, files));
  }
}

/** The facts of a commit that the log holds, given the ones before it. */
export function factsOf(marker: Marker, earlier: readonly Marker[]): CommitFacts {
  return {
    snapshotId: marker.snapshotId,
    websiteId: marker.websiteId,
    snapshotAt: new Date(marker.snapshotAt),
    date: marker.date,
    listingComplete: marker.listingComplete,
    hadComplete: hasComplete(earlier),
    byInspection: marker.byInspection,
  };
}

export function hasComplete(markers: readonly Marker[]): boolean {
  return markers.some((marker) => marker.listingComplete);
}

/** Files of the log are out of use, and no checkpoint replaces them. */
export class CheckpointError extends Failure {}

/**
 * `parquet/checkpoints/website=<id>/date=<date>/<snapshot_id>.parquet`: the state after that commit, kept in the log
 * because files that it is derived from were put out of use.
 */
export function checkpointFile(warehouse: string, { websiteId, date, snapshotId }: Marker): string {
  return tableFile(warehouse, 'checkpoints', { websiteId, date, id: snapshotId });
}

/**
 * What a website's state is built from: its newest intact checkpoint, or null, and how many of the markers that
 * includes.
 *
 * @param markers all of this website, oldest first
 * @throws CheckpointError if files of a later commit are out of use, so that the state cannot be built
 */
export async function stateBase(
  warehouse: string,
  markers: readonly Marker[],
): Promise<{ checkpoint: string | null; included: number }> {
  const there = new Set(await listTableFiles(warehouse, 'checkpoints'));
  const files = markers.map((marker) => checkpointFile(warehouse, marker));
  const isWhole = async (file: string) => there.has(file) && isWholeParquet(file);
  let included = markers.length;
  while (included > 0 && !(await isWhole(files[included - 1] ?? ''))) included--;
  const gone = markers.slice(included).find(({ dropped }) => Object.keys(dropped).length > 0);
  if (gone) {
    throw new CheckpointError(
      `the state of ${gone.websiteId} cannot be rebuilt from the log: \`indexhouse maintain\` removed its older files, ` +
        `and the checkpoint written for them is missing or damaged. Restore ` +
        `${warehouse}/parquet/checkpoints from a backup`,
    );
  }
  return { checkpoint: files[included - 1] ?? null, included };
}

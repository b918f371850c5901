import { copyFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, publish, syncFile } from '../storage/durable.js';
import { type EngineOptions, withEngine } from '../storage/engine.js';
import { isWholeParquet } from '../storage/parquet-file.js';
import { sql } from '../storage/sql.js';
import { stateBase } from './checkpoints.js';
import { type CommitFacts, copyComparison, setCommitFacts, viewComparison, viewPreviousState } from './comparison.js';
import { type Marker, stateFileOf, viewDataTables } from './markers.js';
import { makeSchemas } from './prepare.js';

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
  const [even, odd] = [join(options.temporary, 'state.even'), join(options.temporary, 'state.odd')];
  const { checkpoint, included } = await stateBase(warehouse, markers);
  await withEngine(options, async (engine) => {
    await makeSchemas(engine, options.temporary);
    let before: string | null = checkpoint;
    for (const [at, marker] of markers.entries()) {
      if (at < included) continue;
      const after = at % 2 === 0 ? even : odd;
      const facts = factsOf(marker, markers.slice(0, at));
      await setCommitFacts(engine, facts);
      await viewDataTables(engine, warehouse, [marker], { prefix: 'now_', schemas: options.temporary });
      await viewPreviousState(engine, options.temporary, before);
      await viewComparison(engine, facts);
      await copyComparison(engine, sql('stage/page_state'), { file: after, format: STATE_FORMAT, sortedBy: 'url' });
      before = after;
    }
    if (before === null) return;
    if (before === checkpoint) await copyFile(before, even);
    const made = before === checkpoint ? even : before;
    await makeFolder(dirname(target));
    await syncFile(made);
    await publish(made, target);
  });
  await Promise.all([even, odd].map((file) => rm(file, { force: true })));
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

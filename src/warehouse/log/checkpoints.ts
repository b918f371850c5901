import { Failure } from '../../base/exit.js';
import { isWholeParquet } from '../../base/storage/parquet-file.js';
import { listTableFiles, tableFile } from './folder/layout.js';
import type { Marker } from './markers.js';

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

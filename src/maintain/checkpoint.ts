import { basename, dirname, join } from 'node:path';
import { Failure } from '../exit.js';
import { crashPoint } from '../storage/crash-point.js';
import { exists, makeFolder, publish, sha256Of } from '../storage/durable.js';
import type { Engine, EngineOptions } from '../storage/engine.js';
import { encodeId } from '../storage/names.js';
import { columnsOf, rowsDiffer } from '../verify/same-rows.js';
import { checkpointFile } from '../warehouse/checkpoints.js';
import { dropSuperseded } from '../warehouse/commit.js';
import { listTableFiles } from '../warehouse/layout.js';
import type { Marker } from '../warehouse/markers.js';
import type { OpenWarehouse } from '../warehouse/open.js';
import { rebuildState } from '../warehouse/state.js';

/** The warehouse is not as it should be, so nothing was put out of use. */
export class MaintainError extends Failure {}

/** The state that a tombstone relies on. */
export interface Kept {
  /** The commit that it follows. */
  id: string;
  sha256: string;
}

/**
 * Keeps the state after a website's newest commit in the log, for good as far as anybody needs it: made from the log
 * while all of that is there, and only where it is what `state` holds.
 *
 * @param markers all of the website, oldest first; at least one
 * @param state the file of the current state
 * @throws MaintainError where the log gives another state
 */
export async function keepState(
  engine: Engine,
  log: OpenWarehouse,
  { markers, state, options }: { markers: Marker[]; state: string; options: EngineOptions },
): Promise<Kept> {
  const warehouse = log.path;
  const newest = markers.at(-1);
  if (!newest) throw new MaintainError('a website without a commit has no state to keep');
  const file = checkpointFile(warehouse, newest);
  const isThere = await exists(file);
  const made = isThere ? file : join(options.temporary, 'checkpoint.made');
  if (!isThere) await rebuildState(warehouse, markers, options, made);
  await engine.view('made', log.query('page_state', [made]));
  await engine.view('now', log.query('page_state', [state]));
  const differs = await rowsDiffer(engine, await columnsOf(engine, 'now'), 'made', 'now');
  if (differs) {
    throw new MaintainError(
      `${state} differs from the log: ${differs}. Nothing of ${newest.websiteId} was removed; ` +
        'run `indexhouse verify --repair` first',
    );
  }
  if (!isThere) {
    await makeFolder(dirname(file));
    await publish(made, file);
  }
  crashPoint('wrote the checkpoint');
  return { id: newest.commitId, sha256: await sha256Of(file) };
}

/** Deletes checkpoints that two newer ones follow, an hour after that: whoever has just begun may still read one. */
export async function dropOldCheckpoints(warehouse: string, websiteId: string, now: number): Promise<void> {
  const own = `website=${encodeId(websiteId)}`;
  const files = (await listTableFiles(warehouse, 'checkpoints'))
    .filter((file) => basename(dirname(dirname(file))) === own)
    .sort((a, b) => (basename(a) < basename(b) ? -1 : 1));
  await dropSuperseded(files, now);
}

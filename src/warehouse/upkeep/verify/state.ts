import { join } from 'node:path';
import { exists } from '../../../base/storage/durable.js';
import type { Engine, EngineOptions } from '../../../base/storage/engine.js';
import { whyNotParquet } from '../../../base/storage/parquet-file.js';
import { columnsOf, rowsDiffer } from '../../../base/storage/rows-differ.js';
import { firstLine } from '../../log/folder/damage.js';
import type { Log } from '../../log/log.js';
import { markersOf, newestMarkers, stateFileOf } from '../../log/markers.js';
import { rebuildState } from '../../log/state.js';

/** A website whose state differs from the one that its log gives. */
export interface WrongState {
  websiteId: string;
  file: string;
  /** `missing`: the next sync rebuilds it, because it is derived. */
  kind: 'missing' | 'different';
  message: string;
}

/** Rebuilds the state of each website from the log and compares the result with its state file. */
export async function checkStates(engine: Engine, log: Log, options: EngineOptions): Promise<WrongState[]> {
  const { path: warehouse, markers } = log;
  const wrong: WrongState[] = [];
  for (const newest of newestMarkers(markers)) {
    const { websiteId } = newest;
    const file = stateFileOf(warehouse, newest);
    if (!(await exists(file))) {
      wrong.push({ websiteId, file, kind: 'missing', message: `${file} is missing` });
      continue;
    }
    const rebuilt = join(options.temporary, 'state.rebuilt');
    await rebuildState(warehouse, markersOf(markers, websiteId), options, rebuilt);
    const torn = await whyNotParquet(file);
    const differs = torn ? `it ${torn}` : await stateDiffers(engine, log, file, rebuilt);
    if (differs)
      wrong.push({ websiteId, file, kind: 'different', message: `${file} differs from the log: ${differs}` });
  }
  return wrong;
}

/** Why a state differs; null if it does not. A file that cannot be read differs, too. */
async function stateDiffers(engine: Engine, log: Log, file: string, rebuilt: string): Promise<string | null> {
  try {
    await engine.view('state_rebuilt', log.query('page_state', [rebuilt]));
    await engine.view('state_now', log.query('page_state', [file]));
    return await rowsDiffer(engine, await columnsOf(engine, 'state_now'), 'state_rebuilt', 'state_now');
  } catch (error) {
    return firstLine(error);
  }
}

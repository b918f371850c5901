import { join } from 'node:path';
import { exists } from '../../../base/storage/durable.js';
import type { Engine, EngineOptions } from '../../../base/storage/engine.js';
import { whyNotParquet } from '../../../base/storage/parquet-file.js';
import { rowsDiffer } from '../../../base/storage/rows-differ.js';
import { firstLine } from '../../log/folder/damage.js';
import type { Table } from '../../log/folder/tables.js';
import type { Log } from '../../log/log.js';
import { filesOf, markersOf, newestMarkers, stateFileOf } from '../../log/markers.js';
import { copyVersions } from '../../log/stage/commit-files.js';
import { type OnCompared, rebuildState } from '../../log/state.js';

/** A website whose state, or whose versions of pages, differ from those that its log gives. */
export interface WrongState {
  websiteId: string;
  file: string;
  /** `missing`: the next sync rebuilds it, because it is derived. `written`: in the log itself. */
  kind: 'missing' | 'different' | 'written';
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
    const onCompared: OnCompared = async (comparing, marker, bounds) => {
      const made = join(options.temporary, 'versions.made');
      const rows = await copyVersions(comparing, made, bounds);
      const written = filesOf(warehouse, [marker], 'page_versions');
      const differs = await filesDiffer(engine, log, 'page_versions', written, rows > 0 ? [made] : []);
      const message = `${written[0] ?? marker.path}: page_versions differs from the log: ${differs}`;
      if (differs) wrong.push({ websiteId, file, kind: 'written', message });
    };
    await rebuildState(warehouse, markersOf(markers, websiteId), options, rebuilt, onCompared);
    const torn = await whyNotParquet(file);
    const differs = torn ? `it ${torn}` : await filesDiffer(engine, log, 'page_state', [file], [rebuilt]);
    if (differs)
      wrong.push({ websiteId, file, kind: 'different', message: `${file} differs from the log: ${differs}` });
  }
  return wrong;
}

/** Why files of a table differ from those made anew; null if they do not. Files that cannot be read differ, too. */
async function filesDiffer(
  engine: Engine,
  log: Log,
  table: Table,
  written: string[],
  made: string[],
): Promise<string | null> {
  try {
    await engine.view('made', log.query(table, made));
    await engine.view('written', log.query(table, written));
    return await rowsDiffer(engine, 'made', 'written');
  } catch (error) {
    return firstLine(error);
  }
}

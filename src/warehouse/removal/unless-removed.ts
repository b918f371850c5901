import { BusyError, messageOf } from '../../base/exit.js';
import { withEngine } from '../../base/storage/engine.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { DamageError } from '../log/folder/damage.js';
import { openLog } from '../log/log.js';
import { unfinishedRemoval } from './steps.js';

/** How DuckDB says that a file is not there. */
const MISSING = /No files found that match/;

/**
 * Why the log could not be read: the given error, or a BusyError if what it lacks is being removed, or was removed after
 * it was opened.
 */
export async function unlessRemoved(error: unknown, warehouse: string, memoryLimit: number): Promise<unknown> {
  if (!(error instanceof DamageError) && !MISSING.test(messageOf(error))) return error;
  const removal = await unfinishedRemoval(warehouse);
  if (removal?.removal) return new BusyError(`${removal.message}: try again soon; ${removal.remedy}`);
  const damaged = error instanceof DamageError ? error.damaged : [];
  const named = await withTemporary('removed', (temporary) =>
    withEngine({ memoryLimit, temporary }, async (engine) => {
      const log = await openLog(engine, warehouse, { temporary, index: 'at once' });
      return damaged.filter(({ table, path }) => table === 'page_state' || log.files(table).includes(path));
    }),
  );
  if (named.length > 0) return error;
  return new BusyError(`something was removed from ${warehouse} while it was read: try again`, { cause: error });
}

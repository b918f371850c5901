import { stat } from 'node:fs/promises';
import { withRemedy } from '../storage/disk-error.js';
import { ifThere } from '../storage/durable.js';
import { type EngineOptions, withEngine } from '../storage/engine.js';
import { lockHolder, probeLock, waitingForLock } from '../storage/locks.js';
import { warehouseFolder } from '../warehouse/layout.js';
import type { OpenWarehouse } from '../warehouse/open.js';
import { type FollowDuckdbInput, RETRY_INTERVAL_MS } from './duckdb.js';
import { countDroppable, readRetention } from './native-file.js';
import { followWithDuckdb, rebuildDuckdb } from './rebuild.js';

/** What was done to `indexhouse.duckdb`, under the names of `maintain --json`. */
export interface Shrunk {
  /** Rows of `coverage` and `url_reports` are kept from this date on; null: all of them. */
  retained_from: string | null;
  /** Rows that were dropped, or in a dry run would be dropped. */
  rows_dropped: number;
  /** Null if there is no file. */
  bytes_before: number | null;
  bytes_after: number | null;
  /** Why it could not be done; nothing is lost, and the next `maintain` tries again. */
  reason: string | null;
}

/**
 * Rebuilds `indexhouse.duckdb` without old rows and rows of files that retention removed, if it has any: deleting them
 * would not make the file smaller. Can be repeated after an interruption at any point. The caller holds the run lock.
 */
export async function shrinkDuckdb(
  input: FollowDuckdbInput & { retainedFrom: string | null },
  log: OpenWarehouse,
  options: EngineOptions,
): Promise<Shrunk> {
  const { rows_dropped, ...looked } = await lookAtShrinking(log, input, options);
  const given = { ...input, retainedFrom: looked.retained_from };
  const attempt = () => (rows_dropped > 0 ? rebuildDuckdb(given) : followWithDuckdb(given, log));
  const reason = await waitingForLock(attempt, { withinMs: input.lockTimeout, everyMs: RETRY_INTERVAL_MS }).then(
    (state) => state.reason ?? null,
    withRemedy,
  );
  const bytes_after = await bytesOf(log);
  return { ...looked, rows_dropped: reason === null ? rows_dropped : 0, bytes_after, reason };
}

/**
 * What `shrinkDuckdb` would do, read without writing to the warehouse.
 *
 * @param retainedFrom the date from which rows would be kept; null: all would be
 */
export async function lookAtShrinking(
  log: OpenWarehouse,
  { retainedFrom }: { retainedFrom: string | null },
  options: EngineOptions,
): Promise<Shrunk> {
  const file = warehouseFolder(log.path).database;
  const bytes_before = await bytesOf(log);
  const looked = { retained_from: retainedFrom, rows_dropped: 0, bytes_before, bytes_after: null };
  if (bytes_before === null) return { ...looked, reason: null };
  try {
    const held = await probeLock(file);
    const [kept, rows_dropped] = await withEngine({ ...options, file, readOnly: true }, async (engine) => {
      const dates = [retainedFrom, await readRetention(engine)].filter((date) => date !== null).sort();
      return [dates.at(-1) ?? null, await countDroppable(engine, log, dates.at(-1) ?? null)] as const;
    });
    return { ...looked, retained_from: kept, rows_dropped, reason: held && heldBy(held.holder) };
  } catch (error) {
    const holder = lockHolder(error);
    return { ...looked, reason: holder ? heldBy(holder) : withRemedy(error) };
  }
}

function heldBy(holder: string): string {
  return `${holder} has indexhouse.duckdb open: close it there and run \`indexhouse maintain\` again`;
}

/** The size of the file; null if there is none. Uses `stat`: opening a database file would release its lock. */
async function bytesOf({ path }: OpenWarehouse): Promise<number | null> {
  return (await ifThere(stat(warehouseFolder(path).database), null))?.size ?? null;
}

import { rebuildDuckdb } from '../followers/rebuild.js';
import { retainedFrom } from '../warehouse/dates.js';
import { RunLock } from '../warehouse/lock.js';
import { checkWarehouseThere, prepareWarehouse } from '../warehouse/prepare.js';
import { configOf } from './configured.js';
import { EXIT, type Io } from './io.js';
import { formatJson } from './output.js';
import type { Globals } from './program.js';

/** `indexhouse rebuild`: rebuilds `indexhouse.duckdb` from the Parquet files. */
export async function run(flags: Globals, io: Io): Promise<number> {
  const config = await configOf(flags, io, { withoutTokens: true });
  const { path: warehouse, memory_limit: memoryLimit, time_zone: timeZone } = config.warehouse;
  await checkWarehouseThere(warehouse);
  const lock = await RunLock.take(warehouse, 'rebuild');
  try {
    // A copy of only the Parquet files lacks what is derived from the schema.
    await prepareWarehouse(warehouse, timeZone, memoryLimit);
    const state = await rebuildDuckdb({ warehouse, memoryLimit, retainedFrom: retainedFrom(config, Date.now()) });
    const done = `Rebuilt indexhouse.duckdb${state.reason ? `, but: ${state.reason}` : ''}\n`;
    io.stdout.write(flags.json ? formatJson(state) : done);
    return state.behind > 0 ? EXIT.warnings : EXIT.done;
  } finally {
    lock.release();
  }
}

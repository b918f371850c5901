import type { Command } from 'commander';
import { configOf, EXIT, flagsOf, type Globals, newCommand, type Outcome } from './command.js';

const HELP = `
The Parquet files are the truth; indexhouse.duckdb only follows them, so it can be made anew at any time. The old file is
replaced when the new one is whole.

Example:
  indexhouse rebuild`;

/** `indexhouse rebuild`: makes `indexhouse.duckdb` anew from the Parquet files. */
export function rebuildCommand(outcome: Outcome): Command {
  return newCommand('rebuild', 'make indexhouse.duckdb anew from the Parquet files')
    .addHelpText('after', HELP)
    .action(async (_: Globals, command: Command) => {
      outcome.exitCode = await rebuild(flagsOf<Globals>(command));
    });
}

async function rebuild(flags: Globals): Promise<number> {
  const [{ rebuildDuckdb }, { RunLock }, { checkWarehouseThere, prepareWarehouse }, { retainedFrom }, { formatJson }] =
    await Promise.all([
      import('../followers/rebuild.js'),
      import('../run/lock.js'),
      import('../warehouse/prepare.js'),
      import('../maintain/dates.js'),
      import('./output.js'),
    ]);
  const config = await configOf(flags, { withoutTokens: true });
  const { path: warehouse, memory_limit: memoryLimit, time_zone: timeZone } = config.warehouse;
  await checkWarehouseThere(warehouse);
  const lock = await RunLock.take(warehouse, 'rebuild');
  try {
    // A copy of the Parquet files alone lacks what is derived from the schema.
    await prepareWarehouse(warehouse, timeZone, memoryLimit);
    const state = await rebuildDuckdb({ warehouse, memoryLimit, retainedFrom: retainedFrom(config, Date.now()) });
    const done = `Made indexhouse.duckdb anew${state.reason ? `, but: ${state.reason}` : ''}\n`;
    process.stdout.write(flags.json ? `${formatJson(state)}\n` : done);
    return state.behind > 0 ? EXIT.look : EXIT.done;
  } finally {
    lock.release();
  }
}

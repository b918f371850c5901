#!/usr/bin/env node
import { CommanderError } from 'commander';
import { EXIT, type Outcome, packageVersion } from './command.js';
import { buildProgram } from './program.js';

/** Errors by the name of their class, so that the modules that throw them need not be loaded to print help. */
const EXIT_CODE_OF: Readonly<Record<string, number>> = {
  ConfigError: EXIT.usage,
  KeyError: EXIT.usage,
  UsageError: EXIT.usage,
  WarehouseError: EXIT.usage,
  BusyError: EXIT.busy,
  Stopped: 130,
};

async function main(): Promise<number> {
  const outcome: Outcome = { exitCode: EXIT.done };
  try {
    await buildProgram(await packageVersion(), outcome).parseAsync();
    return outcome.exitCode;
  } catch (error) {
    return await explain(error);
  }
}

/** Says on stderr what went wrong, and gives the exit code for it. */
async function explain(error: unknown): Promise<number> {
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const [{ safeLines }, { withRemedy }] = await Promise.all([
    import('../observe/terminal.js'),
    import('../storage/disk-error.js'),
  ]);
  const name = error instanceof Error ? error.name : '';
  const message = withRemedy(error);
  process.stderr.write(`${safeLines(`indexhouse: ${message}`)}\n`);
  if (process.env['INDEXHOUSE_DEBUG'] && error instanceof Error)
    process.stderr.write(`${safeLines(error.stack ?? '')}\n`);
  return EXIT_CODE_OF[name] ?? EXIT.failed;
}

// A reader that closes early (`| head`) has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.done);
  throw error;
});
process.exitCode = await main();

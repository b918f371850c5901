#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { EXIT, type Outcome, packageVersion, withGlobals } from './command.js';
import { doctorCommand } from './doctor.js';
import { initCommand } from './init.js';
import { queryCommand } from './query.js';
import { scheduleCommand } from './schedule.js';
import { simulateCommand } from './simulate.js';
import { statusCommand } from './status.js';
import { syncCommand } from './sync.js';

const HELP = `
Exit codes: 0 done; 1 failed; 2 usage or configuration; 3 done, but look; 4 another process holds the run lock.

Begin with:
  indexhouse demo        try everything against a simulated service
  indexhouse init        write a configuration`;

/** Errors by the name of their class, so that the modules that throw them need not be loaded to print help. */
const EXIT_CODE_OF: Readonly<Record<string, number>> = {
  ConfigError: EXIT.usage,
  UsageError: EXIT.usage,
  WarehouseError: EXIT.usage,
  BusyError: EXIT.busy,
  Stopped: 130,
};

async function main(): Promise<number> {
  const outcome: Outcome = { exitCode: EXIT.done };
  const program = withGlobals(new Command('indexhouse'))
    .description('a warehouse of how a search engine indexes your pages')
    .version(await packageVersion(), '-V, --version')
    .addHelpText('after', HELP)
    .exitOverride();
  const commands = [
    initCommand(),
    doctorCommand(outcome),
    syncCommand(outcome),
    scheduleCommand(outcome),
    statusCommand(outcome),
    queryCommand(outcome),
    simulateCommand(),
  ];
  for (const command of commands) program.addCommand(command.exitOverride());
  try {
    await program.parseAsync();
    return outcome.exitCode;
  } catch (error) {
    return await explain(error);
  }
}

/** Says on stderr what went wrong, and gives the exit code for it. */
async function explain(error: unknown): Promise<number> {
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const { safeLines } = await import('../observe/terminal.js');
  const name = error instanceof Error ? error.name : '';
  const message = error instanceof Error ? error.message : String(error);
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

import { Command, CommanderError, Option } from 'commander';
import { packageVersion } from '../../base/version.js';
import { answerCommands } from './flags/answers.js';
import { runCommands } from './flags/runs.js';
import { upkeepCommands } from './flags/upkeep.js';
import { type Define, EXIT, type Io, terminalWidth } from './io.js';

const HELP = `
Exit codes: 0 done; 1 failed; 2 usage or configuration; 3 completed with warnings; 4 another process holds the run lock.

Begin with:
  indexhouse demo        try everything against a simulated service
  indexhouse init        write a configuration`;

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Runs one command line and returns its exit code; errors are printed on stderr. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  const outcome = { exitCode: EXIT.done as number };
  try {
    await buildProgram(await packageVersion(), io, outcome).parseAsync(args, { from: 'user' });
    return outcome.exitCode;
  } catch (error) {
    return await explain(error, io);
  }
}

/** The whole command line. A command leaves its exit code in `outcome`. */
export function buildProgram(version: string, io: Io, outcome: { exitCode: number }): Command {
  const define: Define = (name, load) => {
    const command = withGlobals(new Command(name));
    if (!load) return command;
    return command.action(async () => {
      const { run } = await load();
      outcome.exitCode = await run(command.optsWithGlobals(), io, command.args);
    });
  };
  const program = withGlobals(new Command('indexhouse'))
    .description('a warehouse of how a search engine indexes your pages')
    .version(version, '-V, --version')
    .addHelpText('after', HELP);
  const groups = [runCommands, answerCommands, upkeepCommands];
  for (const command of groups.flatMap((group) => group(define))) program.addCommand(command);
  forEachCommand(program, (command) =>
    command.exitOverride().configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => terminalWidth(io.stdout),
      getErrHelpWidth: () => terminalWidth(io.stderr),
    }),
  );
  return program;
}

function withGlobals(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration file (default: indexhouse.yaml)')
    .option('--json', 'print one JSON document to stdout')
    .addOption(new Option('--log-level <level>', 'how much to log to stderr (default: info)').choices(LEVELS));
}

function forEachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) forEachCommand(child, visit);
}

/** Prints an error on stderr, and returns its exit code. */
async function explain(error: unknown, { stderr, env }: Io): Promise<number> {
  // Commander has printed it.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const [{ safeLines }, { withRemedy }, { Failure, UsageError }] = await Promise.all([
    import('../../base/observe/terminal.js'),
    import('../../base/storage/disk-error.js'),
    import('../../base/exit.js'),
  ]);
  // A wrong request has a remedy of its own, also for a file that cannot be read.
  const text = error instanceof UsageError ? error.message : withRemedy(error);
  stderr.write(`${safeLines(`indexhouse: ${text}`)}\n`);
  if (env['INDEXHOUSE_DEBUG'] && error instanceof Error) stderr.write(`${safeLines(error.stack ?? '')}\n`);
  return error instanceof Failure ? error.exitCode : EXIT.failed;
}

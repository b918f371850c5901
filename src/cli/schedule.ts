import type { Command } from 'commander';
import type { JobContext } from '../schedule/job.js';
import {
  configOf,
  EXIT,
  flagsOf,
  type Globals,
  newCommand,
  type Outcome,
  packageVersion,
  secretsOf,
  UsageError,
} from './command.js';
import { stopSignal } from './signals.js';

const EXAMPLES = `
Examples:
  indexhouse schedule                      run until stopped; each job on its time under \`schedule\`
  indexhouse schedule --once nightly-sync  run a job now, as the daemon would, and exit with its exit code

SIGTERM or Ctrl-C stops it cleanly: a sync that runs leaves a journal, and the next one goes on from there.`;

interface Flags extends Globals {
  once?: string;
}

/** `indexhouse schedule`: the daemon. */
export function scheduleCommand(outcome: Outcome): Command {
  return newCommand('schedule', 'the daemon: run each job on its time')
    .option('--once <job>', 'run this job now and exit')
    .addHelpText('after', EXAMPLES)
    .action(async (_: Flags, command: Command) => {
      outcome.exitCode = await runSchedule(flagsOf<Flags>(command));
    });
}

async function runSchedule(flags: Flags): Promise<number> {
  const config = await configOf(flags);
  const [{ timetable }, { createLogger }] = await Promise.all([
    import('../schedule/timetable.js'),
    import('../observe/log.js'),
  ]);
  const jobs = timetable(config);
  const log = createLogger({ level: flags.logLevel ?? 'info', secrets: secretsOf(config) });
  const { signal, release } = stopSignal();
  const context: JobContext = { config, version: await packageVersion(), log, signal };
  try {
    if (flags.once !== undefined) return await runOnce(flags.once, context);
    const { runDaemon } = await import('../schedule/daemon.js');
    await runDaemon({ ...context, jobs, timeZone: config.schedule.time_zone });
    return EXIT.done;
  } finally {
    release();
  }
}

async function runOnce(name: string, context: JobContext): Promise<number> {
  const { jobNamed, whichJobs } = await import('../schedule/timetable.js');
  const job = jobNamed(name);
  if (!job) throw new UsageError(`--once ${name} is not a job. ${whichJobs(name)}`);
  return job.run(context);
}

import { UsageError } from '../exit.js';
import { tell } from '../notify/notify.js';
import { runDaemon } from '../schedule/daemon.js';
import type { JobContext } from '../schedule/job.js';
import { jobNamed, timetable, whichJobs } from '../schedule/timetable.js';
import { configOf, loggerOf } from './configured.js';
import { EXIT, type Io, stoppable } from './io.js';
import type { Globals } from './program.js';
import { packageVersion } from './version.js';

export interface Flags extends Globals {
  once?: string;
}

/** `indexhouse schedule`: the daemon. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const config = await configOf(flags, io);
  const jobs = timetable(config);
  const version = await packageVersion();
  return stoppable(io, async (signal) => {
    const context: JobContext = { config, version, log: loggerOf(flags, io, config), signal };
    if (flags.once !== undefined) return runOnce(flags.once, context);
    // A night that nobody ran is told as well, and what a channel did not take is told again.
    await runDaemon({ ...context, jobs, hourly: () => tell(context) });
    return EXIT.done;
  });
}

async function runOnce(name: string, context: JobContext): Promise<number> {
  const job = jobNamed(name);
  if (!job) throw new UsageError(`--once ${name} is not a job. ${whichJobs(name)}`);
  return job.run(context);
}

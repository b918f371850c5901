import { makeFolder } from '../../../base/storage/durable.js';
import { packageVersion } from '../../../base/version.js';
import { warehouseFolder } from '../../../warehouse/log/folder/layout.js';
import { RunLock } from '../../../warehouse/log/lock.js';
import { JOBS, JobBoard, runDaemon, runRecorded, timetable } from '../../daemon/daemon.js';
import type { JobName } from '../../daemon/job.js';
import { sendNotices } from '../../notify/notify.js';
import { configOf, loggerOf } from '../configured.js';
import { EXIT, type Globals, type Io, stoppable } from '../io.js';

export interface Flags extends Globals {
  once?: JobName;
}

/** `indexhouse schedule`: the daemon. */
export async function run(flags: Flags, io: Io): Promise<number> {
  // Also if the configuration leaves it out, because the daemon has one.
  const config = { ...(await configOf(flags, io)), hasSchedule: true };
  const jobs = timetable(config);
  const version = await packageVersion();
  return stoppable(io, async (signal) => {
    const logger = loggerOf(flags, io, config);
    const context = { config, version, logger, signal, board: await JobBoard.open(config.warehouse.path, logger) };
    if (flags.once !== undefined) return runRecorded({ name: flags.once, job: JOBS[flags.once] }, context);
    const lock = await daemonLock(config.warehouse.path);
    try {
      await runDaemon({ ...context, jobs, hourly: () => sendNotices(context) });
    } finally {
      lock.release();
    }
    return EXIT.done;
  });
}

/** @throws BusyError if a daemon runs already: two would run each job twice, and overwrite each other's `jobs.json` */
async function daemonLock(warehouse: string): Promise<RunLock> {
  await makeFolder(warehouse);
  return RunLock.take(warehouse, 'a second `indexhouse schedule`', warehouseFolder(warehouse).scheduleLock);
}

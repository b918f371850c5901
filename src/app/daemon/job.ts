import type { Config } from '../../base/config/schema.js';
import type { Logger } from '../../base/observe/log.js';

/** Every job, by the key under `schedule` that sets its time. */
export const JOB_NAMES = ['nightly-sync', 'maintain', 'verify', 'report'] as const;
export type JobName = (typeof JOB_NAMES)[number];

/** What a job is given to run with. */
export interface JobContext {
  config: Config;
  /** Of this package; recorded with each snapshot. */
  version: string;
  logger: Logger;
  /** Fires when the process has to stop: the job ends soon, and throws `Stopped` if it is not done. */
  signal: AbortSignal;
}

/** What the daemon runs at the times that `schedule.<name>` sets. */
export interface Job {
  /** Runs once, and returns the exit code that its command would have. The daemon logs errors. */
  run(context: JobContext): Promise<number>;
  /** Whether it takes the run lock: such jobs wait for each other. */
  writes?: true;
  /** When it last started, in milliseconds since 1970, if the warehouse records that for this job. */
  lastBegun?(config: Config): Promise<number | null>;
  /** Whether an interrupted run of it can be resumed. */
  isUnfinished?(config: Config): Promise<boolean>;
}

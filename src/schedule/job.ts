import type { Config } from '../config/schema.js';
import type { Logger } from '../observe/log.js';

/** What a job is given to run with. */
export interface JobContext {
  config: Config;
  /** Of this package; recorded with each snapshot. */
  version: string;
  log: Logger;
  /** Fires when the process has to stop: the job ends soon, and throws `Stopped` if it is not done. */
  signal: AbortSignal;
}

/** Something that the daemon runs on its time. */
export interface Job {
  /** The key under `schedule` that sets its time: lower case with hyphens. */
  name: string;
  /** One line, for lists of jobs. */
  description: string;
  /** A cron expression of five fields; in effect where the configuration says nothing. */
  defaultCron: string;
  /** Runs once and returns the exit code of the same command. The daemon logs errors. */
  run(context: JobContext): Promise<number>;
}

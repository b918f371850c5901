import { messageOf } from '../../base/exit.js';
import type { Logger } from '../../base/observe/log.js';
import { makeFolder } from '../../base/storage/durable.js';
import { writeJson } from '../../base/storage/json-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import { type Jobs, readJobs } from '../../warehouse/upkeep/jobs.js';

/**
 * When each job last began and how it ended, kept in a small file in the warehouse folder, so that a restarted daemon
 * knows what it missed, and `status` what failed. If the file cannot be written, a warning is logged.
 */
export class JobBoard {
  #written: Promise<void> = Promise.resolve();

  /** @param warehouse where it is recorded; null: nowhere */
  constructor(
    private readonly warehouse: string | null,
    private readonly logger: Logger,
    private readonly jobs: Jobs = {},
  ) {}

  static async open(warehouse: string, logger: Logger): Promise<JobBoard> {
    return new JobBoard(warehouse, logger, await readJobs(warehouse));
  }

  /** Records the start before the job does anything, so that one that crashes the process is not started repeatedly. */
  begun(name: string): Promise<void> {
    return this.#record(name, { begun_at: new Date().toISOString(), exit_code: null });
  }

  ended(name: string, exit_code: number): Promise<void> {
    return this.#record(name, { begun_at: new Date().toISOString(), ...this.jobs[name], exit_code });
  }

  #record(name: string, job: Jobs[string]): Promise<void> {
    this.jobs[name] = job;
    this.#written = this.#written.then(() => this.#write(this.warehouse));
    return this.#written;
  }

  /** When a job last began, in milliseconds since 1970; null if it never did. */
  lastBegun(name: string): number | null {
    const { [name]: job } = this.jobs;
    return job === undefined ? null : Date.parse(job.begun_at);
  }

  async #write(warehouse: string | null): Promise<void> {
    if (warehouse === null) return;
    try {
      await makeFolder(warehouse);
      await writeJson(warehouseFolder(warehouse).jobs, this.jobs);
    } catch (error) {
      this.logger.warn(`cannot record when jobs ran: ${messageOf(error)}`);
    }
  }
}

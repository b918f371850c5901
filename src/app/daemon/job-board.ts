import { z } from 'zod';
import { messageOf } from '../../base/exit.js';
import type { Logger } from '../../base/observe/log.js';
import { makeFolder } from '../../base/storage/durable.js';
import { readJson, writeJson } from '../../base/storage/json-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';

const time = z.iso.datetime();
const stored = z.record(
  z.string(),
  z.object({ begun_at: time, ended_at: time.nullable(), exit_code: z.int().nullable() }),
);

/** The last run of a job, whose exit code is that of the one before until it has ended. Times are ISO 8601. */
export type JobRecord = z.infer<typeof stored>[string];

/** How a job is doing. */
export interface JobFigures {
  name: string;
  isRunning: boolean;
  /** Its last run, or the current one; null before the first. */
  last: JobRecord | null;
  next: Date | null;
}

/**
 * When each job last started and how it ended, kept in a small file in the warehouse folder, so that a restarted daemon
 * knows what it missed. If the file cannot be written, a warning is logged.
 */
export class JobBoard {
  readonly #running = new Set<string>();
  readonly #next = new Map<string, Date>();
  #written: Promise<void> = Promise.resolve();

  /** @param warehouse where it is recorded; null: nowhere */
  constructor(
    private readonly warehouse: string | null,
    private readonly logger: Logger,
    private readonly last: Record<string, JobRecord> = {},
  ) {}

  /** A file that cannot be read counts as missing. */
  static async open(warehouse: string, logger: Logger): Promise<JobBoard> {
    const last = await readJson(warehouseFolder(warehouse).jobs, stored).catch(() => null);
    return new JobBoard(warehouse, logger, last ?? {});
  }

  /** Records the start before the job does anything, so that one that crashes the process is not started repeatedly. */
  begun(name: string): Promise<void> {
    this.#running.add(name);
    const exit_code = this.last[name]?.exit_code ?? null;
    this.last[name] = { begun_at: new Date().toISOString(), ended_at: null, exit_code };
    return this.#write();
  }

  /** @param exitCode as of the job's command */
  ended(name: string, exitCode: number): Promise<void> {
    this.#running.delete(name);
    const begun = this.last[name];
    if (begun) this.last[name] = { ...begun, ended_at: new Date().toISOString(), exit_code: exitCode };
    return this.#write();
  }

  setNext(name: string, at: Date | null): void {
    if (at) this.#next.set(name, at);
    else this.#next.delete(name);
  }

  figuresOf(name: string): JobFigures {
    const { [name]: last = null } = this.last;
    return { name, isRunning: this.#running.has(name), last, next: this.#next.get(name) ?? null };
  }

  /** Queues the writes, because they share a temporary file. */
  #write(): Promise<void> {
    const warehouse = this.warehouse;
    if (warehouse === null) return this.#written;
    this.#written = this.#written.then(async () => {
      try {
        await makeFolder(warehouse);
        await writeJson(warehouseFolder(warehouse).jobs, this.last);
      } catch (error) {
        this.logger.warn(`cannot record when jobs ran: ${messageOf(error)}`);
      }
    });
    return this.#written;
  }
}

import { z } from 'zod';
import { messageOf } from '../../base/exit.js';
import type { Logger } from '../../base/observe/log.js';
import { makeFolder } from '../../base/storage/durable.js';
import { readJson, writeJson } from '../../base/storage/json-file.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';

/** When each job last began, ISO 8601. */
const stored = z.record(z.string(), z.iso.datetime());

/**
 * When each job last began, kept in a small file in the warehouse folder, so that a restarted daemon knows what it missed.
 * If the file cannot be written, a warning is logged.
 */
export class JobBoard {
  #written: Promise<void> = Promise.resolve();

  /** @param warehouse where it is recorded; null: nowhere */
  constructor(
    private readonly warehouse: string | null,
    private readonly logger: Logger,
    private readonly begunAt: z.infer<typeof stored> = {},
  ) {}

  /** A file that cannot be read counts as missing. */
  static async open(warehouse: string, logger: Logger): Promise<JobBoard> {
    const begunAt = await readJson(warehouseFolder(warehouse).jobs, stored).catch(() => null);
    return new JobBoard(warehouse, logger, begunAt ?? {});
  }

  /** Records the start before the job does anything, so that one that crashes the process is not started repeatedly. */
  begun(name: string): Promise<void> {
    this.begunAt[name] = new Date().toISOString();
    // One write after the other, because they share a temporary file.
    this.#written = this.#written.then(() => this.#write(this.warehouse));
    return this.#written;
  }

  /** When a job last began, in milliseconds since 1970; null if it never did. */
  lastBegun(name: string): number | null {
    const { [name]: at } = this.begunAt;
    return at === undefined ? null : Date.parse(at);
  }

  async #write(warehouse: string | null): Promise<void> {
    if (warehouse === null) return;
    try {
      await makeFolder(warehouse);
      await writeJson(warehouseFolder(warehouse).jobs, this.begunAt);
    } catch (error) {
      this.logger.warn(`cannot record when jobs ran: ${messageOf(error)}`);
    }
  }
}

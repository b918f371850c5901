import { DuckDBInstance } from '@duckdb/node-api';
import { lockHolder } from '../storage/lock-holder.js';
import { warehouseFolder } from '../warehouse/layout.js';

/** Another process holds the run lock of this warehouse. */
export class BusyError extends Error {
  override name = 'BusyError';
}

const held = new Map<string, RunLock>();

/**
 * The right to write to a warehouse. It is an open DuckDB file, so the kernel frees it when the process dies, however
 * it dies. One object per process holds it: a second open in the same process would succeed, and its close would
 * free the lock of the first.
 */
export class RunLock {
  private constructor(
    private readonly path: string,
    private readonly instance: DuckDBInstance,
  ) {}

  /**
   * @param what the command that wants it, for the message
   * @throws BusyError naming the process that holds it
   */
  static async take(warehouse: string, what: string): Promise<RunLock> {
    const path = warehouseFolder(warehouse).lock;
    if (held.has(path)) throw new BusyError(`${what} is already under way in this process`);
    try {
      const lock = new RunLock(path, await DuckDBInstance.create(path, { memory_limit: '64MB', threads: '1' }));
      held.set(path, lock);
      return lock;
    } catch (cause) {
      const holder = lockHolder(cause);
      if (holder === null) throw new Error(`cannot open the run lock ${path}: ${messageOf(cause)}`, { cause });
      throw new BusyError(
        `${what} cannot start: ${holder} is working on ${warehouse}. Wait for it to end; ` +
          'if it died, its lock is already gone, so it is alive',
        { cause },
      );
    }
  }

  release(): void {
    held.delete(this.path);
    this.instance.closeSync();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DuckDBInstance } from '@duckdb/node-api';
import { BusyError, Failure, messageOf } from '../../base/exit.js';
import { diskRemedy } from '../../base/storage/disk-error.js';
import { duckdb } from '../../base/storage/duckdb.js';
import { codeOf, exists } from '../../base/storage/durable.js';
import { lockHolder, waitingForLock, whyNoLocks } from '../../base/storage/locks.js';
import { checkAreFiles, checkWithin } from '../../base/storage/only-files.js';
import { finishRemoval } from '../removal/steps.js';
import { checkPlaces, dropScratch, scratchFolder, warehouseFolder } from './folder/layout.js';

/** `status` and `doctor` may have the file open for a moment, to find out who holds it. */
const SECOND_TRY = { withinMs: 200, everyMs: 200 };
/** A note holds the lock for as long as the followers need to take it. */
const WAIT_FOR_NOTE = { withinMs: 5000, everyMs: 250 };

const held = new Set<string>();

/**
 * The right to write to a warehouse. It is an open DuckDB file, so the kernel releases it when the process dies for any
 * reason. One object per process holds it: a second open in the same process would succeed, and its close would free
 * the lock of the first.
 */
export class RunLock {
  private constructor(
    private readonly path: string,
    private readonly instance: DuckDBInstance,
    /** The folder that belongs to the lock of the log; null for another lock. */
    private readonly scratch: string | null,
  ) {}

  /**
   * Takes the lock. Whoever gets that of the log finishes an interrupted removal first, and has the scratch folder until
   * the release.
   *
   * @param what the command that takes it, for the message
   * @param path of the lock, if it protects something other than the log
   * @param tries how long it waits for another process
   * @throws BusyError naming the process that holds it; Failure for a link where only its own files may be
   */
  static async take(
    warehouse: string,
    what: string,
    path = warehouseFolder(warehouse).lock,
    tries = SECOND_TRY,
  ): Promise<RunLock> {
    const lock = await RunLock.#open(warehouse, what, path, tries);
    try {
      if (lock.scratch !== null) {
        await dropScratch(warehouse);
        checkPlaces(warehouse);
        await finishRemoval(warehouse);
      }
      return lock;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  static async #open(warehouse: string, what: string, path: string, tries: typeof SECOND_TRY): Promise<RunLock> {
    const spills = dirname(scratchFolder(warehouse));
    for (const file of [path, `${path}.wal`, spills]) checkWithin(warehouse, file);
    checkAreFiles([path]);
    if (held.has(path)) throw new BusyError(`${what} cannot start: another run is in progress in this process`);
    // Before the first await, because two jobs of one process may try at the same time.
    held.add(path);
    try {
      if (!(await exists(path))) await makeWhole(path);
      const scratch = path === warehouseFolder(warehouse).lock ? scratchFolder(warehouse) : null;
      const instance = await waitingForLock(() => duckdb.DuckDBInstance.create(path, OPTIONS), tries);
      return new RunLock(path, instance, scratch);
    } catch (cause) {
      held.delete(path);
      const lockless = await whyNoLocks(dirname(path));
      if (lockless) throw new Failure(`${what} cannot start: ${lockless.join('. ')}`, { cause });
      const holder = lockHolder(cause);
      if (holder === null) throw cannotOpen(path, cause);
      throw new BusyError(
        `${what} cannot start: ${holder} is working on ${warehouse}. Wait for it to end; ` +
          'the lock of a dead process is released, so it is still running',
        { cause },
      );
    }
  }

  release(): void {
    try {
      if (this.scratch !== null) rmSync(this.scratch, { recursive: true, force: true });
    } finally {
      held.delete(this.path);
      this.instance.closeSync();
    }
  }
}

/** Does work with the run lock held, and waits for it as long as a note may take. @throws BusyError */
export async function withRunLock<T>(warehouse: string, what: string, work: () => Promise<T>): Promise<T> {
  const lock = await RunLock.take(warehouse, what, warehouseFolder(warehouse).lock, WAIT_FOR_NOTE);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

const OPTIONS = { memory_limit: '64MB', threads: '1' };

/**
 * Creates the file under another name first: DuckDB refuses an empty or half-written one, so a crash or a full disk at
 * this moment would block the warehouse for good.
 */
async function makeWhole(path: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    (await duckdb.DuckDBInstance.create(temporary, OPTIONS)).closeSync();
    await linkOnce(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Never replaces the file: another process may have created it meanwhile, and hold it. */
async function linkOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (await exists(to)) return;
    // The file system has no hard links.
    if (!['', 'ENOSPC'].includes(codeOf(error))) return rename(from, to);
    throw error;
  }
}

function cannotOpen(path: string, cause: unknown): Error {
  const message = messageOf(cause);
  const remedy = diskRemedy(cause) ?? 'The file holds no data: if it is damaged, delete it and try again';
  return new Error(`cannot open the run lock ${path}: ${message}. ${remedy}`, { cause });
}

import { randomUUID } from 'node:crypto';
import { readFile, realpath, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BusyError, messageOf } from '../exit.js';
import { duckdb } from './duckdb.js';
import { exists } from './durable.js';
import { withEngine } from './engine.js';
import { withTemporary } from './temporary.js';

const PROBE_MEMORY_BYTES = 64_000_000;
/** `1: POSIX  ADVISORY  WRITE 12412 fe:00:9978528 0 EOF`; the device is hexadecimal. */
const LOCK_LINE = /^\d+: POSIX +\w+ +(READ|WRITE) +(\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) /gm;

/** Who has a DuckDB file open. */
export interface LockHolder {
  /** Null if the system does not say. */
  process_id: number | null;
  /** `process 4711 on host` */
  holder: string;
  /** `write`: nobody else can open the file; `read`: nobody can open it for writing. */
  access: 'read' | 'write';
}

/**
 * Who holds a DuckDB file; null if nobody does or there is no such file. Writes nothing. If the system does not list
 * its locks, this opens the file for reading for a moment, and cannot detect a holder that only reads.
 *
 * Never call this in the process that holds the file itself, because that would release its lock.
 */
export async function probeLock(file: string): Promise<LockHolder | null> {
  if (!(await exists(file))) return null;
  return (await listedHolder(file)) ?? (await refusedBy(file));
}

/** The holder according to Linux's list of locks, without touching the file; locks of other containers are missing. */
async function listedHolder(file: string): Promise<LockHolder | null> {
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  if (locks === '') return null;
  const { dev, ino } = await stat(file, { bigint: true });
  for (const [, access, pid, major, minor, inode] of locks.matchAll(LOCK_LINE)) {
    if (BigInt(inode ?? 0) !== ino || deviceOf(`${major}`, `${minor}`) !== dev) continue;
    const holder = `process ${pid} on ${hostname()}`;
    return { process_id: Number(pid), holder, access: access === 'WRITE' ? 'write' : 'read' };
  }
  return null;
}

/** Like glibc's `makedev`. */
function deviceOf(major: string, minor: string): bigint {
  const [high, low] = [BigInt(`0x${major}`), BigInt(`0x${minor}`)];
  return ((high & ~0xfffn) << 32n) | ((high & 0xfffn) << 8n) | ((low & ~0xffn) << 12n) | (low & 0xffn);
}

async function refusedBy(file: string): Promise<LockHolder | null> {
  const options = { file, readOnly: true, memoryLimit: PROBE_MEMORY_BYTES };
  try {
    await withTemporary('probe', (temporary) => withEngine({ ...options, temporary }, async () => {}));
    return null;
  } catch (error) {
    const holder = lockHolder(error);
    if (holder === null) return null;
    const pid = /^process (\d+)/.exec(holder)?.[1];
    return { process_id: pid ? Number(pid) : null, holder, access: 'write' };
  }
}

const REFUSED = /Could not set lock|Conflicting lock/i;
/** What a file system says that has no locks. */
const LOCKLESS = /not supported|No locks available/i;

/** Who holds a DuckDB file, from DuckDB's own message; null for any other error. */
export function lockHolder(error: unknown): string | null {
  const message = messageOf(error);
  if (!REFUSED.test(message) || LOCKLESS.test(message)) return null;
  // 0 is a process of another container.
  const pid = /\(PID ([1-9]\d*)\)/.exec(message)?.[1];
  return pid ? `process ${pid} on ${hostname()}` : 'another process';
}

/** That a folder's file system refuses every lock, as it refuses that of a new file, and the remedy; else null. */
export async function whyNoLocks(folder: string): Promise<[message: string, remedy: string] | null> {
  const file = join(folder, `run.lock.duckdb.${randomUUID()}.tmp`);
  try {
    (await duckdb.DuckDBInstance.create(file, { memory_limit: '64MB', threads: '1' })).closeSync();
    return null;
  } catch (error) {
    if (!REFUSED.test(messageOf(error))) return null;
    return [
      `${await fileSystemOf(folder)} refuses locks, without which two runs could write at once`,
      'Mount it with locks, or set warehouse.path to a folder on a local disk',
    ];
  } finally {
    await rm(file, { force: true });
  }
}

/** Such as `/mnt/share (a file system of the type cifs)`. */
async function fileSystemOf(folder: string): Promise<string> {
  const real = await realpath(folder);
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const found = mounts.matchAll(/^\S+ (\S+) (\S+) /gm);
  const [, place, type] = [...found].findLast(([, at = '']) => `${real}/`.startsWith(at.replace(/\/?$/, '/'))) ?? [];
  return place ? `${place} (a file system of the type ${type})` : `the file system of ${folder}`;
}

/** Retries `attempt` every `everyMs`, for up to `withinMs`, while another process holds what it needs. */
export async function waitingForLock<T>(
  attempt: () => Promise<T>,
  { withinMs, everyMs }: { withinMs: number; everyMs: number },
): Promise<T> {
  for (const end = Date.now() + withinMs; ; ) {
    try {
      return await attempt();
    } catch (error) {
      const isHeld = error instanceof BusyError || lockHolder(error) !== null;
      if (!isHeld || Date.now() >= end) throw error;
      await delay(everyMs);
    }
  }
}

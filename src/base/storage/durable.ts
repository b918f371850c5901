import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { messageOf } from '../exit.js';
import { cannotWrite } from './disk-error.js';
import { checkAreFiles, checkWithin, IS_LINK, notAFile, whyNotFile } from './only-files.js';

/** Makes a file's bytes, or a folder's own entries (names added, renamed or removed in it), survive a power loss. */
export async function syncPath(path: string): Promise<void> {
  // Some network file systems refuse it for a file that is open for reading only.
  const handle = await open(path, (await stat(path)).isDirectory() ? 'r' : 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Moves a finished file to its final name, which then survives a power loss. Both must be on the same file system. */
export async function publish(from: string, to: string): Promise<void> {
  checkAreFiles([to]);
  await rename(from, to);
  await syncPath(dirname(to));
}

/**
 * Moves a whole new file to its place, whose folder is made if it is missing: its bytes survive a power loss, too.
 *
 * @param within a folder that it must not leave by a link
 * @throws Failure if it would
 */
export async function publishFile(from: string, to: string, within?: string): Promise<void> {
  if (within !== undefined) checkWithin(within, to);
  await syncPath(from);
  await makeFolder(dirname(to));
  await publish(from, to);
}

/** Replaces a database file by a complete new one. A reader that has the old one open keeps it. */
export async function replaceDatabase(complete: string, file: string): Promise<void> {
  await syncPath(complete);
  // The WAL of the old file would be replayed into the new one. What it holds is in the Parquet files, too.
  await rm(`${file}.wal`, { force: true });
  await publish(complete, file);
}

/** Removes a database file and its WAL. */
export async function removeDatabase(file: string): Promise<void> {
  await rm(file, { force: true });
  await rm(`${file}.wal`, { force: true });
}

/** The name of a temporary file that `writeDurably` leaves if the process dies. */
export const TEMPORARY_FILE = /\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/**
 * Writes a small file whole or not at all: temporary name, write, fsync, rename, fsync of the folder. Of several writers
 * at once, the last one wins.
 *
 * @param mode of the file, if not everybody may read it
 */
export async function writeDurably(file: string, text: string | Uint8Array, mode?: number): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx', ...(mode === undefined ? {} : { mode }) });
    await syncPath(temporary);
    await publish(temporary, file);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => {});
    throw cannotWrite(file, cause);
  }
}

export async function exists(file: string): Promise<boolean> {
  return existsSync(file);
}

/** The system's code of an error, such as `ENOENT`; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The result of `read`; `otherwise` if the file or folder does not exist. */
export async function ifThere<T, N>(read: Promise<T>, otherwise: N): Promise<T | N> {
  try {
    return await read;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return otherwise;
    throw error;
  }
}

/** A file's text; null if it is missing. @throws Failure if it is not a file */
export async function readIfThere(file: string): Promise<string | null> {
  checkAreFiles([file]);
  return ifThere(readFile(file, 'utf8'), null);
}

/** The text of a file that a setting names. @throws Error that says why it `cannot be read (…)` */
export function readNamed(path: string): string {
  try {
    const reason = whyNotFile(path);
    if (reason) throw new Error(reason);
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`cannot be read (${codeOf(cause) || messageOf(cause)})`, { cause });
  }
}

/** A stamp that changes when a file is written, replaced or removed, and in any case when one is renamed into place. */
export async function stampOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => null);
  return found ? [found.ino, found.mtimeNs, found.ctimeNs, found.size].join(' ') : 'none';
}

/** What the system knows about a file; null if it is missing. */
export function statIfThere(file: string): Promise<Stats | null> {
  return ifThere(stat(file), null);
}

/** A file's size in bytes; 0 if it is missing. */
export async function sizeOf(file: string): Promise<number> {
  return (await statIfThere(file))?.size ?? 0;
}

/** The SHA-256 of a file, in hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  checkAreFiles([file]);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

/**
 * Makes a folder and its missing parents; their names survive a power loss.
 *
 * @param mode of those, if not everybody may read them
 */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  for (const made of await makeFolders(folder, mode)) await syncPath(dirname(made));
}

/**
 * Makes a folder and its missing parents. Node's own recursion says "no such file" if the disk is full.
 *
 * @returns those that were missing
 */
export async function makeFolders(folder: string, mode?: number): Promise<string[]> {
  try {
    return await makeOne(folder, mode);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
  }
  return [...(await makeFolders(dirname(folder), mode)), ...(await makeOne(folder, mode))];
}

async function makeOne(folder: string, mode?: number): Promise<string[]> {
  try {
    await mkdir(folder, { mode });
    return [folder];
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(folder)).isDirectory()) return [];
    throw error;
  }
}

/** Opens a file for writing, but none that a link in its place names. */
function openUnlinked(path: string, flags: number): number {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | flags);
  } catch (error) {
    throw codeOf(error) === 'ELOOP' ? notAFile(path, IS_LINK) : error;
  }
}

const SYNC_INTERVAL_MS = 1000;

/** Text that is written together, and the promise for all of it. */
interface Group {
  texts: string[];
  written: Promise<void>;
}

/**
 * A file that only grows. `append` resolves once the kernel has the text, which then survives the death of the process;
 * within a second it is on disk, and survives a power loss. What is appended in the same turn of the event loop is
 * written together, which makes one write per answer affordable.
 */
export class AppendFile {
  readonly #fd: number;
  #bytes: number;
  #group: Group | null = null;
  #dirty = false;
  #failed: Error | null = null;
  readonly #timer: NodeJS.Timeout;

  /** @param bytes the length to continue from; anything after it is cut off */
  constructor(
    readonly path: string,
    bytes: number,
  ) {
    checkAreFiles([path]);
    this.#fd = openUnlinked(path, bytes === 0 ? constants.O_CREAT : 0);
    this.#bytes = bytes;
    ftruncateSync(this.#fd, bytes);
    this.#timer = setInterval(() => this.#sync(), SYNC_INTERVAL_MS).unref();
  }

  /** @throws Error with the file's name if it cannot be written (a full disk); nothing half-written is left */
  append(text: string): Promise<void> {
    if (this.#failed) return Promise.reject(this.#failed);
    this.#group ??= { texts: [], written: setImmediate().then(() => this.#written()) };
    this.#group.texts.push(text);
    return this.#group.written;
  }

  /** Writes and syncs what is left, and closes. */
  close(): void {
    clearInterval(this.#timer);
    this.#write();
    try {
      if (!this.#failed) fsyncSync(this.#fd);
    } catch (cause) {
      throw cannotWrite(this.path, cause);
    } finally {
      closeSync(this.#fd);
    }
  }

  #written(): void {
    this.#write();
    if (this.#failed) throw this.#failed;
  }

  #write(): void {
    const group = this.#group;
    if (!group) return;
    this.#group = null;
    try {
      this.#bytes += this.#writeWhole(group.texts.join(''));
      this.#dirty = true;
    } catch (cause) {
      this.#failed = cannotWrite(this.path, cause);
    }
  }

  /** @returns bytes */
  #writeWhole(text: string): number {
    const length = Buffer.byteLength(text);
    try {
      // One write without a copy; whatever the kernel did not take follows.
      let at = writeSync(this.#fd, text, this.#bytes);
      const bytes = at < length ? Buffer.from(text) : null;
      while (bytes && at < length) at += writeSync(this.#fd, bytes, at, length - at, this.#bytes + at);
      return length;
    } catch (error) {
      ftruncateSync(this.#fd, this.#bytes);
      throw error;
    }
  }

  #sync(): void {
    if (!this.#dirty) return;
    this.#dirty = false;
    fsync(this.#fd, (cause) => {
      if (cause) this.#failed ??= cannotWrite(this.path, cause);
    });
  }
}

import { randomUUID } from 'node:crypto';
import { appendFileSync, rmSync } from 'node:fs';
import { readFile, rm, stat, utimes } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { codeOf, ifThere } from '../storage/durable.js';
import { MINUTE_MS } from '../time.js';
import { namesIn } from '../warehouse/layout.js';

/** A lease that was not renewed for this long belongs to a killed process. */
const LEASE_MS = 5 * MINUTE_MS;
const RENEWED_MS = MINUTE_MS;

/** The files that one reader holds: in memory, and in a file for other processes. */
export class Lease {
  readonly file: string;
  readonly #held = new Map<string, number>();
  readonly #written = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly folder: string) {
    this.file = join(leases(folder), randomUUID());
    this.#timer = setInterval(() => void touch(this.file).catch(() => {}), RENEWED_MS).unref();
  }

  hold(files: readonly string[]): void {
    for (const file of files) this.#held.set(file, (this.#held.get(file) ?? 0) + 1);
    const unwritten = files.filter((file) => !this.#written.has(file));
    if (unwritten.length === 0) return;
    appendFileSync(this.file, unwritten.map((file) => `${relative(this.folder, file)}\n`).join(''));
    for (const file of unwritten) this.#written.add(file);
  }

  release(files: readonly string[]): void {
    for (const file of files) {
      const left = (this.#held.get(file) ?? 1) - 1;
      if (left > 0) this.#held.set(file, left);
      else this.#held.delete(file);
    }
  }

  holds(file: string): boolean {
    return this.#held.has(file);
  }

  end(): void {
    clearInterval(this.#timer);
    rmSync(this.file, { force: true });
  }
}

/**
 * The files that readers of other processes hold, relative to the folder of the cache. Removes the leases of killed
 * processes.
 */
export async function heldByOthers(folder: string, own: Iterable<Lease>): Promise<Set<string>> {
  const names = new Set([...own].map(({ file }) => basename(file)));
  const held = new Set<string>();
  for (const name of await namesIn(leases(folder))) {
    const file = join(leases(folder), name);
    const renewed = (await ifThere(stat(file), null))?.mtimeMs ?? 0;
    if (Date.now() - renewed > LEASE_MS) await rm(file, { force: true });
    else if (!names.has(name))
      for (const path of (await ifThere(readFile(file, 'utf8'), '')).split('\n')) held.add(path);
  }
  return held;
}

export function leases(folder: string): string {
  return join(folder, 'leases');
}

/** Marks a file as used now. @returns whether it exists */
export async function touch(file: string): Promise<boolean> {
  try {
    await utimes(file, new Date(), new Date());
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return false;
    throw error;
  }
}

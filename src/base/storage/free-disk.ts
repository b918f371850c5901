import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { size } from '../observe/format.js';

/** The folder itself, or the nearest existing one above it, in which it would be made. */
export async function nearestExisting(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch(() => null);
    if (found || at === dirname(at)) return at;
  }
}

/** A run leaves so much to others on the disk, and to its own last commit; of a small disk, a tenth. */
const RESERVE_BYTES = 1e9;
const RESERVE_SHARE = 0.1;

/** The space on a disk, in bytes. */
export interface Disk {
  free: number;
  /** What a run leaves free. */
  reserve: number;
}

/** The disk of a folder, which may not exist yet. */
export async function diskOf(folder: string): Promise<Disk> {
  const { bavail, blocks, bsize } = await statfs(await nearestExisting(folder));
  return { free: bavail * bsize, reserve: Math.min(RESERVE_BYTES, RESERVE_SHARE * blocks * bsize) };
}

/** That the warehouse's disk has too little space; null if it has enough. `diskRemedy` knows it by its last words. */
export function lowDiskText({ free, reserve }: Disk): string | null {
  if (free >= reserve) return null;
  return `the warehouse's disk has only ${size(free)} free, less than the ${size(reserve)} that a run leaves free`;
}

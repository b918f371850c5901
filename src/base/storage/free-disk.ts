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

/** Free bytes on the disk of a folder, which may not exist yet. */
export async function freeDisk(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(await nearestExisting(folder));
  return bavail * bsize;
}

/** That the warehouse's disk has too little space. `diskRemedy` knows it by `min_free_disk`. */
export function lowDiskText(free: number): string {
  return `the warehouse's disk has only ${size(free)} free, less than warehouse.min_free_disk`;
}

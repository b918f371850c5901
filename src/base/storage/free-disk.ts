import { statfs } from 'node:fs/promises';
import { size } from '../observe/format.js';

/** Free bytes on the disk of a folder. */
export async function freeDisk(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** That the warehouse's disk has too little space. `diskRemedy` knows it by `min_free_disk`. */
export function lowDiskText(free: number): string {
  return `the warehouse's disk has only ${size(free)} free, less than warehouse.min_free_disk`;
}

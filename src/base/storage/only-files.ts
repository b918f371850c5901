import { constants, readFileSync, statSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { Failure } from '../exit.js';

/** What is at a path instead of a file, as it follows its name in a sentence; null for a file or nothing. */
export function whyNotFile(path: string): string | null {
  try {
    const found = statSync(path);
    return found.isFile() ? null : `is a ${found.isDirectory() ? 'folder' : 'pipe or device'}, not a file`;
  } catch {
    // Whoever opens it says why not.
    return null;
  }
}

/** Must be called before anything is opened that others may have put there. @throws Failure: a pipe would never answer */
export function checkAreFiles(paths: readonly string[]): void {
  for (const path of paths) {
    const reason = whyNotFile(path);
    if (reason) throw notAFile(path, reason);
  }
}

export function notAFile(path: string, reason: string): Failure {
  return new Failure(`${path} ${reason}: move it away, and run \`indexhouse verify\``);
}

/** The text of a file that a setting names. @throws Error that says what is at the path instead, or the system's */
export function readNamed(path: string): string {
  const reason = whyNotFile(path);
  if (reason) throw new Error(reason);
  return readFileSync(path, 'utf8');
}

/** Copies a file to a temporary name, replacing what an earlier attempt left there. */
export async function copyFresh(from: string, temporary: string): Promise<void> {
  checkAreFiles([from]);
  await rm(temporary, { recursive: true, force: true });
  await copyFile(from, temporary, constants.COPYFILE_EXCL);
}

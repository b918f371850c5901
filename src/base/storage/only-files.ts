import { constants, lstatSync, statSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { Failure } from '../exit.js';

export const IS_LINK = 'is a symbolic link, not a file or folder';

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

/** @throws Failure if a path leads out of a folder, or over a link below it: what a link names is somebody else's */
export function checkWithin(folder: string, path: string): void {
  let at = folder;
  for (const name of relative(folder, path).split(sep)) {
    at = join(at, name);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (name === '..') throw notAFile(path, `is outside ${folder}`);
    if (found?.isSymbolicLink()) throw notAFile(at, IS_LINK);
    if (!found?.isDirectory()) return;
  }
}

/** Deletes a file or a whole folder below another one. A link in its place goes, what it names stays. @throws Failure */
export async function removeWithin(folder: string, path: string): Promise<void> {
  checkWithin(folder, dirname(path));
  await rm(path, { recursive: true, force: true });
}

/** Copies a file to a temporary name, replacing what an earlier attempt left there. */
export async function copyFresh(from: string, temporary: string): Promise<void> {
  checkAreFiles([from]);
  await rm(temporary, { recursive: true, force: true });
  await copyFile(from, temporary, constants.COPYFILE_EXCL);
}

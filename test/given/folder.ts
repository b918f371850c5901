import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export type OnFinished = (clean: () => void | Promise<void>) => void;

const ofFile: (() => unknown)[] = [];

/**
 * Cleans up when the test ends; what was made before any test, after the last one of the file. Tests that run side by
 * side hand in their own `onTestFinished` instead.
 */
export function atEnd(clean: () => unknown): void {
  try {
    onTestFinished(async () => void (await clean()));
  } catch {
    // No test runs.
    atFileEnd(clean);
  }
}

/** Cleans up after the last test of the file, whichever of several tests side by side asks for it. */
export function atFileEnd(clean: () => unknown): void {
  ofFile.push(clean);
}

/** Cleans up after a file, the latest first. */
export async function endFile(): Promise<void> {
  for (const clean of ofFile.splice(0).reverse()) await clean();
}

/** A new folder that goes in the end. */
export function temporaryFolder(onFinished: OnFinished = atEnd): string {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-test-'));
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new folder on the disk, from which programs can be run. */
export function folderOnDisk(what: string): string {
  return mkdtempSync(join(process.env['INDEXHOUSE_TEST_DISK'] ?? tmpdir(), `indexhouse-${what}-`));
}

/** A copy of a warehouse in a folder of its own. */
export function copyOf(warehouse: string, onFinished?: OnFinished): string {
  const copy = join(temporaryFolder(onFinished), 'warehouse');
  cpSync(warehouse, copy, { recursive: true });
  return copy;
}

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

type OnFinished = (clean: () => void) => void;

/** Takes what is to be cleaned up after the last test of a file or block, the latest first. */
export function afterAllTests(): (clean: () => unknown) => void {
  const all: (() => unknown)[] = [];
  afterAll(async () => {
    for (const each of all.reverse()) await each();
  });
  return (clean) => void all.push(clean);
}

/** A new folder that goes when the test ends. Tests that run side by side hand in their own `onTestFinished`. */
export function temporaryFolder(onFinished: OnFinished = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-test-'));
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new folder on the disk, from which programs can be run. */
export function folderOnDisk(what: string): string {
  return mkdtempSync(join(process.env['INDEXHOUSE_TEST_DISK'] ?? tmpdir(), `indexhouse-${what}-`));
}

/** A copy of a warehouse in a folder of its own, until the test ends. */
export function copyOf(warehouse: string, onFinished?: OnFinished): string {
  const copy = join(temporaryFolder(onFinished), 'warehouse');
  cpSync(warehouse, copy, { recursive: true });
  return copy;
}

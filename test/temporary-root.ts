import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Most of what the tests wait for is the disk. In memory they take two thirds of the time. */
const MEMORY = '/dev/shm';
const NEEDED_BYTES = 4e9;

const roots: string[] = [];

/**
 * Every temporary folder of a run, those of the processes that it starts and kills included, lies below one, which goes
 * when the run ends. There is another one on the disk, for programs: memory may be mounted so that none can be run.
 */
export function setup(): void {
  for (const place of [hasRoom(MEMORY) ? MEMORY : tmpdir(), tmpdir()]) {
    roots.push(mkdtempSync(join(place, 'indexhouse-tests-')));
  }
  [process.env['TMPDIR'], process.env['INDEXHOUSE_TEST_DISK']] = roots;
}

export function teardown(): void {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
}

/** Not where somebody has chosen another place. */
function hasRoom(folder: string): boolean {
  if (process.env['TMPDIR'] !== undefined) return false;
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}

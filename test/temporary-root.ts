import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let root: string | null = null;

/**
 * Every temporary folder of a run, those of the processes that it starts and kills included, lies below one, which goes
 * when the run ends.
 */
export function setup(): void {
  root = mkdtempSync(join(tmpdir(), 'indexhouse-tests-'));
  process.env['TMPDIR'] = root;
}

export function teardown(): void {
  if (root !== null) rmSync(root, { recursive: true, force: true });
}

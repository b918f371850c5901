import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import { watchCrashPoints } from '../../src/base/storage/crash-point.js';

/**
 * Copies what a process that is killed behind each of these steps leaves of a folder, while work in this process goes
 * past them: of a process that was killed only the files are left.
 *
 * @param copyTo the folder to make for a step
 * @throws Error where the work does not go past one of them
 */
export async function leftBehind(
  folder: string,
  steps: readonly string[],
  copyTo: (step: string) => string,
  work: () => Promise<unknown>,
): Promise<void> {
  const passed = new Set<string>();
  const unwatch = watchCrashPoints((step) => {
    if (!steps.includes(step) || passed.has(step)) return;
    passed.add(step);
    // By another process: to open and close a database here would free the lock on it.
    execFileSync('cp', ['-R', folder, copyTo(step)]);
  });
  try {
    await work();
  } finally {
    unwatch();
  }
  const never = steps.filter((step) => !passed.has(step));
  if (never.length > 0) throw new Error(`never came past: ${never.join(', ')}`);
}

/** Lets work in this process fail behind a step, as far as it gets by then: for work that has no more than files to leave. */
export async function dyingAt(step: string, work: () => Promise<unknown>): Promise<void> {
  const unwatch = watchCrashPoints((passed) => {
    if (passed === step) throw new Error(`died: ${step}`);
  });
  await expect(work().finally(unwatch)).rejects.toThrow(`died: ${step}`);
}

const CRASH_AT = process.env['INDEXHOUSE_TEST_CRASH_AT'];

let watcher: ((step: string) => void) | null = null;

/**
 * A place where a test kills the process, as a power switch would: it names the step that has just been done. Without
 * the variable, which only tests set, this does nothing.
 */
export function crashPoint(step: string): void {
  if (CRASH_AT === step) process.kill(process.pid, 'SIGKILL');
  watcher?.(step);
}

/** Calls a test back at each such place, until what is returned is called: what a kill would leave lies on the disk. */
export function watchCrashPoints(watch: (step: string) => void): () => void {
  watcher = watch;
  return () => {
    watcher = null;
  };
}

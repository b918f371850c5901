const CRASH_AT = process.env['INDEXHOUSE_TEST_CRASH_AT'];

let watcher: ((step: string) => void) | null = null;

/**
 * A place where a test kills the process, as a power failure would; `step` names what has just been done. Without the
 * variable, which only tests set, this does nothing.
 */
export function crashPoint(step: string): void {
  if (CRASH_AT === step) process.kill(process.pid, 'SIGKILL');
  watcher?.(step);
}

/** Calls `watch` at each such place, where the disk holds what a kill would leave. @returns a function that stops it */
export function watchCrashPoints(watch: (step: string) => void): () => void {
  watcher = watch;
  return () => {
    watcher = null;
  };
}

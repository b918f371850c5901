const CRASH_AT = process.env['INDEXHOUSE_TEST_CRASH_AT'];

/**
 * A place where a test kills the process, as a power switch would: it names the step that has just been done. Without
 * the variable, which only tests set, this does nothing.
 */
export function crashPoint(step: string): void {
  if (CRASH_AT === step) process.kill(process.pid, 'SIGKILL');
}

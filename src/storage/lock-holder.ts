import { hostname } from 'node:os';

/** Who holds a DuckDB file, from DuckDB's own message; null where the error is another one. */
export function lockHolder(error: unknown): string | null {
  const message = error instanceof Error ? error.message : String(error);
  if (!/Could not set lock|Conflicting lock/i.test(message)) return null;
  const pid = /\(PID (\d+)\)/.exec(message)?.[1];
  return pid ? `process ${pid} on ${hostname()}` : 'another process';
}

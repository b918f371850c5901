import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { BusyError, messageOf } from '../exit.js';

/** Who holds a DuckDB file, from DuckDB's own message; null where the error is another one. */
export function lockHolder(error: unknown): string | null {
  const message = messageOf(error);
  if (!/Could not set lock|Conflicting lock/i.test(message)) return null;
  const pid = /\(PID (\d+)\)/.exec(message)?.[1];
  return pid ? `process ${pid} on ${hostname()}` : 'another process';
}

/** Tries again, every so many milliseconds and for so long, while somebody else holds what the attempt needs. */
export async function waitingForLock<T>(
  attempt: () => Promise<T>,
  { withinMs, everyMs }: { withinMs: number; everyMs: number },
): Promise<T> {
  for (const end = Date.now() + withinMs; ; ) {
    try {
      return await attempt();
    } catch (error) {
      const isHeld = error instanceof BusyError || lockHolder(error) !== null;
      if (!isHeld || Date.now() >= end) throw error;
      await delay(everyMs);
    }
  }
}

import { duration } from '../observe/format.js';
import type { Logger } from '../observe/log.js';
import type { PaceNotice } from '../source/pacer.js';
import type { RunProgress } from './run-progress.js';

const SAYS: Record<Exclude<PaceNotice['kind'], 'shared_key'>, string> = {
  throttled: 'the service asked for a pause (429)',
  spent: 'the rate headers say that the key has nothing left',
  unavailable: 'the service is in trouble and asked for a pause',
};

/**
 * Says why requests are slower than the configured rate, and until when.
 *
 * @param key where the configuration names it
 * @param now milliseconds since 1970
 */
export function tellPace(
  { log, progress }: { log: Logger; progress: RunProgress },
  notice: PaceNotice,
  { key, now }: { key: string; now: number },
): void {
  if (notice.kind === 'shared_key') {
    tellOfOthers(log, notice.othersPerMinute, key);
    return;
  }
  const { kind, waitMs } = notice;
  const until = new Date(now + waitMs).toISOString();
  log.info(
    { key, reason: kind, wait_ms: waitMs, until },
    `${SAYS[kind]}: ${key} waits ${duration(waitMs)}, until ${until}; then one request tries`,
  );
  progress.waiting(until, key);
}

function tellOfOthers(log: Logger, othersPerMinute: number, key: string): void {
  log.warn(
    { key, others_per_minute: othersPerMinute },
    `somebody else uses the same API key, about ${othersPerMinute} requests a minute: the pace leaves that to them; ` +
      'a key of its own would be faster',
  );
}

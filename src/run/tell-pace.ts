import { duration } from '../observe/format.js';
import type { Logger } from '../observe/log.js';
import type { PaceNotice } from '../source/pacer.js';
import type { RunProgress } from './run-progress.js';

const SAYS: Record<Exclude<PaceNotice['kind'], 'shared_key' | 'learned_pace'>, string> = {
  throttled: 'the service asked for a pause (429)',
  spent: 'the rate headers say that the key has no requests left',
  unavailable: 'the service has a problem and asked for a pause',
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
  if (notice.kind === 'learned_pace') {
    tellOfLearnedPace(log, notice.perMinute, key);
    return;
  }
  const { kind, waitMs } = notice;
  const until = new Date(now + waitMs).toISOString();
  log.info(
    { key, reason: kind, wait_ms: waitMs, until },
    `${SAYS[kind]}: ${key} waits ${duration(waitMs)}, until ${until}; then one request probes`,
  );
  progress.waiting(until, key);
}

function tellOfOthers(log: Logger, othersPerMinute: number, key: string): void {
  log.warn(
    { key, others_per_minute: othersPerMinute },
    `somebody else uses the same API key for about ${othersPerMinute} requests a minute, which the pace leaves to them; ` +
      'a separate key would be faster',
  );
}

function tellOfLearnedPace(log: Logger, perMinute: number, key: string): void {
  if (perMinute === Number.POSITIVE_INFINITY) {
    log.info({ key, learned_per_minute: null }, `${key} is back at the configured pace`);
    return;
  }
  const rounded = perMinute < 10 ? Math.round(perMinute * 10) / 10 : Math.round(perMinute);
  log.warn(
    { key, learned_per_minute: rounded },
    `the service refused requests (429) and seems to allow fewer than configured: ${key} slows down to ${rounded} requests a ` +
      'minute and tries more from time to time; set api.requests_per_minute to what the service allows',
  );
}

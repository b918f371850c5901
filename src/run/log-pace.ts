import { duration } from '../observe/format.js';
import type { Logger } from '../observe/log.js';
import type { PaceNotice } from '../source/pacer.js';

/** Says why requests are slower than the configured rate. */
export function logPace(log: Logger, notice: PaceNotice): void {
  if (notice.kind === 'throttled') {
    log.info(
      { wait_ms: notice.waitMs },
      `the service asked to wait ${duration(notice.waitMs)} (429); one request tries then`,
    );
    return;
  }
  const { othersPerMinute } = notice;
  log.warn(
    { others_per_minute: othersPerMinute },
    `somebody else uses the same API key, about ${othersPerMinute} requests a minute: the pace leaves that to them; ` +
      'a key of its own would be faster',
  );
}

import type { Logger } from '../../../base/observe/log.js';
import type { BucketCache } from '../../../warehouse/bucket/cache.js';

const EVERY_MS = 60_000;
/** The pause after a refresh, in multiples of the time that it took. */
const PAUSE_FACTOR = 10;

/** Fetches new commits from a bucket each minute. Logs when the bucket stops or starts to answer. */
export function refreshing(cache: BucketCache, logger: Logger, everyMs = EVERY_MS): NodeJS.Timeout {
  let logged: string | null = null;
  const logChange = () => {
    const { url: bucket, failure } = cache;
    if (failure !== null && logged === null) logger.warn({ bucket, reason: failure }, 'the bucket cannot be read');
    if (failure === null && logged !== null) logger.info({ bucket }, 'the bucket can be read again');
    logged = failure;
  };
  logChange();
  let notBefore = 0;
  const refresh = async () => {
    const begun = performance.now();
    if (begun < notBefore) return;
    await cache.refresh().then(logChange, (err) => logger.error({ err }, 'the bucket cannot be read'));
    // Listing many thousands of commits takes seconds, and costs money.
    notBefore = performance.now() + PAUSE_FACTOR * (performance.now() - begun);
  };
  return setInterval(() => void refresh(), everyMs).unref();
}

import { BucketError } from '../bucket/errors.js';
import { MINUTE_MS, SECOND_MS } from '../time.js';
import type { RunContext } from './context.js';

/** Sends one last time, so that a machine that is told to stop leaves nothing unsent. */
export type StopMirroring = () => Promise<void>;

/** Sends what a run has received to the bucket each minute, if `bucket.journal` says so. Never stops the run. */
export async function mirrorJournals(
  { config, warehouse, log }: Pick<RunContext, 'config' | 'warehouse' | 'log'>,
  intervalMs = MINUTE_MS,
): Promise<StopMirroring> {
  if (!config.bucket?.journal) return async () => {};
  const { Bucket } = await import('../bucket/client.js');
  const { JournalMirror } = await import('../bucket/journals.js');
  const bucket = new Bucket(config.bucket, { attempts: 2, timeout: 20 * SECOND_MS });
  const mirror = new JournalMirror(bucket, warehouse);
  let isDown = false;
  const send = async () => {
    try {
      await mirror.send();
      isDown = false;
    } catch (error) {
      const message = error instanceof BucketError ? error.message : String(error);
      if (!isDown) log.warn(`the journal could not be sent to the bucket: ${message}; trying again each minute`);
      isDown = true;
    }
  };
  let sending = Promise.resolve();
  let waits = 0;
  const timer = setInterval(() => {
    // At most one upload waits, however slow the bucket is.
    if (waits > 0) return;
    waits++;
    sending = sending.then(send).finally(() => waits--);
  }, intervalMs).unref();
  return async () => {
    clearInterval(timer);
    await sending;
    await send();
    await bucket.close();
  };
}

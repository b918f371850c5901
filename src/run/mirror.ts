import { BucketError } from '../bucket/errors.js';
import type { Claimed } from '../bucket/journals.js';
import { messageOf } from '../exit.js';
import type { JournalFolder } from '../journal/folder.js';
import { MINUTE_MS, SECOND_MS } from '../time.js';
import type { RunContext } from './context.js';

export interface Mirroring {
  /** Whose an unfinished run is: other machines may have restored its journal, too. */
  claim(folder: JournalFolder): Promise<Claimed>;
  /** Sends one last time, so that a machine that is asked to stop leaves nothing unsent. */
  stop(): Promise<void>;
}

type Mirrored = Pick<RunContext, 'config' | 'warehouse' | 'log' | 'effects' | 'signal'>;

/** Sends what a run has received to the bucket each minute, if `bucket.journal` says so. Never stops the run. */
export async function mirrorJournals(
  { config, warehouse, log, effects, signal }: Mirrored,
  intervalMs = MINUTE_MS,
): Promise<Mirroring> {
  if (!config.bucket?.journal) return { claim: async () => 'ours', stop: async () => {} };
  const { Bucket } = await import('../bucket/client.js');
  const { JournalMirror } = await import('../bucket/journals.js');
  const bucket = new Bucket(config.bucket, { attempts: 2, timeout: 20 * SECOND_MS });
  const mirror = new JournalMirror(bucket, warehouse);
  await mirror.begin();
  let isDown = false;
  const send = async () => {
    try {
      await mirror.send();
      isDown = false;
    } catch (error) {
      const reason = `the journal could not be sent to the bucket: ${messageOf(error)}; trying again each minute`;
      if (!isDown) log.warn(reason);
      isDown = true;
    }
  };
  let sending: Promise<void> | null = null;
  const timer = setInterval(() => {
    // However slow the bucket is, one upload runs at a time.
    sending ??= send().finally(() => {
      sending = null;
    });
  }, intervalMs).unref();
  return {
    async claim(folder) {
      try {
        return await mirror.claim(folder, (ms) => effects.sleep(ms, signal));
      } catch (error) {
        if (!(error instanceof BucketError)) throw error;
        log.warn(`resuming without checking whether another machine does, too: ${error.message}`);
        mirror.takeOver(folder);
        return 'ours';
      }
    },
    async stop() {
      clearInterval(timer);
      await sending;
      await send();
      // A bucket that is down has been reported.
      await mirror.release().catch(() => {});
      await bucket.close();
    },
  };
}

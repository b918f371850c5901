import { type Effects, MINUTE_MS } from '../time.js';

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = MINUTE_MS;

/**
 * Does some work, and repeats it after an error that may pass.
 *
 * @param work called with the number of this try, from 1
 * @param waitAfter how many milliseconds to wait before the next try; throws to give up
 * @throws what `waitAfter` throws; `Stopped` when the signal fires during a wait
 */
export async function retried<T>(
  work: (tries: number) => Promise<T>,
  waitAfter: (error: unknown, tries: number) => number,
  { sleep }: Pick<Effects, 'sleep'>,
  signal?: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work(tries);
    } catch (error) {
      const waitMs = waitAfter(error, tries);
      if (waitMs > 0) await sleep(waitMs, signal);
    }
  }
}

/** The wait before another try: doubles from half a second up to a minute, with jitter. */
export function backoffMs(tries: number, { random }: Pick<Effects, 'random'>): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (tries - 1)) * (0.5 + random() / 2);
}

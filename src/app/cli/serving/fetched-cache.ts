import { Stopped } from '../../../base/exit.js';
import { createProgress } from '../../../base/observe/progress.js';
import { colorsWanted } from '../../../base/observe/terminal.js';
import { type BucketCache, cacheOf, type PlaceSettings } from '../../../warehouse/bucket/cache.js';
import { type Io, stoppable } from '../io.js';

/**
 * The copy of a warehouse in a bucket, with what was committed since it was last used.
 *
 * @param historyDays days of listings and reports to fetch; null: all
 * @throws Stopped; BucketError if nothing was fetched before
 */
export function fetchedCache(settings: PlaceSettings, historyDays: number | null, io: Io): Promise<BucketCache> {
  return stoppable(io, async (signal) => {
    const { stderr, env } = io;
    let isDone = false;
    const progress = createProgress({
      stream: stderr,
      isTerminal: stderr.isTTY === true,
      color: colorsWanted(stderr, env),
      // What took less than the first line needs no last one.
      log: (line) => isDone || stderr.write(`indexhouse: ${line}\n`),
    });
    const onProgress = ({ files, of }: { files: number; of: number }) => {
      if (isDone) return;
      if (files === 1) progress.start(`fetching from ${settings.warehouse.path}`, of);
      progress.advance(1);
    };
    const cache = await cacheOf(settings, env, { historyDays, onProgress });
    const close = () => void cache.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      await cache.refresh();
      signal.throwIfAborted();
      return cache;
    } catch (error) {
      await cache.close();
      throw signal.aborted ? new Stopped('stopped before the warehouse was fetched') : error;
    } finally {
      signal.removeEventListener('abort', close);
      isDone = true;
      progress.finish();
    }
  });
}

import { loadConfig } from '../../src/base/config/load.js';
import type { Config } from '../../src/base/config/schema.js';
import type { Progress } from '../../src/base/observe/progress.js';
import type { Receipt } from '../../src/sync/receipt.js';
import type { SyncOptions } from '../../src/sync/sync.js';
import { sync } from './client-clock.js';

export function given(file: string): Promise<Config> {
  return loadConfig({ file, env: {}, cwd: '/' });
}

/** How much is journaled when the run is stopped. */
export interface StopAfter {
  pages?: number;
  reports?: number;
}

interface SyncNow extends Partial<Pick<SyncOptions, 'recoverOnly' | 'logger' | 'effects' | 'asked' | 'limits'>> {
  stopAfter?: StopAfter | undefined;
}

/** One sync in this process, silent by default. */
export async function syncNow(file: string, { stopAfter = {}, ...options }: SyncNow = {}): Promise<Receipt> {
  const stop = new AbortController();
  const progress = stopper(stopAfter, stop);
  return sync({ config: await given(file), progress, signal: stop.signal, ...options });
}

/** Stops the run, as SIGTERM would, when so much is journaled. */
function stopper(limits: StopAfter, stop: AbortController): Progress {
  let limit = Number.POSITIVE_INFINITY;
  let done = 0;
  return {
    start: (label) => {
      done = 0;
      limit = (label === 'pages' ? limits.pages : limits.reports) ?? Number.POSITIVE_INFINITY;
    },
    advance: (n) => {
      done += n;
      if (done >= limit) stop.abort();
    },
    setTotal: () => {},
    note: () => {},
    finish: () => {},
    logStream: { write: () => {}, isTTY: false },
  };
}

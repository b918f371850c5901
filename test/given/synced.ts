import { loadConfig } from '../../src/config/load.js';
import type { Config } from '../../src/config/schema.js';
import type { Progress } from '../../src/observe/progress.js';
import { realRunEffects } from '../../src/run/context.js';
import type { Receipt } from '../../src/run/receipt.js';
import { sync } from './client-clock.js';
import { noFollowers } from './warehouse.js';

export function given(file: string): Promise<Config> {
  return loadConfig({ file, env: {}, cwd: '/' });
}

/** How much is journaled when the run is stopped. */
export interface StopAfter {
  pages?: number;
  reports?: number;
}

/** One sync in this process, without a word. */
export async function syncNow(
  file: string,
  options: { stopAfter?: StopAfter; recoverOnly?: boolean; follow?: boolean } = {},
): Promise<Receipt> {
  const stop = new AbortController();
  return sync({
    config: await given(file),
    progress: stopper(options.stopAfter ?? {}, stop),
    recoverOnly: options.recoverOnly ?? false,
    signal: stop.signal,
    ...(options.follow === false ? { effects: { ...realRunEffects, follow: noFollowers } } : {}),
  });
}

/** Stops the run, as SIGTERM would, when so much is journaled. */
export function stopper(limits: StopAfter, stop: AbortController): Progress {
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
    interrupt: (write) => write(),
    logStream: { write: () => {}, isTTY: false },
  };
}

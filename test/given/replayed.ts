import type { Config } from '../../src/base/config/schema.js';
import { createLogger } from '../../src/base/observe/log.js';
import { type ReplayOptions, type ReplayReceipt, replay } from '../../src/sync/replay.js';

/** A replay in this process, without a word. */
export function replayNow(config: Config, options: Partial<ReplayOptions> = {}): Promise<ReplayReceipt> {
  return replay({
    config,
    version: 'test',
    log: createLogger({ level: 'silent' }),
    websites: [],
    since: null,
    dryRun: false,
    signal: new AbortController().signal,
    ...options,
  });
}

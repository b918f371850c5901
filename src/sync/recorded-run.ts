import type { Config } from '../base/config/schema.js';
import { messageOf, Stopped } from '../base/exit.js';
import type { Logger } from '../base/observe/log.js';
import { NO_WEBSITE, RunFile } from '../warehouse/journal/run-file.js';
import { warehouseFolder } from '../warehouse/log/folder/layout.js';
import { type RunEffects, realRunEffects } from './context.js';
import type { Receipt } from './receipt.js';

/** Does a run, and records for other processes how it ended. */
export async function recordedRun(
  { config, logger, effects = realRunEffects }: { config: Config; logger: Logger; effects?: RunEffects | undefined },
  run: (runFile: RunFile) => Promise<Receipt>,
): Promise<Receipt> {
  const runFile = await RunFile.begin(warehouseFolder(config.warehouse.path).run, logger, effects.now());
  try {
    const receipt = await run(runFile);
    const ends = receipt.websites.map(({ website_id, status, error = '' }) => {
      return [website_id, status === 'failed' ? { run_id: receipt.run_id ?? '', error } : null] as const;
    });
    const { error, clock = null } = receipt;
    const all = error === undefined ? null : { run_id: receipt.run_id ?? '', error };
    const hadNone = error === undefined && ends.length === 0;
    await runFile.ends({ clock }, hadNone ? {} : { ...Object.fromEntries(ends), [NO_WEBSITE]: all });
    return receipt;
  } catch (error) {
    const isStopped = error instanceof Stopped;
    const failed = isStopped ? {} : { [NO_WEBSITE]: { run_id: '', error: messageOf(error) } };
    await runFile.ends({ stopped: isStopped ? 'it was stopped by a signal' : 'it failed' }, failed);
    throw error;
  }
}

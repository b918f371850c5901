import type { ReaderOptions } from '../analysis/reader.js';
import type { DamagedFile } from '../warehouse/damage.js';
import { configOf, EXIT, type Globals } from './command.js';

/** What holds where only a folder is named: the default of the configuration. */
export const DEFAULT_MEMORY_LIMIT_BYTES = 1e9;

/** The warehouse to read: the folder that a flag names, or that of the configuration. */
export async function readerOptions(flags: Globals & { warehouse?: string }): Promise<ReaderOptions> {
  const onRebuilt = rebuiltLog(flags);
  if (flags.warehouse !== undefined) {
    return { warehouse: flags.warehouse, memoryLimit: DEFAULT_MEMORY_LIMIT_BYTES, onRebuilt };
  }
  const { warehouse } = await configOf(flags, { withoutTokens: true });
  return { warehouse: warehouse.path, memoryLimit: warehouse.memory_limit, onRebuilt };
}

/** Logs each state that had to be made anew. The logger is loaded for that only. */
export function rebuiltLog(flags: Globals): (websiteId: string, file: string) => Promise<void> {
  return async (website_id, file) => {
    const { createLogger } = await import('../observe/log.js');
    createLogger({ level: flags.logLevel ?? 'info' }).info({ website_id, file }, 'made the state anew from the log');
  };
}

/** Says on stderr what was left out of an answer because it cannot be read, and gives the exit code for it. */
export async function exitFor(damaged: readonly DamagedFile[]): Promise<number> {
  if (damaged.length === 0) return EXIT.done;
  const [{ safeLines }, { damageWarning }] = await Promise.all([
    import('../observe/terminal.js'),
    import('../warehouse/damage.js'),
  ]);
  process.stderr.write(`${safeLines(`indexhouse: ${damageWarning(damaged)}`)}\n`);
  return EXIT.look;
}

import type { ReaderOptions } from '../analysis/reader.js';
import { configOf, type Globals } from './command.js';

/** What holds where only a folder is named: the default of the configuration. */
export const DEFAULT_MEMORY_LIMIT_BYTES = 1e9;

/** The warehouse to read: the folder that a flag names, or that of the configuration. */
export async function readerOptions(flags: Globals & { warehouse?: string }): Promise<ReaderOptions> {
  if (flags.warehouse !== undefined) return { warehouse: flags.warehouse, memoryLimit: DEFAULT_MEMORY_LIMIT_BYTES };
  const { warehouse } = await configOf(flags, { withoutTokens: true });
  return { warehouse: warehouse.path, memoryLimit: warehouse.memory_limit };
}

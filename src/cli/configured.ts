import { resolve } from 'node:path';
import type { ReaderOptions } from '../analysis/reader.js';
import { DEFAULT_MEMORY_LIMIT_BYTES } from '../analysis/status-input.js';
import { loadConfig } from '../config/load.js';
import type { Overrides } from '../config/overrides.js';
import type { Config } from '../config/schema.js';
import { secretsOf } from '../config/websites.js';
import { createLogger, type Logger } from '../observe/log.js';
import { colorsWanted, safeLines } from '../observe/terminal.js';
import { type DamagedFile, damageWarning } from '../warehouse/damage.js';
import { historyNotice, readRestored } from '../warehouse/restored.js';
import { EXIT, type Io } from './io.js';
import type { Globals } from './program.js';

/** Loads the configuration that the flags name. `withoutTokens`: for commands that send no request. */
export function configOf(
  flags: Globals,
  { env, cwd }: Io,
  options: { withoutTokens?: boolean; overrides?: Overrides } = {},
): Promise<Config> {
  return loadConfig({ file: flags.config, env, cwd, ...options });
}

/** The warehouse to read: the folder that a flag names, or that of the configuration. */
export async function readerOptions(flags: Globals & { warehouse?: string }, io: Io): Promise<ReaderOptions> {
  const onRebuilt = rebuiltLog(flags, io);
  if (flags.warehouse !== undefined) {
    return { warehouse: resolve(io.cwd, flags.warehouse), memoryLimit: DEFAULT_MEMORY_LIMIT_BYTES, onRebuilt };
  }
  const { warehouse } = await configOf(flags, io, { withoutTokens: true });
  return { warehouse: warehouse.path, memoryLimit: warehouse.memory_limit, onRebuilt };
}

/** Logs each state that had to be rebuilt from the log. */
export function rebuiltLog(flags: Globals, io: Io): (websiteId: string, file: string) => void {
  return (website_id, file) => loggerOf(flags, io).info({ website_id, file }, 'rebuilt the state from the log');
}

/** Warns on stderr about files that an answer left out, and returns the exit code. */
export function exitFor(damaged: readonly DamagedFile[], { stderr }: Io): number {
  if (damaged.length === 0) return EXIT.done;
  stderr.write(`${safeLines(`indexhouse: ${damageWarning(damaged)}`)}\n`);
  return EXIT.warnings;
}

/** Says on stderr what a restored warehouse lacks. */
export async function tellHistory({ warehouse }: Pick<ReaderOptions, 'warehouse'>, { stderr }: Io): Promise<void> {
  const restored = await readRestored(warehouse);
  if (restored) stderr.write(`${safeLines(`indexhouse: ${historyNotice(restored)}`)}\n`);
}

/** A logger on stderr that masks the configuration's tokens. */
export function loggerOf(flags: Globals, io: Io, config?: Config): Logger {
  return createLogger({
    level: flags.logLevel ?? 'info',
    destination: io.stderr,
    color: colorsWanted(io.stderr, io.env),
    secrets: config ? secretsOf(config) : [],
  });
}

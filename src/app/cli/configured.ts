import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import type { Reader } from '../../answers/query/reader.js';
import type { ReaderOptions } from '../../answers/query/reader-options.js';
import { ageText, type DataAge } from '../../answers/status/data-age.js';
import type { StatusInput } from '../../answers/status/found.js';
import { STATUS_DEFAULTS, statusInputOf } from '../../answers/status/status-input.js';
import { accountProblem, type GoogleConfig, googleFor } from '../../base/config/google.js';
import { configFile, loadConfig, type Overrides, settingsWithoutFile } from '../../base/config/load.js';
import { type Config, warehousePath } from '../../base/config/schema.js';
import { secretsOf } from '../../base/config/websites.js';
import { UsageError } from '../../base/exit.js';
import { createLogger, type Logger } from '../../base/observe/log.js';
import { colorsWanted, safeLines } from '../../base/observe/terminal.js';
import type { Globals, Io, ReadFlags } from './io.js';

/**
 * Loads the configuration that the flags name.
 *
 * @param options `withoutTokens`: for commands that send no request
 */
export function configOf(
  flags: Globals,
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  options: { withoutTokens?: boolean; overrides?: Overrides } = {},
): Promise<Config> {
  return loadConfig({ file: flags.config, env, cwd, ...options });
}

/** Section `google` as an account sees it; without a configuration, the defaults and what the environment sets. @throws UsageError */
export async function googleSettings(
  { account, ...flags }: Globals & { account?: string },
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): Promise<GoogleConfig> {
  const hasFile = existsSync(configFile({ file: flags.config, env, cwd }));
  const { google } = hasFile
    ? await configOf(flags, { env, cwd }, { withoutTokens: true })
    : settingsWithoutFile({ env, cwd }, {});
  const problem = account === undefined ? null : accountProblem(google, account);
  if (problem) throw new UsageError(`--account ${account} ${problem}`);
  return googleFor(google, account ?? null);
}

/** The folder that a flag names. @throws UsageError if it names a bucket */
export function folderOf(flag: string, { cwd }: Pick<Io, 'cwd'>): string {
  return resolve(cwd, flagValue(warehousePath(), '--warehouse', flag));
}

/** What a reader is to read, and how its status is judged. */
export type Reading = ReaderOptions & { status: StatusInput };

/** The warehouse that the flags or the configuration name, for a reader. */
export async function readingOf(flags: ReadFlags, io: Io): Promise<Reading> {
  const { warehouse, pages_from: pagesFrom, status } = await settingsFor(flags, io);
  const { path, memory_limit: memoryLimit } = warehouse;
  return { warehouse: path, memoryLimit, onRebuilt: rebuiltLog(flags, io), pagesFrom, ageRule: status, status };
}

/** The settings of what is served or examined, and how its status is judged. */
export interface Settings extends Pick<Config, 'warehouse' | 'service' | 'pages_from'>, Partial<Pick<Config, 'views'>> {
  status: StatusInput;
}

/** The configured settings; of a warehouse that a flag names, the defaults and what the environment sets. */
export async function settingsFor(
  { warehouse, ...flags }: ReadFlags,
  io: Pick<Io, 'env' | 'cwd'>,
  overrides: Overrides = {},
): Promise<Settings> {
  if (warehouse !== undefined) {
    const settings = settingsWithoutFile(io, { ...overrides, warehouse: { path: folderOf(warehouse, io) } });
    const { path } = settings.warehouse;
    return { ...settings, status: { ...STATUS_DEFAULTS, warehouse: path, now: Date.now() } };
  }
  const config = await configOf(flags, io, { withoutTokens: true, overrides });
  return { ...config, status: statusInputOf(config) };
}

/** The value of a flag that is written like one of the configuration. @throws UsageError */
export function flagValue<T>(schema: z.ZodType<T>, flag: string, text: string): T {
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${flag} ${text} ${parsed.error.issues[0]?.message.replace('\n', '. ')}`);
}

/** Logs each state that had to be rebuilt from the log. */
export function rebuiltLog(flags: Globals, io: Io): (websiteId: string, file: string) => void {
  return (website_id, file) => loggerOf(flags, io).info({ website_id, file }, 'rebuilt the state from the log');
}

/** Says on stderr as of when an answer is; with `--log-level warn`, only if it is too old. */
export function writeAge(age: DataAge | null, { logLevel = 'info' }: Globals, { stderr }: Pick<Io, 'stderr'>): void {
  const shown = ['trace', 'debug', 'info', ...(age?.old == null ? [] : ['warn'])];
  if (age === null || !shown.includes(logLevel)) return;
  stderr.write(`${safeLines(`indexhouse: ${ageText(age)}`)}\n`);
}

/** Says on stderr what is wrong with the user's file about pages. */
export function writeNotes({ own }: Reader, { stderr }: Io): void {
  for (const note of own.notes) stderr.write(`${safeLines(`indexhouse: ${note}`)}\n`);
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

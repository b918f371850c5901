import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import type { Reader } from '../../answers/query/reader.js';
import type { ReaderOptions } from '../../answers/query/reader-options.js';
import { ageText, type DataAge } from '../../answers/status/data-age.js';
import type { StatusInput } from '../../answers/status/found.js';
import { STATUS_DEFAULTS, statusInputOf } from '../../answers/status/status-input.js';
import { isBucketUrl } from '../../base/config/bucket.js';
import { accountProblem, type GoogleConfig, googleFor } from '../../base/config/google.js';
import { configFile, loadConfig, settingsWithoutFile } from '../../base/config/load.js';
import type { Overrides } from '../../base/config/overrides.js';
import { daysOrUnlimited } from '../../base/config/scalars.js';
import type { Config } from '../../base/config/schema.js';
import { secretsOf } from '../../base/config/websites.js';
import { UsageError } from '../../base/exit.js';
import { ago } from '../../base/observe/format.js';
import { createLogger, type Logger } from '../../base/observe/log.js';
import { colorsWanted, safeLines } from '../../base/observe/terminal.js';
import { DAY_MS } from '../../base/time.js';
import type { BucketCache, PlaceSettings } from '../../warehouse/bucket/cache.js';
import { historyNotice, readRestored } from '../../warehouse/log/folder/restored.js';
import type { Globals, ReadFlags } from './command.js';
import { EXIT, type Io } from './io.js';

/**
 * Loads the configuration that the flags name.
 *
 * @param options `withoutTokens`: for commands that send no request; `orBucket`: for those that can read a bucket
 * @throws UsageError if the warehouse is a bucket and `orBucket` is not set
 */
export async function configOf(
  flags: Globals,
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  { orBucket = false, ...options }: { withoutTokens?: boolean; overrides?: Overrides; orBucket?: boolean } = {},
): Promise<Config> {
  const config = await loadConfig({ file: flags.config, env, cwd, ...options });
  if (!orBucket) checkFolder(config.warehouse.path);
  return config;
}

/** Section `google` as an account sees it; without a configuration, the defaults and what the environment sets. @throws UsageError */
export async function googleSettings(
  { account, ...flags }: Globals & { account?: string },
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): Promise<GoogleConfig> {
  const hasFile = existsSync(configFile({ file: flags.config, env, cwd }));
  const { google } = hasFile ? await configOf(flags, { env, cwd }, READERS) : settingsWithoutFile({ env, cwd }, {});
  const problem = account === undefined ? null : accountProblem(google, account);
  if (problem) throw new UsageError(`--account ${account} ${problem}`);
  return googleFor(google, account ?? null);
}

/** The warehouse folder that a flag or the configuration names. @throws UsageError if it is a bucket */
export async function folderToRead(
  flags: ReadFlags,
  io: Io,
): Promise<Pick<ReaderOptions, 'warehouse' | 'memoryLimit'>> {
  const { warehouse } = await settingsFor(flags, io);
  checkFolder(warehouse.path);
  return { warehouse: warehouse.path, memoryLimit: warehouse.memory_limit };
}

/** The folder that a flag names. @throws UsageError if it names a bucket */
export function folderOf(flag: string, { cwd }: Io): string {
  checkFolder(flag);
  return resolve(cwd, flag);
}

function checkFolder(place: string): void {
  if (!isBucketUrl(place)) return;
  throw new UsageError(
    `${place} is a bucket, which only query, report, status, verify, serve, mcp, keys and doctor read: name a folder instead; ` +
      `\`indexhouse restore --from ${place} --warehouse <folder>\` fills one`,
  );
}

/** Listings and reports that readers fetch from a bucket, if they are not asked for more. */
const DEFAULT_HISTORY = '100d';

/** What a reader is to read: a folder, or a bucket by way of the folder that keeps what was fetched from there. */
export type Reading = ReaderOptions & { cache?: BucketCache | undefined; status: StatusInput };

/** Hands the warehouse that the flags or the configuration name to a reader, which has it until `use` ends. */
export async function reading<T>(flags: ReadFlags, io: Io, use: (options: Reading) => Promise<T>): Promise<T> {
  const settings = await settingsFor(flags, io);
  const { warehouse, pages_from: pagesFrom, status } = settings;
  const read = { memoryLimit: warehouse.memory_limit, onRebuilt: rebuiltLog(flags, io), pagesFrom };
  return inFolder(settings, io, (place) => use({ ...place, ...read, ageRule: status, status }), flags.history);
}

/** How commands that only read load the configuration. */
export const READERS = { withoutTokens: true, orBucket: true } as const;

/** The settings for a warehouse that a flag names, without a configuration. */
function settingsOf(place: string, { env, cwd }: Pick<Io, 'env' | 'cwd'>, overrides: Overrides = {}) {
  const path = isBucketUrl(place) ? place : resolve(cwd, place);
  return settingsWithoutFile({ env, cwd }, { ...overrides, warehouse: { path } });
}

/** The settings of what is served or examined, and how its status is judged. */
export interface Settings
  extends PlaceSettings,
    Pick<Config, 'service' | 'pages_from'>,
    Partial<Pick<Config, 'views'>> {
  status: StatusInput;
}

/** The configured settings; of a warehouse that a flag names, the defaults and what the environment sets. */
export async function settingsFor(
  { warehouse, ...flags }: ReadFlags,
  io: Pick<Io, 'env' | 'cwd'>,
  overrides: Overrides = {},
): Promise<Settings> {
  if (warehouse !== undefined) {
    return { ...settingsOf(warehouse, io, overrides), status: { ...STATUS_DEFAULTS, warehouse, now: Date.now() } };
  }
  const config = await configOf(flags, io, { ...READERS, overrides });
  return { ...config, status: statusInputOf(config) };
}

/** Hands the folder of a warehouse to `use`: its own, or the one that caches what is fetched from its bucket. */
export async function inFolder<T>(
  settings: PlaceSettings,
  io: Io,
  use: (place: { warehouse: string; cache?: BucketCache }) => Promise<T>,
  history = DEFAULT_HISTORY,
): Promise<T> {
  const { path } = settings.warehouse;
  if (!isBucketUrl(path)) return use({ warehouse: path });
  const { fetchedCache } = await import('./serving/fetched-cache.js');
  const cache = await fetchedCache(settings, historyDaysOf(history), io);
  try {
    return await use({ warehouse: cache.folder, cache });
  } finally {
    await cache.close();
  }
}

/** How many days of listings and reports to fetch; null for all. @param text such as `30d` */
export function historyDaysOf(text: string): number | null {
  const ms = flagValue(daysOrUnlimited(), '--history', text);
  return Number.isFinite(ms) ? Math.round(ms / DAY_MS) : null;
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

/** The exit code of an answer. Warns on stderr if it is from an old copy of a bucket. */
export function exitFor(cache: BucketCache | undefined, { stderr }: Io): number {
  if (!cache?.failure) return EXIT.done;
  const warning = `answered from what was fetched ${ago(Date.now() - cache.readAt)}: ${cache.failure}`;
  stderr.write(`${safeLines(`indexhouse: ${warning}`)}\n`);
  return EXIT.warnings;
}

/** Says on stderr as of when an answer is; with `--log-level warn`, only if it is too old. */
export function writeAge(age: DataAge | null, { logLevel = 'info' }: Globals, { stderr }: Pick<Io, 'stderr'>): void {
  const shown = ['trace', 'debug', 'info', ...(age?.old == null ? [] : ['warn'])];
  if (age === null || !shown.includes(logLevel)) return;
  stderr.write(`${safeLines(`indexhouse: ${ageText(age)}`)}\n`);
}

/** Says on stderr which history an answer lacks, and what is wrong with the user's file about pages. */
export async function writeLacks({ lacksHistory, own, options }: Reader, { stderr }: Io): Promise<void> {
  const restored = lacksHistory ? await readRestored(options.warehouse) : null;
  const lacks = [...(restored ? [historyNotice(restored)] : []), ...own.notes];
  for (const one of lacks) stderr.write(`${safeLines(`indexhouse: ${one}`)}\n`);
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

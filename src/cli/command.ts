import { Command, Option } from 'commander';
import type { Config } from '../config/schema.js';
import type { LogLevel } from '../observe/log.js';

/** What a command leaves for `main` to exit with. */
export interface Outcome {
  exitCode: number;
}

/** Exit codes, as documented. */
export const EXIT = { done: 0, failed: 1, usage: 2, look: 3, busy: 4 } as const;

/** The command line asks for something that does not exist. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The options that every command takes, before or after its name. */
export interface Globals {
  config?: string;
  json?: boolean;
  logLevel?: LogLevel;
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** A command with the options that every command takes. */
export function newCommand(name: string, description: string): Command {
  return withGlobals(new Command(name).description(description));
}

export function withGlobals(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration file (default: indexhouse.yaml)')
    .option('--json', 'print one JSON document to stdout')
    .addOption(new Option('--log-level <level>', 'how much to log to stderr (default: info)').choices(LEVELS));
}

/** The options of a command together with those that were given before its name. */
export function flagsOf<T extends Globals>(command: Command): T {
  return command.optsWithGlobals<T>();
}

/** Loads the configuration that the flags name. `withoutTokens`: for what asks the service nothing. */
export async function configOf(
  flags: Globals,
  options: { withoutTokens?: boolean; overrides?: import('../config/overrides.js').Overrides } = {},
): Promise<Config> {
  const { loadConfig } = await import('../config/load.js');
  return loadConfig({ file: flags.config, env: process.env, cwd: process.cwd(), ...options });
}

/** @throws UsageError where a website is asked for that the configuration does not list */
export function checkWebsites(asked: readonly string[], configured: Config['websites']): void {
  if (configured === 'all') return;
  const unknown = asked.filter((id) => !configured.some((website) => website.id === id));
  if (unknown.length === 0) return;
  const known = configured.map(({ id }) => id).join(', ');
  throw new UsageError(`--website ${unknown.join(', ')} is not configured; configured are: ${known}`);
}

/** A token of the configuration, as the logger masks them. */
export function secretsOf({ api, websites }: Config): string[] {
  const own = websites === 'all' ? [] : websites.flatMap(({ token }) => (token ? [token] : []));
  return [api.token, ...own];
}

/** Left bare where a shell would take it as one word, else in single quotes. */
export function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The version of this package. Read without a schema library: `--help` waits for it. */
export async function packageVersion(): Promise<string> {
  const [{ readFile }, { join }, { packageFolder }] = await Promise.all([
    import('node:fs/promises'),
    import('node:path'),
    import('../storage/sql.js'),
  ]);
  const parsed: unknown = JSON.parse(await readFile(join(packageFolder(), 'package.json'), 'utf8'));
  const version = typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : null;
  if (typeof version !== 'string') throw new Error('package.json has no version: the installation is damaged');
  return version;
}

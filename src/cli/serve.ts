import { once } from 'node:events';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Config } from '../config/schema.js';
import type { StoredKey } from '../keys/key-file.js';
import type { RunningService } from '../served/running-service.js';
import { PREFIX_FORM } from '../service/prefix.js';
import { configOf, EXIT, flagsOf, type Globals, newCommand, type Outcome, quoted, UsageError } from './command.js';
import { DEFAULT_MEMORY_LIMIT_BYTES } from './reader-options.js';
import { stopSignal } from './signals.js';

const HELP = `
Asks the service nothing and takes no lock: syncs and queries go on beside it. Whoever asks needs a key (indexhouse keys).
Beyond loopback it wants a proxy with TLS in front: it speaks plain HTTP.

Examples:
  indexhouse keys add --label dashboard --website all    prints a token
  indexhouse serve                                       until Ctrl-C or SIGTERM
  indexhouse serve --warehouse /data/wh --port 0 --json  of a folder, without a configuration, on a free port`;

interface Flags extends Globals {
  host?: string;
  port?: string;
  rateLimit?: string;
  prefix: string;
  warehouse?: string;
}

interface Settings {
  warehouse: string;
  memoryLimit: number;
  service: Config['service'];
}

/** `indexhouse serve`: the service's own interface over the warehouse, until it is stopped. */
export function serveCommand(outcome: Outcome): Command {
  return newCommand('serve', "serve the warehouse over the service's own HTTP interface, past states included")
    .option('--host <address>', 'address to listen on; beyond loopback only with a key (default: 127.0.0.1)')
    .option('--port <number>', 'port to listen on; 0 takes a free one (default: 8090)')
    .option('--rate-limit <per minute>', 'requests a minute for each key, or "unlimited" (default: unlimited)')
    .addOption(
      new Option('--prefix <path>', 'path in front of /v1, e.g. /tenant/api').argParser(prefixFlag).default('', 'none'),
    )
    .option('--warehouse <folder>', 'the warehouse, instead of the one that the configuration names')
    .addHelpText('after', HELP)
    .action(async (_: Flags, command: Command) => {
      outcome.exitCode = await serve(flagsOf<Flags>(command));
    });
}

async function serve(flags: Flags): Promise<number> {
  const settings = await settingsOf(flags);
  const keys = await keysOf(settings, flags);
  const { signal, release } = stopSignal();
  try {
    const service = await started(settings, flags);
    try {
      const told = flags.json ? summary : greeting;
      process.stdout.write(await told({ service, settings, keys, flags }));
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await service.close();
    }
  } finally {
    release();
  }
  return EXIT.done;
}

/** A folder that is named alone needs no configuration; the environment counts all the same. */
async function settingsOf(flags: Flags): Promise<Settings> {
  const { host, port, rateLimit, warehouse: folder } = flags;
  const overrides = { service: { host, port, requests_per_minute: rateLimit } };
  if (folder !== undefined) {
    const { serviceSettings } = await import('../config/load.js');
    const service = serviceSettings(process.env, overrides);
    return { warehouse: resolve(folder), memoryLimit: DEFAULT_MEMORY_LIMIT_BYTES, service };
  }
  const { warehouse, service } = await configOf(flags, { withoutTokens: true, overrides });
  return { warehouse: warehouse.path, memoryLimit: warehouse.memory_limit, service };
}

/** @throws UsageError where others could connect and there is nothing that they could be told apart by */
async function keysOf({ warehouse, service }: Settings, flags: Flags): Promise<StoredKey[]> {
  const [{ checkWarehouseThere }, { readKeys }, { isLoopback }] = await Promise.all([
    import('../warehouse/prepare.js'),
    import('../keys/key-file.js'),
    import('../service/addresses.js'),
  ]);
  await checkWarehouseThere(warehouse);
  const keys = await readKeys(warehouse);
  if (keys.length > 0 || isLoopback(service.host)) return keys;
  throw new UsageError(
    `${service.host} is reachable from elsewhere, and there is no key yet that could tell who asks. ` +
      `Add one first: ${addCommand(flags)}`,
  );
}

async function started({ warehouse, memoryLimit, service }: Settings, flags: Flags): Promise<RunningService> {
  const [{ startService }, { createLogger }, { timeZoneOf }] = await Promise.all([
    import('../served/running-service.js'),
    import('../observe/log.js'),
    import('../warehouse/prepare.js'),
  ]);
  return startService({
    warehouse,
    memoryLimit,
    timeZone: (await timeZoneOf(warehouse)) ?? 'UTC',
    host: service.host,
    port: service.port,
    prefix: flags.prefix,
    requestsPerMinute: service.requests_per_minute,
    pageSize: service.page_size,
    maxPageSize: service.max_page_size,
    connectionsPerAddress: service.connections_per_address,
    trustProxy: service.trust_proxy,
    allowedHosts: service.allowed_hosts,
    secureCookies: service.secure_cookies,
    cors: service.cors,
    accessLog: service.access_log,
    log: createLogger({ level: flags.logLevel ?? 'info' }),
  });
}

interface Told {
  service: RunningService;
  settings: Settings;
  keys: readonly StoredKey[];
  flags: Flags;
}

/** One line, so that who started it can read until its end. */
async function summary({ service: { url, websites }, settings, keys }: Told): Promise<string> {
  const { escapedJson } = await import('./output.js');
  const perMinute = settings.service.requests_per_minute;
  const requests_per_minute = Number.isFinite(perMinute) ? perMinute : 'unlimited';
  const { warehouse } = settings;
  return `${escapedJson(JSON.stringify({ base_url: url, warehouse, websites, keys: keys.length, requests_per_minute }))}\n`;
}

async function greeting({ service: { url, websites }, settings, keys, flags }: Told): Promise<string> {
  const [{ formatTable }, { safe }] = await Promise.all([import('./output.js'), import('../observe/terminal.js')]);
  const rows = websites.map(({ id, name }) => [id, name]);
  const table = formatTable(['website', 'name'], rows, { width: process.stdout.columns });
  const none = 'It holds no snapshot yet; what `indexhouse sync` brings is served without a restart.\n';
  const first = encodeURIComponent(websites[0]?.id ?? '');
  const path = first === '' ? '/v1' : `/v1/urls/${first}?limit=2`;
  const noKey = `There is no key yet, so every request is answered with 401. Add one:\n  ${addCommand(flags)}\n\n`;
  return `Serving ${safe(settings.warehouse)} at ${url}

${websites.length === 0 ? none : table}
${keys.length === 0 ? noKey : ''}Try, with the token of a key in INDEXHOUSE_KEY:
  curl -H "Authorization: Bearer $INDEXHOUSE_KEY" ${quoted(url + path)}

Stop with Ctrl-C.
`;
}

/** The command that adds a key to this warehouse. */
function addCommand({ warehouse, config }: Flags): string {
  const place =
    warehouse !== undefined ? ` --warehouse ${quoted(warehouse)}` : config ? ` --config ${quoted(config)}` : '';
  return `indexhouse keys add --label reader --website all${place}`;
}

function prefixFlag(text: string): string {
  if (PREFIX_FORM.test(text)) return text;
  throw new InvalidArgumentError('Write it like /tenant/api.');
}

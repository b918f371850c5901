import { once } from 'node:events';
import { resolve } from 'node:path';
import type { StatusInput } from '../analysis/status.js';
import { DEFAULT_MEMORY_LIMIT_BYTES, STATUS_DEFAULTS, statusInputOf } from '../analysis/status-input.js';
import { serviceSettings } from '../config/load.js';
import type { Overrides } from '../config/overrides.js';
import type { Config } from '../config/schema.js';
import { UsageError } from '../exit.js';
import { readKeys, type StoredKey } from '../keys/key-file.js';
import { shellWord } from '../observe/format.js';
import { escapedJson, safe } from '../observe/terminal.js';
import { isLoopback } from '../service/addresses.js';
import { checkWarehouseThere, timeZoneOf } from '../warehouse/prepare.js';
import { configOf, loggerOf } from './configured.js';
import { EXIT, type Io, stoppable, widthOf } from './io.js';
import { formatTable } from './output.js';
import type { Globals } from './program.js';
import { type RunningService, type ServiceOptions, startService } from './running-service.js';

export interface Flags extends Globals {
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
  status: StatusInput;
}

/** `indexhouse serve`: the service's own interface over the warehouse, until it is stopped. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const settings = await settingsOf(flags, io);
  const keys = await keysOf(settings, flags, io);
  const { prefix } = flags;
  await serveUntilStopped({ ...settings, prefix, log: loggerOf(flags, io) }, io, (service) => {
    const shown = { service, settings, keys, addCommand: addCommand(flags, io) };
    io.stdout.write(flags.json ? summary(shown) : greeting(shown, widthOf(io.stdout)));
  });
  return EXIT.done;
}

/** Serves a warehouse until the process is asked to stop. */
export async function serveUntilStopped(
  options: Omit<ServiceOptions, 'timeZone'>,
  io: Io,
  onStarted: (service: RunningService) => void,
): Promise<void> {
  await stoppable(io, async (signal) => {
    const timeZone = (await timeZoneOf(options.warehouse)) ?? 'UTC';
    const service = await startService({ ...options, timeZone });
    try {
      onStarted(service);
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await service.close();
    }
  });
}

/** With --warehouse no configuration is needed; environment variables still apply. */
async function settingsOf(flags: Flags, io: Io): Promise<Settings> {
  const { host, port, rateLimit, warehouse: folder } = flags;
  const overrides = { service: { host, port, requests_per_minute: rateLimit } };
  if (folder !== undefined) return settingsWithoutConfig(resolve(io.cwd, folder), overrides, io);
  const config = await configOf(flags, io, { withoutTokens: true, overrides });
  const { warehouse, service } = config;
  const status = statusInputOf(config);
  return { warehouse: warehouse.path, memoryLimit: warehouse.memory_limit, service, status };
}

/** The settings for a warehouse, by its absolute path, of which there is no configuration. */
export function settingsWithoutConfig(warehouse: string, overrides: Overrides, { env }: Pick<Io, 'env'>): Settings {
  const status = { ...STATUS_DEFAULTS, warehouse, now: 0 };
  return { warehouse, memoryLimit: DEFAULT_MEMORY_LIMIT_BYTES, service: serviceSettings(env, overrides), status };
}

/** @throws UsageError where other machines could connect and no key exists to authenticate them */
async function keysOf({ warehouse, service }: Settings, flags: Flags, io: Io): Promise<StoredKey[]> {
  await checkWarehouseThere(warehouse);
  const keys = await readKeys(warehouse);
  if (keys.length > 0 || isLoopback(service.host)) return keys;
  throw new UsageError(
    `${service.host} can be reached from other machines, and no key exists yet. ` +
      `Add one first: ${addCommand(flags, io)}`,
  );
}

interface Started {
  service: RunningService;
  settings: Settings;
  keys: readonly StoredKey[];
  addCommand: string;
}

/** One line, so that a parent process can read until its end. */
function summary({ service: { url, websites }, settings, keys }: Started): string {
  const perMinute = settings.service.requests_per_minute;
  const requests_per_minute = Number.isFinite(perMinute) ? perMinute : 'unlimited';
  const { warehouse } = settings;
  return `${escapedJson(JSON.stringify({ base_url: url, warehouse, websites, keys: keys.length, requests_per_minute }))}\n`;
}

function greeting(
  { service: { url, websites }, settings, keys, addCommand }: Started,
  width: number | undefined,
): string {
  const rows = websites.map(({ id, name }) => [id, name]);
  const table = formatTable(['website', 'name'], rows, { width });
  const none = 'No snapshots yet. New ones are served without a restart.\n';
  const first = encodeURIComponent(websites[0]?.id ?? '');
  const path = first === '' ? '/v1' : `/v1/urls/${first}?limit=2`;
  const noKey = `No keys yet, so every request gets a 401. Add one:\n  ${addCommand}\n\n`;
  return `Serving ${safe(settings.warehouse)} at ${url}
Dashboard: ${url}/
API docs:  ${url}/docs

${websites.length === 0 ? none : table}
${keys.length === 0 ? noKey : ''}Try, with the token of a key in INDEXHOUSE_KEY:
  curl -H "Authorization: Bearer $INDEXHOUSE_KEY" ${shellWord(url + path)}

Stop with Ctrl-C.
`;
}

/** The command that adds a key to this warehouse. */
function addCommand({ warehouse, config }: Flags, { program }: Io): string {
  const place =
    warehouse !== undefined ? ` --warehouse ${shellWord(warehouse)}` : config ? ` --config ${shellWord(config)}` : '';
  return `${program} keys add --label reader --website all${place}`;
}

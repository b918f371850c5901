import { once } from 'node:events';
import { UsageError } from '../../../base/exit.js';
import { shellWord } from '../../../base/observe/format.js';
import { escapedJson, safe } from '../../../base/observe/terminal.js';
import { isLoopback } from '../../../serve/api/addresses.js';
import { readKeys, type StoredKey } from '../../../serve/keys/key-file.js';
import { checkWarehouseThere, timeZoneOf } from '../../../warehouse/log/folder/prepare.js';
import { loggerOf, type Settings, settingsFor } from '../configured.js';
import { EXIT, type Io, type ReadFlags, stoppable, widthOf } from '../io.js';
import { formatTable } from '../output/output.js';
import { type RunningService, type ServiceOptions, startService } from '../serving/running-service.js';

export interface Flags extends ReadFlags {
  host?: string;
  port?: string;
  rateLimit: number | 'unlimited';
  prefix: string;
}

/** `indexhouse serve`: serves the service's own HTTP API from the warehouse, until it is stopped. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const { host, port, prefix } = flags;
  const rateLimit = flags.rateLimit === 'unlimited' ? undefined : flags.rateLimit;
  const settings = await settingsFor(flags, io, { service: { host, port } });
  const keys = await keysOf(settings, flags, io);
  const options = { ...optionsOf(settings), prefix, rateLimit, logger: loggerOf(flags, io) };
  await serveUntilStopped(options, io, (service) => {
    const shown = { service, settings, keys, addCommand: addCommand(flags, io) };
    io.stdout.write(flags.json ? summary(shown, flags) : greeting(shown, widthOf(io.stdout)));
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
    const timeZone = await timeZoneOf(options.warehouse);
    const service = await startService({ ...options, timeZone });
    try {
      onStarted(service);
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await service.close();
    }
  });
}

/** The options to serve a warehouse. */
export function optionsOf({ warehouse, service, status, views, pages_from: pagesFrom }: Settings) {
  return { warehouse: warehouse.path, memoryLimit: warehouse.memory_limit, service, views, status, pagesFrom };
}

/** @throws UsageError if other machines could connect and no key exists to authenticate them */
async function keysOf({ warehouse: { path }, service }: Settings, flags: Flags, io: Io): Promise<StoredKey[]> {
  await checkWarehouseThere(path);
  const keys = await readKeys(path);
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
function summary({ service: { url, websites }, settings, keys }: Started, { rateLimit }: Flags): string {
  const shown = { base_url: url, warehouse: settings.warehouse.path, websites, keys: keys.length };
  return `${escapedJson(JSON.stringify({ ...shown, requests_per_minute: rateLimit }))}\n`;
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
  return `Serving ${safe(settings.warehouse.path)} at ${url}
Dashboard: ${url}/
API:       ${url}/openapi.json

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

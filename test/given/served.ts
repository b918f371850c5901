import { join } from 'node:path';
import { readStatus } from '../../src/answers/status/status.js';
import { STATUS_DEFAULTS } from '../../src/answers/status/status-input.js';
import { addHealth, type ServiceOptions, startService } from '../../src/app/cli/serving/running-service.js';
import type { Simulator } from '../../src/app/demo/simulator/simulator.js';
import { settingsWithoutFile } from '../../src/base/config/load.js';
import type { Config } from '../../src/base/config/schema.js';
import { createLogger } from '../../src/base/observe/log.js';
import { buildServer, type ServerOptions } from '../../src/serve/api/http.js';
import type { Store } from '../../src/serve/api/store.js';
import { LiveReader } from '../../src/serve/store/live-reader.js';
import { WarehouseStore } from '../../src/serve/store/warehouse-store.js';
import { atEnd, temporaryFolder } from './folder.js';
import { syncAt } from './warehouse.js';

export const MEMORY_LIMIT = 256_000_000;

export type ServedWarehouse = Awaited<ReturnType<typeof serveWarehouse>>;

interface ServeGiven {
  warehouse: string;
  /** What time it is, in milliseconds since 1970. */
  now: () => number;
  /** Which websites which token may read. */
  keys: Record<string, string[]>;
  /** Milliseconds that never go back: when the warehouse is looked at again. */
  clock?: () => number;
  options?: ServerOptions;
}

/** Serves a warehouse on loopback as `indexhouse serve` does, until the end. */
export async function serveWarehouse(given: ServeGiven) {
  const { warehouse, now, keys, options = {} } = given;
  const unreadable: string[] = [];
  const onUnreadable = (file: string) => void unreadable.push(file);
  const reader = new LiveReader({ warehouse, memoryLimit: MEMORY_LIMIT, onUnreadable }, given.clock);
  const findKey: Store['findKey'] = async (token) => {
    const websites = keys[token];
    if (!websites) return null;
    const account = { _id: 'account', email: 'account@example.com' };
    const access = websites.map((_id) => ({ _id, url: `${_id}.example` }));
    return { _id: token, api_key_label: token, account, websites_access: access };
  };
  const store = new WarehouseStore({ warehouse, reader, timeZone: 'UTC', now, findKey });
  const setup: ServerOptions['setup'] = (server) => {
    const statusInput = { ...STATUS_DEFAULTS, warehouse, now: now?.() ?? Date.now() };
    const verdict = () => readStatus(statusInput);
    const known = { findKey, readsAll: () => false };
    addHealth(server, { reader, keys: known, prefix: options.prefix ?? '', verdict, statusInput });
    options.setup?.(server);
  };
  const app = buildServer(store, { ...options, setup });
  const baseUrl = `${await app.listen({ host: '127.0.0.1', port: 0 })}${options.prefix ?? ''}`;
  atEnd(async () => {
    await app.close();
    reader.close();
  });
  const authorization = `Bearer ${Object.keys(keys)[0]}`;
  const get = (path: string, init: RequestInit = {}) =>
    fetch(baseUrl + path, { ...init, headers: { authorization, ...init.headers } });
  // `get` asks with the first of the keys, unless a header names another.
  return { baseUrl, unreadable, get };
}

/** Serves what one sync of a simulator gives, at the time of its world. @param given `token`: the key of the sync */
export async function serveSimulated(
  { url: baseUrl, world }: Simulator,
  { token, ...given }: Pick<ServeGiven, 'keys' | 'options'> & { token: string },
) {
  const warehouse = join(temporaryFolder(), 'warehouse');
  const now = world.now.getTime();
  await syncAt({ baseUrl, warehouse, at: world.now.toISOString(), sections: { api: { token } } });
  return serveWarehouse({ ...given, warehouse, now: () => now });
}

/** A whole service in this process, which logs nothing unless the options say so. */
export function serviceOver(
  warehouse: string,
  settings: Partial<Config['service']> = {},
  options: Partial<ServiceOptions> = {},
): ReturnType<typeof startService> {
  return startService({
    warehouse,
    memoryLimit: MEMORY_LIMIT,
    timeZone: 'UTC',
    prefix: '',
    service: { ...settingsWithoutFile({ env: {}, cwd: '/' }, { service: { port: 0 } }).service, ...settings },
    status: { ...STATUS_DEFAULTS, warehouse, now: 0 },
    logger: createLogger({ level: 'silent' }),
    ...options,
  });
}

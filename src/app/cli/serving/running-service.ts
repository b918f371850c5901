import type { FastifyInstance } from 'fastify';
import type { StatusInput } from '../../../answers/status/found.js';
import { metricsOf } from '../../../answers/status/metrics.js';
import { readStatus, type Status, statusForKey, UNREADABLE } from '../../../answers/status/status.js';
import type { Config } from '../../../base/config/schema.js';
import { EXIT } from '../../../base/exit.js';
import type { Logger } from '../../../base/observe/log.js';
import { MINUTE_MS } from '../../../base/time.js';
import { packageVersion } from '../../../base/version.js';
import { addressesIn } from '../../../serve/api/addresses.js';
import { presentedKey, readableBy } from '../../../serve/api/admission.js';
import { buildServer } from '../../../serve/api/http.js';
import { refuseOtherHosts } from '../../../serve/api/refusals.js';
import { errorLog, requestLog } from '../../../serve/api/request-log.js';
import { KeyClients } from '../../../serve/assistant/clients.js';
import { addAssistant } from '../../../serve/assistant/http.js';
import { addDashboard } from '../../../serve/dashboard/dashboard.js';
import { LiveKeys } from '../../../serve/keys/live-keys.js';
import { LiveReader, type ServedWebsite } from '../../../serve/store/live-reader.js';
import { QuestionQueue } from '../../../serve/store/question-queue.js';
import { WarehouseStore } from '../../../serve/store/warehouse-store.js';
import type { KeyDetails } from '../../../source/contract/key.js';
import { drained, known, listen } from './http-server.js';

export interface ServiceOptions {
  warehouse: string;
  /** DuckDB's, in bytes. */
  memoryLimit: number;
  /** IANA name, of the warehouse's dates. */
  timeZone: string;
  /** Path in front of `/v1`, or an empty text. */
  prefix: string;
  /** Requests per minute and key; unlimited if left out. */
  rateLimit?: number | undefined;
  service: Config['service'];
  /** The user's file about pages, for the dashboard alone. */
  pagesFrom?: string | undefined;
  views?: Config['views'] | undefined;
  /** For reading the metrics, and for the age of the data. */
  status: StatusInput;
  logger: Logger;
}

export interface RunningService {
  /** Base address, prefix included. */
  url: string;
  websites: readonly ServedWebsite[];
  /** Accepts no more connections, lets requests in flight finish, and closes everything. */
  close(): Promise<void>;
}

/**
 * Serves a warehouse over HTTP until it is closed.
 *
 * @throws Failure if it cannot listen on the address
 * @throws WarehouseError if there is no warehouse
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const onUnreadable = (file: string, reason: string) =>
    options.logger.error({ file, reason }, 'a file of the warehouse cannot be read');
  const queue = new QuestionQueue();
  const reader = new LiveReader({ ...options, ageRule: options.status, queue, onUnreadable });
  const keys = new LiveKeys(options.warehouse, () => reader.websites());
  const { findKey } = keys;
  const store = new WarehouseStore({ ...options, reader, findKey, dashboard: `${options.prefix}/dashboard` });
  const { service, views, prefix } = options;
  const log = requestLog(options.logger);
  const onError = errorLog(options.logger);
  const statusInput = options.status;
  const status = statusOf(reader, statusInput);
  const verdict = () => status().catch(() => null);
  // A page of the dashboard does not wait for a newer one.
  const shown = known(verdict);
  const clients = new KeyClients({ ...options, queue, version: await packageVersion(), status, statusInput });
  const app = buildServer(store, {
    ...log,
    prefix,
    rateLimit: options.rateLimit,
    trustProxy: addressesIn(service.trust_proxy),
    onError,
    extend: (scope, api) => addAssistant(scope, api, { clients, onError }),
    setup: (server) => {
      log.setup?.(server);
      addHealth(server, { reader, keys, prefix, verdict, statusInput });
      addMetrics(server, { keys, prefix, status, statusInput });
      refuseOtherHosts(server, { listensOn: service.host, allowed: service.allowed_hosts });
      const statusFor = async (websites: readonly string[]) => {
        const found = await shown();
        return found && statusForKey(found, websites, statusInput);
      };
      const dashboard = { reader, findKey, onKey: log.onKey, prefix, views, onError };
      addDashboard(server, { ...dashboard, status: statusFor });
    },
  });
  const close = async (): Promise<void> => {
    await app.close();
    queue.interrupt();
    clients.close();
    reader.close();
  };
  try {
    const websites = await reader.websites();
    const address = await listen(app, service);
    const end = async (): Promise<void> => {
      queue.refuse();
      await drained(app, () => queue.interrupt());
      await close();
    };
    return { url: address + prefix, websites, close: end };
  } catch (error) {
    await close();
    throw error;
  }
}

interface HealthOptions extends Pick<ServiceOptions, 'prefix'> {
  reader: LiveReader;
  keys: Pick<LiveKeys, 'findKey' | 'readsAll'>;
  /** How the warehouse is doing; null if that cannot be read. */
  verdict: () => Promise<Status | null>;
  statusInput: StatusInput;
}

/**
 * Adds `/livez`, a 200 as long as this process answers, and `/healthz`, a 200 only if nothing needs attention and no file
 * that cannot be read was found. Whoever has no key learns that alone, a key what its websites need.
 */
export function addHealth(app: FastifyInstance, options: HealthOptions): void {
  const { reader, keys, prefix, verdict } = options;
  app.get(`${prefix}/livez`, async () => ({ status: 'ok' }));
  app.get(`${prefix}/healthz`, async (request, reply) => {
    const key = request.headers.authorization === undefined ? null : await presentedKey(request, keys);
    const readable = key && readableBy(key);
    const isAsked = (id: string): boolean => readable === null || readable.includes(id);
    const found = await verdict();
    const seen = found && key ? seenBy(key, found, options) : found;
    const unreadable = reader.unreadable(isAsked);
    const status = healthOf(seen, unreadable > 0);
    reply.code(status === 'ok' ? 200 : 503);
    if (key === null) return { status: status === 'ok' ? 'ok' : 'not ok' };
    return {
      last_night: seen?.last_night ?? UNREADABLE,
      status,
      waiting: seen?.waiting ?? null,
      overdue: seen?.overdue ?? null,
      stale: seen?.findings.flatMap(({ kind, website_id }) => (kind === 'stale' ? (website_id ?? []) : [])) ?? [],
      websites: (await reader.websites()).filter(({ id }) => isAsked(id)).length,
      commits: (await reader.markers()).filter(({ websiteId }) => isAsked(websiteId)).length,
      unreadable_files: unreadable,
    };
  });
}

/** The worst that is to be said, in a word. */
function healthOf(found: Status | null, isDegraded: boolean): string {
  if (found?.waiting) return 'waiting';
  if (found === null || found.exit_code === EXIT.failed) return 'failed';
  if (isDegraded) return 'degraded';
  return found.exit_code === EXIT.done ? 'ok' : 'warnings';
}

/** What a key may see of a status: what is about its websites and, if it is for all, about this machine. */
function seenBy(key: KeyDetails, found: Status, { keys, statusInput }: Pick<HealthOptions, 'keys' | 'statusInput'>) {
  return keys.readsAll(key) ? found : statusForKey(found, readableBy(key), statusInput);
}

/** How the warehouse is doing, at most a minute ago; after a run, it is read again. */
function statusOf(reader: LiveReader, input: StatusInput): () => Promise<Status> {
  let known: { at: number; markers: unknown; found: Promise<Status> } | null = null;
  return async () => {
    const markers = await reader.markers();
    const now = Date.now();
    if (known === null || now - known.at > MINUTE_MS || known.markers !== markers) {
      known = { at: now, markers, found: readStatus({ ...input, now }) };
    }
    return known.found;
  };
}

/** Adds `/metrics`: the figures of what a request's key may see. */
function addMetrics(
  app: FastifyInstance,
  { status, ...options }: Pick<HealthOptions, 'prefix' | 'keys' | 'statusInput'> & { status: () => Promise<Status> },
): void {
  app.get(`${options.prefix}/metrics`, async (request, reply) => {
    const key = await presentedKey(request, options.keys);
    reply.type('text/plain; version=0.0.4; charset=utf-8');
    return metricsOf(seenBy(key, await status(), options));
  });
}

import { buildServer } from '../../../serve/api/http.js';
import type { Limiter } from '../../../serve/api/rate-limit.js';
import type { Store } from '../../../serve/api/store.js';
import type { KeyDetails } from '../../../source/contract/key.js';
import type { OperationName } from './faults.js';
import { hashText } from './random.js';
import { type Simulation, type SimulationOptions, startSimulation } from './simulation.js';
import type { World } from './world.js';

export const DEMO_TOKEN = 'demo-token';

export interface SimulatorOptions extends SimulationOptions {
  /** Default: `demo-token`, which may read every website. */
  keys?: readonly SimulatedKey[];
  /** Path in front of `/v1`, e.g. `/tenant/api`. */
  prefix?: string;
  maxLimit?: number;
  /** Requests a minute for each key (default `unlimited`). */
  rateLimit?: number | 'unlimited';
  /** Instead of `rateLimit`: a limiter of another kind. */
  limiter?: Limiter;
}

export interface Simulator extends Simulation {
  /** The base URL: what precedes `/v1`, prefix included, without a trailing slash. */
  readonly url: string;
}

/**
 * Starts an upstream service over a seeded world, listening when the promise resolves. Rejects when the port is taken
 * or an option is unusable.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { prefix = '', maxLimit, rateLimit = 'unlimited', limiter, clock } = options;
  const keys = options.keys ?? [{ token: DEMO_TOKEN, label: 'demo', websites: 'all' }];
  const simulation = await startSimulation(options, {
    operationOf: (url) => operationOf(url, prefix),
    build: (world, setup) => {
      const limits = { limiter, rateLimit: rateLimit === 'unlimited' ? undefined : rateLimit, maxLimit, clock };
      return buildServer(worldStore(world, keys), { prefix, ...limits, setup });
    },
  });
  return { ...simulation, url: simulation.origin + prefix };
}

/** The operation that a path and query stand for, or null outside the base address. */
function operationOf(url: string, prefix: string): OperationName | null {
  const path = url.split('?', 1)[0] ?? '';
  if (path !== `${prefix}/v1` && !path.startsWith(`${prefix}/v1/`)) return null;
  const operation = path.slice(prefix.length + '/v1'.length);
  if (operation === '') return 'key';
  if (operation === '/url-report') return 'report';
  return operation.startsWith('/urls/') ? 'listing' : 'other';
}

export interface SimulatedKey {
  token: string;
  label: string;
  /** Ids of the websites that the key may read. */
  websites: readonly string[] | 'all';
}

/** A store over a world, for the service to read from. A key may name a website that does not exist. */
export function worldStore(world: World, keys: readonly SimulatedKey[]): Store {
  const byToken = new Map(keys.map((key, index) => [key.token, keyDetails(world, key, index)]));
  return {
    findKey: async (token) => byToken.get(token) ?? null,
    hasWebsite: async (websiteId) => world.websites.some(({ id }) => id === websiteId),
    listCoverage: async (websiteId, { skip, limit }) => world.listing(websiteId, skip, limit),
    findReport: async (url, websiteIds) => {
      const report = websiteIds.map((id) => world.report(id, url)).find((found) => found !== null);
      if (report) return { report };
      return world.websites.some(({ id }) => world.report(id, url) !== null) ? 'elsewhere' : null;
    },
  };
}

function keyDetails(world: World, { label, websites }: SimulatedKey, index: number): KeyDetails {
  const domains = new Map(world.websites.map(({ id, domain }) => [id, domain]));
  const ids = websites === 'all' ? [...domains.keys()] : websites;
  return {
    _id: objectId(`key ${index} ${label}`),
    api_key_label: label,
    account: { _id: objectId('account'), email: 'demo@example.com' },
    websites_access: ids.map((id) => ({ _id: id, url: domains.get(id) ?? 'gone.example' })),
  };
}

/** An id like those of a document database: 24 hexadecimal digits. */
function objectId(text: string): string {
  return [1, 2, 3].map((seed) => hashText(seed, text).toString(16).padStart(8, '0')).join('');
}

/** What an `indexhouse.yaml` says of a simulated service and its websites. */
export function apiSections({ url, world }: Simulator, token: string, requestsPerMinute: number | 'unlimited'): string {
  return `api:
  base_url: ${url}
  token: ${JSON.stringify(token)}
  requests_per_minute: ${requestsPerMinute}
websites:
${world.websites.map(({ id, domain }) => `  - id: ${JSON.stringify(id)}\n    name: ${domain}\n`).join('')}`;
}

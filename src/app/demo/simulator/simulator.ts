import { buildServer } from '../../../serve/api/http.js';
import type { Limiter } from '../../../serve/api/rate-limit.js';
import type { OperationName } from './faults.js';
import { type LimiterKind, type RateHeaders, simulatedLimiter } from './limiters.js';
import { type Simulation, type SimulationOptions, startSimulation } from './simulation.js';
import { type SimulatedKey, worldStore } from './store.js';

export const DEMO_TOKEN = 'demo-token';
const DEFAULT_RATE_WINDOW_S = 60;

export interface SimulatorOptions extends SimulationOptions {
  /** Default: `demo-token`, which may read every website. */
  keys?: readonly SimulatedKey[];
  /** Path in front of `/v1`, e.g. `/tenant/api`. */
  prefix?: string;
  maxLimit?: number;
  /** Requests in each rate window for each key (default `unlimited`). */
  rateLimit?: number | 'unlimited';
  /** In seconds (default 60). */
  rateWindow?: number;
  /** How the limit is counted (default `first-request`), and what the reset of the rate headers means (`boundary`). */
  limiter?: LimiterKind;
  rateHeaders?: RateHeaders;
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
  const { prefix = '', maxLimit } = options;
  const keys = options.keys ?? [{ token: DEMO_TOKEN, label: 'demo', websites: 'all' }];
  const simulation = await startSimulation(options, {
    operationOf: (url) => operationOf(url, prefix),
    build: (world, setup) => {
      const limits = { limiter: limiterFor(options), ...(maxLimit === undefined ? {} : { maxLimit }) };
      return buildServer(worldStore(world, keys), { prefix, ...limits, setup });
    },
  });
  return { ...simulation, url: simulation.origin + prefix };
}

function limiterFor(options: SimulatorOptions): Limiter | undefined {
  const { rateLimit = 'unlimited', rateWindow = DEFAULT_RATE_WINDOW_S } = options;
  if (rateLimit === 'unlimited') return undefined;
  const { limiter: kind = 'first-request', rateHeaders: headers = 'boundary', clock = Date.now } = options;
  return simulatedLimiter({ limit: rateLimit, kind, headers, windowMs: rateWindow * 1000, clock });
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

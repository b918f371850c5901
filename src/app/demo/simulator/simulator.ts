import { buildServer } from '../../../serve/api/http.js';
import type { Limiter } from '../../../serve/api/rate-limit.js';
import type { OperationName } from './faults.js';
import { type Simulation, type SimulationOptions, startSimulation } from './simulation.js';
import { type SimulatedKey, worldStore } from './store.js';

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

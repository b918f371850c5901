import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ServiceError } from '../../../serve/api/errors.js';
import { buildServer, type ServerOptions } from '../../../serve/api/http.js';
import type { Limiter } from '../../../serve/api/rate-limit.js';
import { type FaultRates, Faults, type OperationName } from './faults.js';
import { addInterference } from './interference.js';
import { type LimiterKind, type RateHeaders, simulatedLimiter } from './limiters.js';
import { RequestCounters } from './request-counters.js';
import { type SimulatedKey, worldStore } from './store.js';
import { World, type WorldOptions } from './world.js';

export const DEMO_TOKEN = 'demo-token';
const MAX_NIGHTS = 10_000;
const DEFAULT_SLOW_BODY_MS = 2000;
const DEFAULT_RETRY_AFTER_S = 1;
const DEFAULT_RATE_WINDOW_S = 60;

export interface SimulatorOptions extends WorldOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** 0, the default, takes a free one. */
  port?: number;
  /** Nights that pass before the first request. */
  nights?: number;
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
  /** For the rate limit and the `Date` of answers: milliseconds since 1970. The world has a clock of its own. */
  clock?: () => number;
  faults?: FaultRates;
  /** How long the fault `slow` takes for a body (default 2,000), and the `Retry-After` of the fault 429 (default 1). */
  slowBodyMs?: number;
  retryAfterS?: number;
  /** Whether to count per path and query (default true); without, a million pages cost no memory for counting. */
  countPerRequest?: boolean;
}

export interface Simulator {
  /** The base URL: what precedes `/v1`, prefix included, without a trailing slash. */
  readonly url: string;
  /** What precedes `/control`. */
  readonly origin: string;
  readonly world: World;
  readonly requests: RequestCounters;
  advance(nights?: number): void;
  /** Replaces all fault rates; `only` limits them to some operations. Throws a `ZodError` for unusable rates. */
  setFaults(rates: FaultRates, only?: readonly OperationName[]): void;
  /** Stops listening and ends every connection. */
  close(): Promise<void>;
}

/**
 * Starts an upstream service over a seeded world, listening when the promise resolves. Rejects when the port is taken
 * or an option is unusable.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const world = new World(options);
  world.advance(options.nights ?? 0);
  const faults = new Faults(world.seed, options.faults);
  const requests = new RequestCounters(options.countPerRequest ?? true);
  const keys = options.keys ?? [{ token: DEMO_TOKEN, label: 'demo', websites: 'all' }];
  const app = buildServer(worldStore(world, keys), serverOptions(options, world, faults, requests));
  const origin = await app.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 });
  return {
    url: origin + (options.prefix ?? ''),
    origin,
    world,
    requests,
    advance: (nights = 1) => world.advance(nights),
    setFaults: (rates, only) => faults.set(rates, only ?? null),
    close: async () => app.close(),
  };
}

function serverOptions(
  options: SimulatorOptions,
  world: World,
  faults: Faults,
  requests: RequestCounters,
): ServerOptions {
  const { prefix = '', maxLimit, clock } = options;
  const { slowBodyMs = DEFAULT_SLOW_BODY_MS, retryAfterS = DEFAULT_RETRY_AFTER_S } = options;
  return {
    prefix,
    limiter: limiterFor(options),
    ...(maxLimit === undefined ? {} : { maxLimit }),
    setup: (app) => {
      if (clock)
        app.addHook('onRequest', async (_, reply) => void reply.header('date', new Date(clock()).toUTCString()));
      addInterference(app, faults, requests, { prefix, slowBodyMs, retryAfterS });
      addControl(app, world, faults, requests);
    },
  };
}

function limiterFor(options: SimulatorOptions): Limiter | undefined {
  const { rateLimit = 'unlimited', rateWindow = DEFAULT_RATE_WINDOW_S } = options;
  if (rateLimit === 'unlimited') return undefined;
  const { limiter: kind = 'first-request', rateHeaders: headers = 'boundary', clock = Date.now } = options;
  return simulatedLimiter({ limit: rateLimit, kind, headers, windowMs: rateWindow * 1000, clock });
}

const advanceQuery = z.object({ nights: z.coerce.number().int().min(1).max(MAX_NIGHTS).default(1) });

/** Adds `/control`, where tests and users control the simulator itself, without a key and without being counted. */
function addControl(app: FastifyInstance, world: World, faults: Faults, counters: RequestCounters): void {
  app.get('/control', async () => state(world, faults, counters));
  app.post('/control/advance', async (request) => {
    const query = advanceQuery.safeParse(request.query);
    if (!query.success) throw new ServiceError(400, z.prettifyError(query.error));
    world.advance(query.data.nights);
    return state(world, faults, counters);
  });
  app.get('/control/requests', async () => ({
    ...totals(counters),
    by_request: Object.fromEntries(counters.byRequest),
    reports: Object.fromEntries(counters.reports()),
    windows: Object.fromEntries(counters.windows()),
  }));
  app.post('/control/reset-counters', async () => {
    counters.reset();
    return totals(counters);
  });
}

function state(world: World, faults: Faults, counters: RequestCounters): Record<string, unknown> {
  return {
    night: world.night,
    now: world.now.toISOString(),
    seed: world.seed,
    websites: world.websites,
    faults: faults.rates,
    requests: totals(counters),
  };
}

function totals({ attempted, answered }: RequestCounters): Record<string, unknown> {
  return { attempted, answered };
}

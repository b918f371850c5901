import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ServiceError } from '../../../serve/api/errors.js';
import { addInterference, type FaultRates, Faults, type OperationName, RequestCounters } from './faults.js';
import { World, type WorldOptions } from './world.js';

const MAX_NIGHTS = 10_000;

export interface SimulationOptions extends WorldOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** 0, the default, takes a free one. */
  port?: number;
  /** Nights that pass before the first request. */
  nights?: number;
  /** For limits and the `Date` of answers: milliseconds since 1970. The world has a clock of its own. */
  clock?: () => number;
  faults?: FaultRates;
  /** How long the fault `slow` takes for a body (default 2,000), and the `Retry-After` of the fault 429 (default 1). */
  slowBodyMs?: number;
  retryAfterS?: number;
  /** Adds hooks before the routes exist. */
  setup?: (app: FastifyInstance) => void;
  /** Whether to count per path and query (default true); without, a million pages cost no memory for counting. */
  countPerRequest?: boolean;
}

/** What every simulated service has. */
export interface Simulation {
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

/** What sets one service apart from another. */
export interface SimulatedService {
  /** The operation that a path and query stand for, or null for one without faults that is not counted. */
  operationOf(url: string): OperationName | null;
  /** @param setup to be called before the routes exist */
  build(world: World, setup: (app: FastifyInstance) => void): FastifyInstance;
}

/** Starts a service over a seeded world, listening when the promise resolves. */
export async function startSimulation(options: SimulationOptions, service: SimulatedService): Promise<Simulation> {
  const world = new World(options);
  world.advance(options.nights ?? 0);
  const faults = new Faults(world.seed, options.faults);
  const requests = new RequestCounters(options.countPerRequest ?? true);
  const { clock, slowBodyMs = 2000, retryAfterS = 1 } = options;
  const app = service.build(world, (app) => {
    if (clock) app.addHook('onRequest', async (_, reply) => void reply.header('date', new Date(clock()).toUTCString()));
    addInterference(app, faults, requests, { operationOf: service.operationOf, slowBodyMs, retryAfterS });
    options.setup?.(app);
    addControl(app, world, faults, requests);
  });
  return {
    origin: await app.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 }),
    world,
    requests,
    advance: (nights = 1) => world.advance(nights),
    setFaults: (rates, only) => faults.set(rates, only ?? null),
    close: async () => app.close(),
  };
}

const advanceQuery = z.object({ nights: z.coerce.number().int().min(1).max(MAX_NIGHTS).default(1) });

/** Adds `/control`, where tests and users control the simulator itself, without a key and without being counted. */
function addControl(app: FastifyInstance, world: World, faults: Faults, counters: RequestCounters): void {
  const state = () => {
    const { night, now, seed, websites } = world;
    const { attempted, answered } = counters;
    return { night, now, seed, websites, faults: faults.rates, requests: { attempted, answered } };
  };
  app.get('/control', async () => state());
  app.post('/control/advance', async (request) => {
    const query = advanceQuery.safeParse(request.query);
    if (!query.success) throw new ServiceError(400, z.prettifyError(query.error));
    world.advance(query.data.nights);
    return state();
  });
}

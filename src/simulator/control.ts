import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ServiceError } from '../service/errors.js';
import type { Faults } from './faults.js';
import type { RequestCounters } from './request-counters.js';
import type { World } from './world.js';

const MAX_NIGHTS = 10_000;

const advanceQuery = z.object({ nights: z.coerce.number().int().min(1).max(MAX_NIGHTS).default(1) });

/** The control path: what a test or a curious user asks of the simulator itself, without a key and never counted. */
export function addControl(app: FastifyInstance, world: World, faults: Faults, counters: RequestCounters): void {
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

function totals({ attempted, answered, byStatus }: RequestCounters): Record<string, unknown> {
  return { attempted, answered, by_status: byStatus };
}

import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ServiceError } from '../service/errors.js';
import { type Faults, faultRatesSchema, faultTargetsSchema } from './faults.js';
import type { RequestCounters } from './request-counters.js';
import type { World } from './world.js';

const MAX_NIGHTS = 10_000;
/** Pages per piece of the truth: one write each would be slow, all at once would be large. */
const PAGES_PER_PIECE = 200;

const advanceQuery = z.object({ nights: z.coerce.number().int().min(1).max(MAX_NIGHTS).default(1) });
const worldQuery = z.object({ website: z.string().optional() });
const faultsQuery = z.object({
  only: z
    .string()
    .transform((names) => names.split(','))
    .pipe(faultTargetsSchema)
    .optional(),
});

/** The control path: what a test or a curious user asks of the simulator itself, without a key and never counted. */
export function addControl(app: FastifyInstance, world: World, faults: Faults, counters: RequestCounters): void {
  app.get('/control', async () => state(world, faults, counters));
  app.post('/control/advance', async (request) => {
    world.advance(checked(advanceQuery, request.query).nights);
    return state(world, faults, counters);
  });
  app.get('/control/requests', async () => ({
    ...totals(counters),
    by_request: Object.fromEntries(counters.byRequest),
    reports: Object.fromEntries(counters.reports()),
    windows: Object.fromEntries(counters.windows()),
  }));
  app.post('/control/faults', async (request) => {
    faults.set(checked(faultRatesSchema, request.body), checked(faultsQuery, request.query).only ?? null);
    return { faults: faults.rates };
  });
  app.post('/control/reset-counters', async () => {
    counters.reset();
    return totals(counters);
  });
  app.get('/control/world', async (request, reply) => {
    const websiteId = checked(worldQuery, request.query).website ?? world.websites[0]?.id ?? '';
    if (!world.hasWebsite(websiteId)) throw new ServiceError(404, 'There is no such website.');
    return reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(truth(world, websiteId)));
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

function* truth(world: World, websiteId: string): Generator<string> {
  let lines: string[] = [];
  for (const page of world.pages(websiteId)) {
    lines.push(`${JSON.stringify(page)}\n`);
    if (lines.length < PAGES_PER_PIECE) continue;
    yield lines.join('');
    lines = [];
  }
  yield lines.join('');
}

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new ServiceError(400, z.prettifyError(parsed.error));
  return parsed.data;
}

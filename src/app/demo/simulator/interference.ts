import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../serve/api/errors.js';
import { type FaultKind, type Faults, LoadRefused, nameAnotherUrl, type OperationName, violate } from './faults.js';

const SLOW_BODY_PIECES = 10;
/** Long enough for the first half to leave before the connection breaks. */
const BREAK_AFTER_MS = 20;
/** The target of redirects: on this server, but outside of the base URL. */
const REDIRECT_PATH = '/elsewhere';

export interface InterferenceSettings {
  /** The operation that a path and query stand for, or null for one that is left alone. */
  operationOf(url: string): OperationName | null;
  slowBodyMs: number;
  retryAfterS: number;
}

/** How often something was requested, and how often a complete 200 without a fault was sent for it. */
export type RequestCount = Record<'attempted' | 'answered', number>;

/** Counts requests in all and, at the cost of memory for each distinct one, by path and query as they arrived. */
export class RequestCounters implements RequestCount {
  attempted = 0;
  answered = 0;
  byRequest = new Map<string, RequestCount>();

  constructor(private readonly perRequest: boolean) {}

  add(what: keyof RequestCount, request: string): void {
    this[what]++;
    if (!this.perRequest) return;
    const count = this.byRequest.get(request) ?? { attempted: 0, answered: 0 };
    count[what]++;
    this.byRequest.set(request, count);
  }

  reset(): void {
    Object.assign(this, { attempted: 0, answered: 0, byRequest: new Map() });
  }
}

interface Fate {
  number: number;
  operation: OperationName;
  kind: FaultKind | null;
}

/** Counts the requests that stand for an operation, and applies the faults that were drawn for them. */
export function addInterference(
  app: FastifyInstance,
  faults: Faults,
  counters: RequestCounters,
  settings: InterferenceSettings,
): void {
  const fates = new WeakMap<FastifyRequest, Fate>();
  let requests = 0;
  app.addHook('onRequest', async (request, reply) => {
    const operation = settings.operationOf(request.url);
    if (!operation) return;
    const number = requests++;
    const fate = { number, operation, kind: faults.kindFor(number, operation) };
    fates.set(request, fate);
    counters.add('attempted', request.url);
    if (fate.kind) await answerInstead(fate, reply, settings);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const fate = fates.get(request);
    return fate && (typeof payload === 'string' || Buffer.isBuffer(payload))
      ? spoil(fate, reply, payload, settings)
      : payload;
  });
  app.addHook('onResponse', async (request, reply) => {
    const fate = fates.get(request);
    if (!fate) return;
    const unspoilt = fate.kind === null || fate.kind === 'slow';
    if (unspoilt && reply.statusCode === 200) counters.add('answered', request.url);
  });
}

/** Applies the faults that need no correct answer. Does nothing for the others. */
async function answerInstead(
  { kind, number }: Fate,
  reply: FastifyReply,
  settings: InterferenceSettings,
): Promise<void> {
  switch (kind) {
    case '429':
      throw new ServiceError(429, 'Too many requests.', { 'retry-after': String(settings.retryAfterS) });
    case 'load':
      throw new LoadRefused(number);
    case '401':
    case '403':
    case '500':
    case '503':
      throw new ServiceError(Number(kind), 'Simulated failure of the service.');
    case 'reset':
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return;
    case 'redirect':
      await reply.redirect(REDIRECT_PATH, 302);
      return;
    case 'html':
      await reply.type('text/html; charset=utf-8').send('<!doctype html><title>Just a moment…</title>');
      return;
    case 'invalid_json':
      await reply.type('application/json; charset=utf-8').send('{"urls":[{"url":"https://www.example.com/",}]');
      return;
    default:
  }
}

/** Applies the faults that start from the correct answer. */
function spoil(
  { kind, number, operation }: Fate,
  reply: FastifyReply,
  body: string | Buffer,
  settings: InterferenceSettings,
): unknown {
  switch (kind) {
    case 'slow':
      return Readable.from(inPieces(body, settings.slowBodyMs));
    case 'truncated':
      reply.header('content-length', Buffer.byteLength(body));
      return Readable.from(firstHalf(body));
    case 'cut':
      return String(body).slice(0, Buffer.byteLength(body) / 2);
    case 'violation':
      return reply.statusCode === 200 ? violate(String(body), operation, number) : body;
    case 'wrong_url':
      return reply.statusCode === 200 ? nameAnotherUrl(String(body)) : body;
    default:
      return body;
  }
}

async function* inPieces(body: string | Buffer, totalMs: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body);
  const size = Math.max(1, Math.ceil(bytes.length / SLOW_BODY_PIECES));
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
    await sleep(totalMs / SLOW_BODY_PIECES);
  }
}

async function* firstHalf(body: string | Buffer): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body);
  yield bytes.subarray(0, Math.ceil(bytes.length / 2));
  await sleep(BREAK_AFTER_MS);
  throw new Error('Simulated connection failure.');
}

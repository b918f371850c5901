import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ServiceError } from '../../../serve/api/errors.js';
import { hash, unit } from './random.js';

/** What can go wrong with an answer, in the order in which a draw is compared with the rates. */
const FAULT_KINDS = [
  /** 429 with `Retry-After`, whatever the key's allowance. */
  '429',
  '500',
  '503',
  /** The connection is reset without an answer. */
  'reset',
  /** 302 to a path outside the base address. */
  'redirect',
  /** 200 with an HTML page. */
  'html',
  /** 200 with JSON that does not parse. */
  'invalid_json',
  /** The correct answer, in slow pieces. */
  'slow',
  /** The first half of the correct answer; then the connection breaks. */
  'truncated',
  /** The first half of the correct answer, as if that were all. */
  'cut',
  /** The correct answer with one value of a type that the contract does not allow. */
  'violation',
  /** A report that names another page; reports only. */
  'wrong_url',
  /** Access refused: a token that ended early, or a permission that was withdrawn. */
  '401',
  '403',
  /** Refused for the load of search analytics: 403 and 429 in turn, with each of Google's reasons. */
  'load',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Operations of Search Console; `web` stands for the files of the website itself. */
export const GOOGLE_OPERATIONS = ['token', 'sites', 'sitemaps', 'query', 'inspect', 'web'] as const;

/** The operation that a request is for; `other` for paths that do not exist. */
export type OperationName = 'key' | 'listing' | 'report' | 'other' | (typeof GOOGLE_OPERATIONS)[number];

/** Google's refusal of a query because of its load. */
export class LoadRefused extends ServiceError {
  readonly reason: string;

  /** @param number of the refusal: they take turns */
  constructor(number: number) {
    super(number % 2 === 0 ? 403 : 429, 'Search Analytics load quota exceeded.');
    this.reason = number % 4 < 2 ? 'quotaExceeded' : 'rateLimitExceeded';
  }
}

const rate = z.number().min(0).max(1);

/** Share of the requests that meet each kind, 0 to 1, together at most 1; e.g. `{reset: 0.01}`. */
const faultRatesSchema = z
  .partialRecord(z.enum(FAULT_KINDS), rate)
  .refine(
    (rates) => Object.values(rates).reduce((sum, one) => sum + one, 0) <= 1 + Number.EPSILON,
    'the rates add up to more than 1',
  );
export type FaultRates = z.infer<typeof faultRatesSchema>;

/**
 * Draws the fault of a request from the seed, the request's number and its operation alone, so that the same sequence
 * of requests always meets the same faults.
 */
export class Faults {
  #rates: FaultRates = {};
  #only: readonly OperationName[] | null = null;

  constructor(
    private readonly seed: number,
    rates: FaultRates = {},
  ) {
    this.set(rates);
  }

  get rates(): FaultRates {
    return { ...this.#rates };
  }

  /** Replaces all rates. Throws a `ZodError` for an unknown kind, a rate outside 0 to 1, or a sum above 1. */
  set(rates: FaultRates, only: readonly OperationName[] | null = null): void {
    this.#rates = faultRatesSchema.parse(rates);
    this.#only = only;
  }

  kindFor(requestNumber: number, operation: OperationName): FaultKind | null {
    if (this.#only && !this.#only.includes(operation)) return null;
    const u = unit(this.seed, requestNumber);
    let below = 0;
    const kind = FAULT_KINDS.find((one) => {
      below += this.#rates[one] ?? 0;
      return u < below;
    });
    return kind === undefined || (kind === 'wrong_url' && operation !== 'report') ? null : kind;
  }
}

const anyBody = z.record(z.string(), z.unknown());
const bodyWithUrls = z.object({ urls: z.array(anyBody).min(1) });

/**
 * A correct body with one wrong value: in one entry of a listing, in a report, or, where there is no entry, in the
 * pagination or the key's `websites_access`. Of Search Console: a list, which none of its answers is.
 */
export function violate(body: string, operation: OperationName, draw: number): string {
  if (GOOGLE_OPERATIONS.some((name) => name === operation)) return '[]';
  const whole = anyBody.parse(JSON.parse(body));
  if (operation === 'report') return JSON.stringify(spoilt(whole, draw));
  const listing = bodyWithUrls.safeParse(whole);
  if (!listing.success) return JSON.stringify({ ...whole, pagination: 'none', websites_access: 'all' });
  const { urls } = listing.data;
  const at = hash(draw, 1) % urls.length;
  return JSON.stringify({ ...whole, urls: urls.with(at, spoilt(urls[at] ?? {}, draw)) });
}

/** With a mapping as the value of one field, which the contract allows for none. */
function spoilt(record: Readonly<Record<string, unknown>>, draw: number): Record<string, unknown> {
  const fields = Object.keys(record);
  return { ...record, [fields[hash(draw, 2) % fields.length] ?? '']: {} };
}

/** A report whose `url` is not the requested one. */
function nameAnotherUrl(body: string): string {
  const report = anyBody.parse(JSON.parse(body));
  return JSON.stringify({ ...report, url: String(report['url']).replace(/$|[?#]/, '-other$&') });
}

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

import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ABSOLUTE_URL } from '../../source/contract/fields.js';
import type { KeyDetails } from '../../source/contract/key.js';
import { admission, contextOf, type Interface, keyOf, type OnError, readableBy } from './admission.js';
import { CONNECTION_LIMITS, type ConnectionLimits, limitedServer } from './connections.js';
import { errorBody, publicError, ServiceError } from './errors.js';
import { answersOf, describeRoutes, servedKey, servedReport, servedWindow } from './openapi.js';
import { paginationOf, type WindowBounds, windowQuery } from './pagination.js';
import { type Limiter, limiterOf } from './rate-limit.js';
import { refuseAmbiguous, refuseUnknown } from './refusals.js';
import type { Moment, ShownState, Store } from './store.js';

const MAX_LIMIT_ENTRIES = 1000;
const MAX_WEBSITE_ID_CHARACTERS = 4000;
/** Answers are for one key, and say how old the data is now. */
const COMMON_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

export interface ServerOptions {
  /** Path in front of `/v1`, e.g. `/tenant/api`. Default: none. */
  prefix?: string;
  /** Largest window (default 1000), which a larger `limit` gets, too. */
  maxLimit?: number | undefined;
  /** Requests per minute for each key. Default: unlimited, without rate headers. */
  rateLimit?: number | undefined;
  /** Instead of `rateLimit`: a limiter of another kind. */
  limiter?: Limiter | undefined;
  /** Milliseconds since 1970, for the rate limit. */
  clock?: (() => number) | undefined;
  /** Called with the key of a request. */
  onKey?: ((request: FastifyRequest, key: KeyDetails) => void) | undefined;
  /** How long a client may take, and how many connections it may hold. Default: `CONNECTION_LIMITS`. */
  connections?: Partial<ConnectionLimits>;
  /** Whether this address is a proxy to trust about a client's address, the host and the protocol. Default: none. */
  trustProxy?: (address: string) => boolean;
  /** Called with the scope of the API and what its operations share: routes that are added here take the same keys. */
  extend?: (scope: FastifyInstance, service: Interface) => void;
  /** Called before the routes exist: hooks added here see every request first and every answer last. */
  setup?: (app: FastifyInstance) => void;
  /** Called with every error that a client sees as a 500, or as an answer that breaks off. */
  onError?: OnError;
}

/**
 * The specification's HTTP interface over a store: key details, coverage listing, URL report. The server is not yet
 * listening.
 */
export function buildServer(store: Store, options: ServerOptions = {}): FastifyInstance {
  const { prefix = '', maxLimit = MAX_LIMIT_ENTRIES, rateLimit, clock, onKey } = options;
  const limiter = options.limiter ?? (rateLimit === undefined ? null : limiterOf(rateLimit, clock));
  const service = { store, maxLimit, limiter, onKey };
  const app = plainServer(options);
  void app.register((scope) => addInterface(scope, service, prefix), { prefix });
  void app.register(async (scope) => options.extend?.(scope, service), { prefix });
  return app;
}

/** A server with nothing but what `setup` adds: limits of connections, error bodies, and refusals of everything else. */
export function plainServer(
  options: Pick<ServerOptions, 'trustProxy' | 'connections' | 'setup' | 'onError'>,
): FastifyInstance {
  const isProxy = options.trustProxy ?? (() => false);
  const app = Fastify({
    serverFactory: (handler) => limitedServer(handler, { ...CONNECTION_LIMITS, isProxy, ...options.connections }),
    trustProxy: isProxy,
    exposeHeadRoutes: true,
    forceCloseConnections: true,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_WEBSITE_ID_CHARACTERS },
    // No hook sees what causes these, such as an address that cannot be decoded.
    frameworkErrors: (error, request, reply) =>
      void sendError(error, request, reply.headers(COMMON_HEADERS), options.onError),
    // `limitedServer` answers them.
    clientErrorHandler: () => {},
  });
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, options.onError));
  const refuse = refuseUnknown(app);
  options.setup?.(app);
  addHeaders(app);
  // An answer that breaks off is reported. Before its first byte is sent, an error is answered like any other.
  app.addHook('onSend', async (request, { raw }, payload) => {
    if (payload instanceof Readable)
      payload.on('error', (error) => raw.headersSent && !raw.destroyed && options.onError?.(error, request));
    return payload;
  });
  refuseAmbiguous(app);
  refuse();
  return app;
}

/** Adds what every answer carries; while the server shuts down, also that its connection closes. */
function addHeaders(app: FastifyInstance): void {
  let hasListened = false;
  app.addHook('onListen', async () => {
    hasListened = true;
  });
  app.addHook('onRequest', async (_request, reply) => void reply.headers(COMMON_HEADERS));
  app.addHook('onSend', async (_request, reply) => {
    if (hasListened && !app.server.listening) reply.header('connection', 'close');
  });
}

/** Adds the operations and their description, in a scope without whatever else is served. */
async function addInterface(app: FastifyInstance, service: Interface, prefix: string): Promise<void> {
  app.setValidatorCompiler(validatorCompiler);
  // The schemas of answers only describe them; a test checks that answers match.
  app.setSerializerCompiler(() => (payload) => JSON.stringify(payload));
  await describeRoutes(app, prefix);
  addOperations(app, service);
  // It contains no secret, so it needs no key.
  app.get('/openapi.json', { schema: { hide: true } }, async (_, reply) => {
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(app.swagger(), null, 2));
  });
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, onError?: OnError): FastifyReply {
  const { status, message, headers } = publicError(error);
  if (status === 500) onError?.(error, request);
  return reply.code(status).headers(headers).send(errorBody(status, message));
}

/** The three operations of the specification, by the sections of its chapter 4. */
function addOperations(app: FastifyInstance, service: Interface): void {
  addKeyDetails(app, service);
  addCoverage(app, service);
  addReport(app, service);
}

function addKeyDetails(app: FastifyInstance, service: Interface): void {
  const schema = {
    operationId: 'keyDetails',
    tags: ['Keys'],
    summary: 'API key details',
    description: 'The key that the request carries, and the websites that it may read.',
    response: answersOf(servedKey),
  };
  app.get('/v1', { schema, onRequest: admission(service) }, async (request) => keyOf(request));
}

const TIME_FORMS = 'as_of must be one date (2026-01-31) or one time with its offset (2026-01-31T12:00:00Z).';
/** The parameters beyond the specification, each at most once. Error messages say what would be valid. */
const momentParameters = z.object({
  as_of: z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], TIME_FORMS)
    .refine((text) => !Number.isNaN(Date.parse(text)) && !text.startsWith('0000'), TIME_FORMS)
    .optional()
    .describe(
      'What was known then: a date (everything observed by its end, in the time zone of the warehouse, and the listing that began on it) or a time with its offset. Ages count up to then.',
    ),
});
const listingParameters = momentParameters.extend({
  snapshot: z
    .uuid('snapshot must be one id, as in the links of a listing.')
    .optional()
    .describe(
      'The state that an earlier window showed. The links of a listing carry it, so that a walk sees one state, whatever is committed meanwhile.',
    ),
});

function momentOf({ as_of: asOf }: z.infer<typeof momentParameters>): Moment {
  if (asOf === undefined) return null;
  return asOf.includes('T') ? { time: new Date(asOf) } : { date: asOf };
}

const websiteParameters = z.object({ website_id: z.string().describe('Id of the website.') });

function addCoverage(app: FastifyInstance, service: Interface): void {
  const { store } = service;
  const windows = windowQuery(service.maxLimit);
  const schema = {
    operationId: 'indexCoverage',
    tags: ['Listings'],
    summary: 'Index coverage',
    description:
      'The monitored pages of a website, a window at a time, sorted by URL unless another order is requested.',
    params: websiteParameters,
    querystring: store.hasHistory ? windows.extend(listingParameters.shape) : windows,
    response: answersOf(servedWindow),
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/v1/urls/:website_id', { schema, onRequest: admission(service) }, async (request, reply) => {
    const { website_id: websiteId } = request.params;
    if (!(await store.hasWebsite(websiteId))) throw new ServiceError(404, 'There is no such website.');
    if (!readableBy(keyOf(request)).includes(websiteId))
      throw new ServiceError(403, 'This API key has no access to this website.');
    const { skip, limit, ...given }: WindowBounds & z.infer<typeof listingParameters> = request.query;
    const window = { skip, limit };
    const query = { moment: momentOf(given), version: given.snapshot ?? null };
    const listing = await store.listCoverage(websiteId, window, query, contextOf(request, reply));
    const { entries, count, version } = listing;
    const carried = version === undefined ? {} : { as_of: given.as_of, snapshot: version };
    const pagination = paginationOf(`/v1/urls/${encodeURIComponent(websiteId)}`, window, count, carried);
    return showing(listing, { urls: entries, pagination }, reply);
  });
}

/** Makes the body of an answer, and sets the headers that say which state it shows. */
function showing({ version, observedAt }: ShownState, content: object, reply: FastifyReply): string {
  reply.type('application/json; charset=utf-8');
  if (version !== undefined) reply.header('x-snapshot-id', version);
  if (observedAt !== undefined) reply.header('x-snapshot-time', observedAt.toISOString());
  return JSON.stringify(content);
}

const UNUSABLE_URL = 'url must be one absolute, percent-encoded page URL.';
const reportQuery = z.object({
  url: z
    .string(UNUSABLE_URL)
    .regex(ABSOLUTE_URL, UNUSABLE_URL)
    .describe('The absolute URL of the page, percent-encoded.'),
});

function addReport(app: FastifyInstance, service: Interface): void {
  const { store } = service;
  const schema = {
    operationId: 'urlReport',
    tags: ['Reports'],
    summary: 'URL report',
    description:
      'What is known about one page. If no report of it was fetched yet, the fields of its listing entry, and null for the rest.',
    querystring: store.hasHistory ? reportQuery.extend(momentParameters.shape) : reportQuery,
    response: answersOf(servedReport),
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/v1/url-report', { schema, onRequest: admission(service) }, async (request, reply) => {
    const { url, ...known } = request.query;
    const [readable, context] = [readableBy(keyOf(request)), contextOf(request, reply)];
    const found = await store.findReport(url, readable, momentOf(known), context);
    if (found === null) throw new ServiceError(404, 'This page is not monitored.');
    if (found === 'elsewhere') throw new ServiceError(403, 'This API key has no access to the website of this page.');
    return showing(found, found.report, reply);
  });
}

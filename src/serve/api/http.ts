import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import type { KeyDetails } from '../../source/contract/key.js';
import type { Interface, OnError } from './admission.js';
import { CONNECTION_LIMITS, type ConnectionLimits, limitedServer } from './connections.js';
import { errorBody, publicError } from './errors.js';
import { describeRoutes } from './openapi.js';
import { addOperations } from './operations.js';
import { type Limiter, limiterOf } from './rate-limit.js';
import { refuseAmbiguous, refuseUnknown } from './refusals.js';
import type { Store } from './store.js';

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

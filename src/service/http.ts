import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import type { KeyDetails } from '../contract/key.js';
import type { Interface } from './admission.js';
import { DOCS_POLICY, docsPage } from './docs-page.js';
import { errorBody, publicError, ServiceError } from './errors.js';
import { type Described, describeRoutes } from './openapi.js';
import { addOperations } from './operations.js';
import { DEFAULT_LIMIT_ENTRIES, DEFAULT_MAX_LIMIT_ENTRIES } from './pagination.js';
import { PREFIX_FORM } from './prefix.js';
import { RateLimiter } from './rate-limit.js';
import { addRepresentations } from './representation.js';
import type { Store } from './store.js';

/** A page URL of 2,000 characters outside ASCII takes 18,000 bytes percent-encoded; Node's default is 16 KiB in all. */
const MAX_HEADER_BYTES = 65_536;
const MAX_WEBSITE_ID_CHARACTERS = 4000;

const HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$|^\[[0-9a-fA-F:.]+\](?::\d{1,5})?$/;

export interface ServerOptions {
  /** Path in front of `/v1`, e.g. `/tenant/api`. Default: none. */
  prefix?: string;
  /** Window size when a request names none (default 100, never above `maxLimit`). */
  defaultLimit?: number;
  /** Largest window (default 1000), and what a larger `limit` gets (default `clamp`). */
  maxLimit?: number;
  aboveMaxLimit?: 'clamp' | 'refuse';
  /** Requests a minute for each key; left out: unlimited, and no rate headers. */
  rateLimit?: number | undefined;
  /** Whether answers carry an `ETag` and are compressed for who accepts that. */
  representations?: boolean;
  /** Milliseconds since 1970, for the rate limit. */
  clock?: () => number;
  /** Told whose key a request came with. */
  onKey?: ((request: FastifyRequest, key: KeyDetails) => void) | undefined;
  /** Called before the routes exist: hooks added here see every request first and every answer last. */
  setup?: (app: FastifyInstance) => void;
  /** Told of every failure that a client sees as a 500. */
  onError?: (error: unknown) => void;
}

/**
 * The specification's HTTP interface over a store: key details, coverage listing, URL report. The server is not yet
 * listening. Throws a `TypeError` for an unusable prefix or limit.
 */
export function buildServer(store: Store, options: ServerOptions = {}): FastifyInstance {
  const service = interfaceOf(store, options);
  const app = Fastify({
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    exposeHeadRoutes: true,
    forceCloseConnections: true,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_WEBSITE_ID_CHARACTERS },
    frameworkErrors: (error, _request, reply) => sendError(error, reply),
    clientErrorHandler: refuseMalformedRequest,
  });
  app.setErrorHandler((error, _request, reply) => sendError(error, reply, options.onError));
  app.setNotFoundHandler((_request, reply) =>
    sendError(new ServiceError(404, 'There is nothing at this path.'), reply),
  );
  options.setup?.(app);
  if (options.representations) addRepresentations(app);
  const described = {
    prefix: options.prefix ?? '',
    isRateLimited: service.limiter !== null,
    isCacheable: options.representations ?? false,
  };
  void app.register((scope) => addInterface(scope, service, described), { prefix: described.prefix });
  return app;
}

function interfaceOf(store: Store, options: ServerOptions): Interface {
  const { prefix = '', maxLimit = DEFAULT_MAX_LIMIT_ENTRIES, aboveMaxLimit = 'clamp', rateLimit, clock } = options;
  if (!PREFIX_FORM.test(prefix)) throw new TypeError(`Unusable path prefix "${prefix}": write it like /tenant/api.`);
  if (!Number.isInteger(maxLimit) || maxLimit < 1) throw new TypeError(`maxLimit must be a whole number from 1.`);
  const defaultLimit = Math.min(options.defaultLimit ?? DEFAULT_LIMIT_ENTRIES, maxLimit);
  const limiter = rateLimit === undefined ? null : new RateLimiter(rateLimit, clock);
  return { store, limits: { defaultLimit, maxLimit, aboveMaxLimit }, limiter, onKey: options.onKey };
}

/** The operations and what describes them, in a scope of their own: what else is served is no part of it. */
async function addInterface(app: FastifyInstance, service: Interface, described: Described): Promise<void> {
  app.setValidatorCompiler(validatorCompiler);
  // The schemas of answers describe them; each is made as they say, and a test holds that.
  app.setSerializerCompiler(() => (payload) => JSON.stringify(payload));
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ routePath, method }) => {
    const known = methods.get(routePath) ?? new Set();
    methods.set(routePath, new Set([...known, ...[method].flat()]));
  });
  await describeRoutes(app, described);
  addOperations(app, service);
  addDescription(app, described.prefix);
  for (const [path, known] of [...methods]) refuseOthers(app, path, [...known]);
}

/** What the interface is, for people and for programs: no secret, so it needs no key. */
function addDescription(app: FastifyInstance, prefix: string): void {
  const schema = { hide: true };
  app.get('/openapi.json', { schema }, async (_, reply) => {
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(app.swagger(), null, 2));
  });
  app.get('/docs', { schema }, async (request, reply) => {
    reply.header('content-security-policy', DOCS_POLICY);
    return reply.type('text/html; charset=utf-8').send(docsPage(app.swagger(), originOf(request), prefix));
  });
}

/** Scheme and host as the client wrote them; what is no host is not repeated. */
function originOf({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${HOST.test(host) ? host : 'localhost'}`;
}

/** Other methods are refused before a body is read, whatever it holds. */
function refuseOthers(app: FastifyInstance, url: string, known: readonly string[]): void {
  const refuse = async (): Promise<never> => {
    throw new ServiceError(405, `Only ${known.join(' and ')} can be used here.`, { allow: known.join(', ') });
  };
  const method = app.supportedMethods.filter((each) => !known.includes(each));
  app.route({ method, url, schema: { hide: true }, onRequest: refuse, handler: refuse });
}

function sendError(error: unknown, reply: FastifyReply, onError?: (error: unknown) => void): FastifyReply {
  const { status, message, headers } = publicError(error);
  if (!(error instanceof ServiceError) && status === 500) onError?.(error);
  return reply.code(status).headers(headers).send(errorBody(status, message));
}

/** What Node could not read as HTTP reaches no route: the answer is written to the bare socket. */
function refuseMalformedRequest(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const tooLong = error.code === 'HPE_HEADER_OVERFLOW';
  const [status, text] = tooLong ? [431, 'Request Header Fields Too Large'] : [400, 'Bad Request'];
  const body = JSON.stringify(errorBody(status, `${text}.`));
  const head = `HTTP/1.1 ${status} ${text}\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\n`;
  socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { absoluteUrl } from '../contract/fields.js';
import type { KeyDetails } from '../contract/key.js';
import type { UrlReport } from '../contract/report.js';
import { clientSignal } from './client-signal.js';
import { DOCS_POLICY, docsPage } from './docs-page.js';
import { errorBody, publicError, ServiceError } from './errors.js';
import { readListingQuery, readMoment, WHOLE_LISTING } from './listing-query.js';
import { openApiDocument } from './openapi.js';
import {
  DEFAULT_LIMIT_ENTRIES,
  DEFAULT_MAX_LIMIT_ENTRIES,
  type LimitRules,
  paginationOf,
  readWindow,
} from './pagination.js';
import { PREFIX_FORM } from './prefix.js';
import { RateLimiter } from './rate-limit.js';
import { addRepresentations } from './representation.js';
import type { RequestContext, Store } from './store.js';

/** A page URL of 2,000 characters outside ASCII takes 18,000 bytes percent-encoded; Node's default is 16 KiB in all. */
const MAX_HEADER_BYTES = 65_536;
const MAX_WEBSITE_ID_CHARACTERS = 4000;
const BEARER = /^Bearer +([^\s]+) *$/i;

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
  /** Whether answers carry an `ETag`, are compressed for who accepts that, and the interface describes itself. */
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

interface Interface {
  store: Store;
  limits: LimitRules;
  limiter: RateLimiter | null;
  onKey: ServerOptions['onKey'];
}

type Operation = (key: KeyDetails, request: FastifyRequest, context: RequestContext) => Promise<unknown>;

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
  addRoutes(app, service, options.prefix ?? '');
  if (options.representations) addDescription(app, service, options.prefix ?? '');
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

function addRoutes(app: FastifyInstance, service: Interface, prefix: string): void {
  const operations: Record<string, Operation> = {
    '/v1': async (key) => key,
    '/v1/urls/:websiteId': (...asked) => listCoverage(service, ...asked),
    '/v1/url-report': (...asked) => reportUrl(service, ...asked),
  };
  const others = app.supportedMethods.filter((method) => method !== 'GET' && method !== 'HEAD');
  for (const [path, operation] of Object.entries(operations)) {
    app.get(prefix + path, async (request, reply) => {
      reply.type('application/json; charset=utf-8');
      const key = await admit(service, request, reply);
      return operation(key, request, { keyId: key._id, signal: clientSignal(reply) });
    });
    // Refused before a body is read, whatever it holds.
    app.route({ method: others, url: prefix + path, onRequest: refuseMethod, handler: refuseMethod });
  }
}

/** What the interface is, for people and for programs: no secret, so it needs no key. */
function addDescription(app: FastifyInstance, { limits }: Interface, prefix: string): void {
  const document = JSON.stringify(openApiDocument(limits, prefix), null, 2);
  const page = docsPage(limits, prefix);
  app.get(`${prefix}/openapi.json`, async (_, reply) => reply.type('application/json; charset=utf-8').send(document));
  app.get(`${prefix}/docs`, async (_, reply) => {
    reply.header('content-security-policy', DOCS_POLICY);
    return reply.type('text/html; charset=utf-8').send(page);
  });
}

/** The key of a request; throws 401 without a known one and 429 above its rate. */
async function admit(service: Interface, request: FastifyRequest, reply: FastifyReply): Promise<KeyDetails> {
  const { store, limiter, onKey } = service;
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const key = token === undefined ? null : await store.findKey(token);
  if (!key) throw new ServiceError(401, 'A valid API key is required.', { 'www-authenticate': 'Bearer' });
  onKey?.(request, key);
  const allowance = limiter?.take(key._id);
  if (allowance) reply.headers(allowance.headers);
  if (allowance?.allowed === false) throw new ServiceError(429, 'Too many requests for this API key.');
  return key;
}

const websiteParameters = z.object({ websiteId: z.string() });

async function listCoverage(
  service: Interface,
  key: KeyDetails,
  request: FastifyRequest,
  context: RequestContext,
): Promise<string | Buffer> {
  const { websiteId } = websiteParameters.parse(request.params);
  if (!(await service.store.hasWebsite(websiteId))) throw new ServiceError(404, 'There is no such website.');
  if (!mayRead(key, websiteId)) throw new ServiceError(403, 'This API key was not granted this website.');
  const window = readWindow(request.query, service.limits);
  const query = service.store.hasHistory ? readListingQuery(request.query) : WHOLE_LISTING;
  const listing = await service.store.listCoverage(websiteId, window, query, context);
  if (!listing) throw new ServiceError(404, 'There is no such website.');
  const { entries, count, version } = listing;
  const carried = version === undefined ? {} : { ...query.query, snapshot: version };
  const pagination = paginationOf(websiteId, window, count, carried);
  if (!Buffer.isBuffer(entries)) return JSON.stringify({ urls: entries, pagination });
  return Buffer.concat([Buffer.from('{"urls":'), entries, Buffer.from(`,"pagination":${JSON.stringify(pagination)}}`)]);
}

const reportQuery = z.object({ url: absoluteUrl.regex(/^https?:/i) });

async function reportUrl(
  { store }: Interface,
  key: KeyDetails,
  request: FastifyRequest,
  context: RequestContext,
): Promise<UrlReport> {
  const query = reportQuery.safeParse(request.query);
  if (!query.success) throw new ServiceError(400, 'url must be one absolute, percent-encoded page URL.');
  const moment = store.hasHistory ? readMoment(request.query) : null;
  const { url } = query.data;
  const readable = key.websites_access.map(({ _id }) => _id);
  const report = (await store.findReports([url], readable, moment, context)).get(url);
  if (report) return report;
  if (await store.isMonitoredBeside(readable, url, context)) {
    throw new ServiceError(403, "This API key was not granted this page's website.");
  }
  throw new ServiceError(404, 'This page is not monitored.');
}

function mayRead(key: KeyDetails, websiteId: string): boolean {
  return key.websites_access.some(({ _id }) => _id === websiteId);
}

async function refuseMethod(): Promise<never> {
  throw new ServiceError(405, 'This interface is read with GET.', { allow: 'GET, HEAD' });
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

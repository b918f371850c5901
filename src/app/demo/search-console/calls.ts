import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ZodError, z } from 'zod';
import { isCalendarDate } from '../../../base/time.js';
import { publicError, ServiceError } from '../../../serve/api/errors.js';
import { isOfProperty } from '../../../source/search-console/property.js';
import { SEARCH_TYPES } from '../../../source/source.js';
import { GOOGLE_OPERATIONS, LoadRefused, type OperationName } from '../simulator/faults.js';
import type { World } from '../simulator/world.js';
import { inspectionOf, sitemap, sitemapIndexOf } from './inspection.js';
import type { Property } from './properties.js';
import type { SignIn } from './sign-in.js';

const SITES = '/webmasters/v3/sites';
const FORM = 'application/x-www-form-urlencoded';
/** Google's names. */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};
const NOT_YOURS = 'You do not own this site, or the inspected URL is not part of this property.';

/** What the calls answer from. */
export interface Sources {
  world: World;
  properties: readonly Property[];
  signIn: SignIn;
  /** How long an inspection takes, about. */
  latencyMs: number;
  /** How often each address was inspected at the cost of quota. */
  inspected: Map<string, number>;
}

const date = z.string().refine(isCalendarDate);
const trafficSchema = z
  .strictObject({
    startDate: date,
    endDate: date,
    // The only dimensions that the simulator knows.
    dimensions: z.array(z.enum(['date', 'page'])).default([]),
    type: z.enum(SEARCH_TYPES).default('web'),
    dataState: z.enum(['final', 'all']).default('final'),
    aggregationType: z.enum(['auto', 'byPage', 'byProperty']).default('auto'),
    rowLimit: z.int().min(1).max(25_000).default(1000),
    startRow: z.int().min(0).default(0),
  })
  .refine(({ startDate, endDate }) => startDate <= endDate, 'startDate is after endDate')
  .refine(({ dimensions }) => new Set(dimensions).size === dimensions.length, 'a dimension occurs twice')
  .refine((query) => query.aggregationType !== 'byProperty' || !isOfPages(query), 'byProperty is not possible')
  .transform(({ aggregationType, ...query }) => ({
    ...query,
    isByPage: aggregationType === 'byPage' || isOfPages(query),
  }));
const url = z.url({ protocol: /^https?$/ });
const inspectionSchema = z.strictObject({
  inspectionUrl: url,
  siteUrl: z.string(),
  languageCode: z.string().default('en'),
});
const formSchema = z.record(z.string(), z.string());

/** Whether the figures can only be those of pages. */
function isOfPages({ dimensions, type }: { dimensions: readonly string[]; type: string }): boolean {
  return dimensions.includes('page') || type === 'discover' || type === 'googleNews';
}

/** The operation that a path and query stand for, or null. */
export function operationOf(url: string): OperationName | null {
  const path = url.replace(/\?.*$/, '');
  return /^\/(robots|sitemap)/.test(path) ? 'web' : (GOOGLE_OPERATIONS.find((name) => path.endsWith(name)) ?? null);
}

/** Adds signing in, the calls of Search Console, and, by the `host` of a request, the websites' own files. */
export async function addCalls(app: FastifyInstance, sources: Sources): Promise<void> {
  const { signIn, world } = sources;
  app.setErrorHandler((error, request, reply) => sendRefusal(error, reply, request.url));
  app.addContentTypeParser(FORM, { parseAs: 'string' }, async (_: unknown, body: unknown) =>
    Object.fromEntries(new URLSearchParams(String(body))),
  );
  app.post('/token', async ({ body, host }) => signIn.grant(formSchema.parse(body), `http://${host}/token`));
  app.post('/revoke', async ({ body }) => signIn.revoke(formSchema.parse(body)));
  app.get('/auth', async ({ query }, reply) => {
    const answer = signIn.consent.answer(query);
    return 'location' in answer ? reply.redirect(answer.location) : reply.type('text/html').send(answer.page);
  });
  addWebsites(app, world);
  await app.register(async (scope) => {
    scope.addHook('onRequest', async ({ headers }) =>
      signIn.admit(headers.authorization, headers['x-goog-user-project']),
    );
    addReading(scope, sources);
    addInspection(scope, sources);
  });
}

/** Answers an error, that of a fault included, as Google does: never with a `Retry-After`. */
function sendRefusal(cause: unknown, reply: FastifyReply, url: string): FastifyReply {
  const { status: code, message } =
    cause instanceof ZodError ? new ServiceError(400, cause.message) : publicError(cause);
  const errors = cause instanceof LoadRefused ? [{ domain: 'usageLimits', reason: cause.reason, message }] : undefined;
  const refusal = { error: { code, message, errors, status: STATUSES[code] } };
  const isSignIn = /^\/(token|revoke)$/.test(url) && (code === 400 || code === 401);
  const error = code === 401 ? 'invalid_client' : url === '/token' ? 'invalid_grant' : 'invalid_token';
  return reply.code(code).send(isSignIn ? { error, error_description: message } : refusal);
}

function addReading(app: FastifyInstance, { properties }: Sources): void {
  type Of = { Params: { siteUrl: string } };
  const propertyOf = ({ params: { siteUrl } }: FastifyRequest<Of>): Property =>
    readable(properties, siteUrl, `User does not have sufficient permission for site '${siteUrl}'.`);
  app.get(SITES, async () => ({
    siteEntry: properties.map(({ siteUrl, permissionLevel }) => ({ siteUrl, permissionLevel })),
  }));
  app.get<Of>(`${SITES}/:siteUrl/sitemaps`, async (request) => {
    const { siteUrl, website } = propertyOf(request);
    const path = website && sitemapIndexOf(website);
    // What is empty is absent.
    return path && isOfProperty(siteUrl, path) ? { sitemap: [{ path, isSitemapsIndex: true }] } : {};
  });
  app.post<Of>(`${SITES}/:siteUrl/searchAnalytics/query`, async (request) => {
    const property = propertyOf(request);
    const query = trafficSchema.parse(request.body);
    property.query();
    const { rows = [], ...more } = property.traffic?.answer(query) ?? {};
    const responseAggregationType = query.isByPage ? 'byPage' : 'byProperty';
    return { ...(rows.length > 0 ? { rows } : {}), responseAggregationType, ...more };
  });
}

function addInspection(app: FastifyInstance, { world, properties, latencyMs, inspected }: Sources): void {
  app.post('/v1/urlInspection/index::inspect', async (request) => {
    const { inspectionUrl: url, siteUrl, languageCode } = inspectionSchema.parse(request.body);
    const property = readable(properties, siteUrl, NOT_YOURS);
    const isRestricted = property.permissionLevel === 'siteRestrictedUser';
    if (isRestricted || !isOfProperty(siteUrl, url)) throw new ServiceError(403, NOT_YOURS);
    property.spend();
    inspected.set(url, (inspected.get(url) ?? 0) + 1);
    const isSound = property.begin();
    if (latencyMs > 0) await sleep(latencyMs * (5 / 6 + Math.random() / 3));
    property.end();
    const known = isSound ? property : { ...property, website: null };
    return { inspectionResult: inspectionOf(world, known, url, languageCode) };
  });
}

function readable(properties: readonly Property[], siteUrl: string, refusal: string): Property {
  const property = properties.find((one) => one.siteUrl === siteUrl);
  if (!property || property.permissionLevel === 'siteUnverifiedUser') throw new ServiceError(403, refusal);
  return property;
}

function addWebsites(app: FastifyInstance, world: World): void {
  app.get('/:file', async ({ hostname, url }, reply) => {
    const found = world.websites.find(({ domain }) => hostname.replace(/^www\./, '') === domain);
    if (!found) throw new ServiceError(404, 'There is no such site.');
    const website = world.website(found.id);
    const index = sitemapIndexOf(website);
    if (url === '/robots.txt')
      return reply.type('text/plain').send(`User-agent: *\nDisallow: /x/\nSitemap: ${index}\n`);
    const text = sitemap(website, world, new URL(url, index).href);
    if (text === null) throw new ServiceError(404, 'There is no such file.');
    return reply.type('application/xml').send(text);
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isCalendarDate } from '../../../base/time.js';
import { GOOGLE_OPERATIONS, type OperationName } from '../simulator/faults.js';
import type { SimulatedWebsite } from '../simulator/website.js';
import type { World } from '../simulator/world.js';
import { inspectionOf } from './inspection.js';
import { isPartOf, type Properties, type Property } from './properties.js';
import { Refusal, sendRefusal } from './refusals.js';
import type { SignIn } from './sign-in.js';
import { sitemap, sitemapIndex, sitemapIndexOf } from './site.js';
import { trafficOf } from './traffic.js';

const SITES = '/webmasters/v3/sites';
const FORM = 'application/x-www-form-urlencoded';
const COUNTS = { warnings: '0', errors: '0', contents: [{ type: 'web', submitted: '1', indexed: '0' }] };
const XML = 'application/xml; charset=utf-8';
const NOT_YOURS = 'You do not own this site, or the inspected URL is not part of this property.';

/** What the calls answer from. */
export interface Sources {
  world: World;
  properties: Properties;
  signIn: SignIn;
  /** How long an inspection takes, about. */
  latencyMs: number;
  /** How often each address was inspected at the cost of quota. */
  inspected: Map<string, number>;
}

const date = z.string().refine(isCalendarDate);
const trafficSchema = z.object({
  startDate: date,
  endDate: date,
  // The only dimension that the simulator knows.
  dimensions: z.tuple([z.literal('page')]),
  rowLimit: z.int().min(1).max(25_000).default(1000),
  startRow: z.int().min(0).default(0),
});
const url = z.url({ protocol: /^https?$/ });
const inspectionSchema = z.object({ inspectionUrl: url, siteUrl: z.string(), languageCode: z.string().default('en') });
const formSchema = z.record(z.string(), z.string());

/** The operation that a path and query stand for, or null. */
export function operationOf(url: string): OperationName | null {
  const path = url.replace(/\?.*$/, '');
  return /^\/(robots|sitemap)/.test(path) ? 'web' : (GOOGLE_OPERATIONS.find((name) => path.endsWith(name)) ?? null);
}

/** Adds signing in, the calls of Search Console, and, by the `host` of a request, the websites' own files. */
export async function addCalls(app: FastifyInstance, sources: Sources): Promise<void> {
  const { signIn, world } = sources;
  app.setErrorHandler((error, request, reply) => sendRefusal(error, reply, operationOf(request.url)));
  app.addContentTypeParser(FORM, { parseAs: 'string' }, async (_: unknown, body: unknown) =>
    Object.fromEntries(new URLSearchParams(String(body))),
  );
  app.post('/token', async ({ body, host }) => signIn.grant(formSchema.parse(body), `http://${host}/token`));
  addWebsites(app, world);
  await app.register(async (scope) => {
    scope.addHook('onRequest', async ({ headers }) =>
      signIn.admit(headers.authorization, headers['x-goog-user-project']),
    );
    addReading(scope, sources);
    addInspection(scope, sources);
  });
}

function addReading(app: FastifyInstance, { world, properties }: Sources): void {
  type Of = { Params: { siteUrl: string } };
  const propertyOf = ({ params: { siteUrl } }: FastifyRequest<Of>): Property =>
    properties.readable(siteUrl, `User does not have sufficient permission for site '${siteUrl}'.`);
  app.get(SITES, async () => orNothing('siteEntry', properties.sites));
  app.get<Of>(`${SITES}/:siteUrl/sitemaps`, async (at) => orNothing('sitemap', submitted(world, propertyOf(at))));
  app.post<Of>(`${SITES}/:siteUrl/searchAnalytics/query`, async (request) => {
    const property = propertyOf(request);
    const { startDate, endDate, startRow, rowLimit } = trafficSchema.parse(request.body);
    // Nothing is drawn for the page that ends the list.
    const all =
      startRow < (property.website?.allPages.length ?? 0) ? trafficOf(world, property, startDate, endDate) : [];
    const rows = all.slice(startRow, startRow + rowLimit);
    return { ...orNothing('rows', rows), responseAggregationType: 'byPage' };
  });
}

function addInspection(app: FastifyInstance, { world, properties, latencyMs, inspected }: Sources): void {
  app.post('/v1/urlInspection/index::inspect', async (request) => {
    const { inspectionUrl: url, siteUrl, languageCode } = inspectionSchema.parse(request.body);
    const property = properties.readable(siteUrl, NOT_YOURS);
    if (!isPartOf(siteUrl, new URL(url))) throw new Refusal(403, NOT_YOURS);
    properties.spend(property);
    inspected.set(url, (inspected.get(url) ?? 0) + 1);
    if (latencyMs > 0) await sleep(latencyMs * (5 / 6 + Math.random() / 3));
    return { inspectionResult: inspectionOf(world, property, url, languageCode) };
  });
}

/** The sitemaps that the owner submitted for a property: the index, where that belongs to it. */
function submitted({ start, now }: World, { siteUrl, website }: Property): Record<string, unknown>[] {
  const path = website && sitemapIndexOf(website);
  if (!path || !isPartOf(siteUrl, new URL(path))) return [];
  const times = { lastSubmitted: start.toISOString(), lastDownloaded: now.toISOString() };
  return [{ path, ...times, isPending: false, isSitemapsIndex: true, type: 'sitemap', ...COUNTS }];
}

function addWebsites(app: FastifyInstance, world: World): void {
  const websiteAt = ({ hostname }: FastifyRequest): SimulatedWebsite => {
    const found = world.websites.find(({ domain }) => hostname.replace(/^www\./, '') === domain);
    if (!found) throw new Refusal(404, 'There is no such site.');
    return world.website(found.id);
  };
  app.get('/robots.txt', async (at, reply) =>
    reply.type('text/plain').send(`User-agent: *\nDisallow: /x/\nSitemap: ${sitemapIndexOf(websiteAt(at))}\n`),
  );
  app.get('/sitemap.xml', async (request, reply) => reply.type(XML).send(sitemapIndex(websiteAt(request))));
  app.get('/sitemap-:file', async (request, reply) => {
    const website = websiteAt(request);
    const text = sitemap(website, world, `https://www.${website.settings.domain}${request.url}`);
    if (text === null) throw new Refusal(404, 'There is no such file.');
    const isZipped = request.url.endsWith('.gz');
    return isZipped ? reply.type('application/gzip').send(gzipSync(text)) : reply.type(XML).send(text);
  });
}

function orNothing(name: string, items: readonly unknown[]): Record<string, unknown> {
  return items.length > 0 ? { [name]: items } : {};
}

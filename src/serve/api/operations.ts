import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ABSOLUTE_URL } from '../../source/contract/fields.js';
import { admission, checkWebsite, contextOf, type Interface, keyOf, readableBy } from './admission.js';
import { answersOf, linksTo, SNAPSHOT_HEADERS } from './answers.js';
import { ServiceError } from './errors.js';
import { EXPORT_TYPES, type ExportFormat, formatParameters, sendListing } from './export.js';
import {
  type ListingParameters,
  listingParameters,
  listingQueryOf,
  momentOf,
  momentParameters,
} from './listing-query.js';
import { paginationOf, type WindowBounds, windowQuery } from './pagination.js';
import { servedKey, servedReport, servedWindow } from './served.js';
import type { FoundReports, ListingWindow, ShownState } from './store.js';

/** The three operations of the specification, by the sections of its chapter 4. */
export function addOperations(app: FastifyInstance, service: Interface): void {
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
  const website_id = '$response.body#/websites_access/0/_id';
  const links = linksTo({
    indexCoverage: { website_id },
    ...(service.store.hasHistory && { snapshots: { website_id } }),
  });
  app.get('/v1', { schema, links, onRequest: admission(service) }, async (request) => keyOf(request));
}

export const websiteParameters = z.object({ website_id: z.string().describe('Id of the website.') });

function addCoverage(app: FastifyInstance, service: Interface): void {
  const { store } = service;
  const windows = windowQuery(service.limits);
  const schema = {
    operationId: 'indexCoverage',
    tags: ['Listings'],
    summary: 'Index coverage',
    description:
      'The monitored pages of a website, a window at a time, sorted by URL unless another order is requested.',
    params: websiteParameters,
    querystring: store.hasHistory ? windows.extend({ ...formatParameters.shape, ...listingParameters.shape }) : windows,
    response: answersOf(store.hasHistory ? LISTING_CONTENT : servedWindow, [400, 403, 404]),
    ...(store.hasHistory ? { 'x-headers': SNAPSHOT_HEADERS } : {}),
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const links = linksTo({ urlReport: { url: '$response.body#/urls/0/url' } });
  typed.get('/v1/urls/:website_id', { schema, links, onRequest: admission(service) }, async (request, reply) => {
    const { website_id: websiteId } = request.params;
    await checkWebsite(store, keyOf(request), websiteId);
    const { format = 'json', skip, limit, ...known }: WholeQuery = request.query;
    const window = { skip, limit };
    const query = listingQueryOf(known);
    const context = contextOf(request, reply);
    if (format !== 'json' && store.streamListing) {
      const listing = await store.streamListing(websiteId, query, context);
      reply.headers(snapshotHeaders(listing));
      return sendListing(format, listing, request, reply);
    }
    const listing = await store.listCoverage(websiteId, window, query, context);
    return showing(listing, windowBody(websiteId, window, listing, query.query), reply);
  });
}

type WholeQuery = WindowBounds & ListingParameters & { format?: ExportFormat | 'json' | undefined };

const LISTING_CONTENT = {
  'application/json': { schema: servedWindow },
  [EXPORT_TYPES.ndjson]: { schema: z.string().describe('A CoverageEntry a line.') },
  [EXPORT_TYPES.csv]: { schema: z.string().describe('A header line, then one entry per line.') },
};

/** Makes the body of an answer, and sets the headers that say which state it shows. */
export function showing(state: ShownState, content: object, reply: FastifyReply): string {
  reply.type('application/json; charset=utf-8').headers(snapshotHeaders(state));
  return JSON.stringify(content);
}

function snapshotHeaders({ version, observedAt }: ShownState) {
  return {
    ...(version === undefined ? {} : { 'x-snapshot-id': version }),
    ...(observedAt === undefined ? {} : { 'x-snapshot-time': observedAt.toISOString() }),
  };
}

function windowBody(
  websiteId: string,
  window: WindowBounds,
  { entries, count, version }: ListingWindow,
  query: Readonly<Record<string, string>>,
): object {
  const carried = version === undefined ? {} : { ...query, snapshot: version };
  const pagination = paginationOf(`/v1/urls/${encodeURIComponent(websiteId)}`, window, count, carried);
  return { urls: entries, pagination };
}

export const UNUSABLE_URL = 'url must be one absolute, percent-encoded page URL.';
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
    response: answersOf(servedReport, [400, 403, 404]),
    ...(store.hasHistory ? { 'x-headers': SNAPSHOT_HEADERS } : {}),
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/v1/url-report', { schema, onRequest: admission(service) }, async (request, reply) => {
    const { url, ...known } = request.query;
    const [readable, context] = [readableBy(keyOf(request)), contextOf(request, reply)];
    const found = await store.findReports([url], readable, momentOf(known), context);
    const report = found.reports.get(url);
    if (!report) throw noReport(url, found);
    return showing(found, report, reply);
  });
}

/** Why there is no report of a page. */
export function noReport(url: string, { elsewhere }: FoundReports): ServiceError {
  if (!elsewhere.has(url)) return new ServiceError(404, 'This page is not monitored.');
  return new ServiceError(403, 'This API key has no access to the website of this page.');
}

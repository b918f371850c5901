import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ABSOLUTE_URL } from '../../source/contract/fields.js';
import { admission, checkWebsite, contextOf, type Interface, keyOf, readableBy } from './admission.js';
import { ServiceError } from './errors.js';
import {
  type ListingParameters,
  listingParameters,
  listingQueryOf,
  momentOf,
  momentParameters,
} from './listing-query.js';
import { answersOf } from './openapi.js';
import { paginationOf, type WindowBounds, windowQuery } from './pagination.js';
import { servedKey, servedReport, servedWindow } from './served.js';
import type { ListingWindow, ShownState } from './store.js';

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
  app.get('/v1', { schema, onRequest: admission(service) }, async (request) => keyOf(request));
}

const websiteParameters = z.object({ website_id: z.string().describe('Id of the website.') });

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
    querystring: store.hasHistory ? windows.extend(listingParameters.shape) : windows,
    response: answersOf(servedWindow),
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/v1/urls/:website_id', { schema, onRequest: admission(service) }, async (request, reply) => {
    const { website_id: websiteId } = request.params;
    await checkWebsite(store, keyOf(request), websiteId);
    const { skip, limit, ...known }: WindowBounds & ListingParameters = request.query;
    const window = { skip, limit };
    const query = listingQueryOf(known);
    const listing = await store.listCoverage(websiteId, window, query, contextOf(request, reply));
    return showing(listing, windowBody(websiteId, window, listing, query.query), reply);
  });
}

/** Makes the body of an answer, and sets the headers that say which state it shows. */
function showing({ version, observedAt }: ShownState, content: object, reply: FastifyReply): string {
  reply.type('application/json; charset=utf-8');
  if (version !== undefined) reply.header('x-snapshot-id', version);
  if (observedAt !== undefined) reply.header('x-snapshot-time', observedAt.toISOString());
  return JSON.stringify(content);
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

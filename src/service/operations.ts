import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ABSOLUTE_URL } from '../contract/fields.js';
import { servedKey, servedReport, servedWindow } from '../contract/served.js';
import { admission, checkWebsite, contextOf, type Interface, keyOf, readableBy } from './admission.js';
import { answersOf } from './answers.js';
import { ServiceError } from './errors.js';
import { listingParameters, listingQueryOf, momentOf, momentParameters } from './listing-query.js';
import { paginationOf, type Window, windowOf, windowQuery } from './pagination.js';
import type { ListingWindow } from './store.js';

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

export const websiteParameters = z.object({ website_id: z.string().describe('Id of the website.') });

function addCoverage(app: FastifyInstance, service: Interface): void {
  const { store, limits } = service;
  const window = windowQuery(limits);
  const schema = {
    operationId: 'indexCoverage',
    tags: ['Listings'],
    summary: 'Index coverage',
    description: 'The monitored pages of a website, a window at a time, sorted by URL where nothing else is asked for.',
    params: websiteParameters,
    querystring: store.hasHistory ? window.extend(listingParameters.shape) : window,
    response: answersOf(servedWindow, [400, 403, 404]),
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/v1/urls/:website_id', { schema, onRequest: admission(service) }, async (request, reply) => {
    const { website_id: websiteId } = request.params;
    await checkWebsite(store, keyOf(request), websiteId);
    const query = listingQueryOf(request.query);
    const window = windowOf(request.query, limits);
    const listing = await store.listCoverage(websiteId, window, query, contextOf(request, reply));
    if (!listing) throw new ServiceError(404, 'There is no such website.');
    reply.type('application/json; charset=utf-8');
    return windowBody(websiteId, window, listing, query.query);
  });
}

function windowBody(
  websiteId: string,
  window: Window,
  { entries, count, version }: ListingWindow,
  query: Readonly<Record<string, string>>,
): string | Buffer {
  const carried = version === undefined ? {} : { ...query, snapshot: version };
  const pagination = paginationOf(websiteId, window, count, carried);
  if (!Buffer.isBuffer(entries)) return JSON.stringify({ urls: entries, pagination });
  return Buffer.concat([Buffer.from('{"urls":'), entries, Buffer.from(`,"pagination":${JSON.stringify(pagination)}}`)]);
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
      'What is known of one page. Where no report of it was fetched yet, what its entry in the listing tells, and null for the rest.',
    querystring: store.hasHistory ? reportQuery.extend(momentParameters.shape) : reportQuery,
    response: answersOf(servedReport, [400, 403, 404]),
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/v1/url-report', { schema, onRequest: admission(service) }, async (request, reply) => {
    const { url, ...known } = request.query;
    const [readable, context] = [readableBy(keyOf(request)), contextOf(request, reply)];
    const report = (await store.findReports([url], readable, momentOf(known), context)).get(url);
    if (report) return report;
    if (await store.isMonitoredBeside(readable, url, context)) {
      throw new ServiceError(403, "This API key was not granted this page's website.");
    }
    throw new ServiceError(404, 'This page is not monitored.');
  });
}

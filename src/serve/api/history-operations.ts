import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ABSOLUTE_URL } from '../../source/contract/fields.js';
import { admission, checkWebsite, contextOf, type Interface, keyOf, readableBy } from './admission.js';
import { answersOf, linksTo, SNAPSHOT_HEADERS } from './answers.js';
import { errorBody, ServiceError } from './errors.js';
import { momentOf, momentParameters } from './listing-query.js';
import { noReport, showing, UNUSABLE_URL, websiteParameters } from './operations.js';
import { paginationOf, windowQuery } from './pagination.js';
import { servedResults, servedSnapshots } from './served.js';
import type { FoundReports } from './store.js';

const MAX_URLS = 100;

/** Adds the operations beyond the specification, for a store that keeps history. */
export function addHistoryOperations(app: FastifyInstance, service: Interface): void {
  addSnapshots(app, service);
  addReports(app, service);
}

function addSnapshots(app: FastifyInstance, service: Interface): void {
  const { store } = service;
  const schema = {
    operationId: 'snapshots',
    tags: ['Listings'],
    summary: 'Snapshots',
    description: 'The nights with a listing, newest first. `date` and `time` go into `as_of`, `id` into `snapshot`.',
    params: websiteParameters,
    querystring: windowQuery(service.limits),
    response: answersOf(servedSnapshots, [400, 403, 404]),
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const [website_id, snapshot] = ['$request.path.website_id', '$response.body#/snapshots/0/id'];
  const links = linksTo({ indexCoverage: { website_id, snapshot } });
  typed.get('/v1/snapshots/:website_id', { schema, links, onRequest: admission(service) }, async (request, reply) => {
    const { website_id: websiteId } = request.params;
    await checkWebsite(store, keyOf(request), websiteId);
    const found = await store.listSnapshots?.(websiteId, request.query, contextOf(request, reply));
    const { snapshots = [], count = 0 } = found ?? {};
    const path = `/v1/snapshots/${encodeURIComponent(websiteId)}`;
    return { snapshots, pagination: paginationOf(path, request.query, count) };
  });
}

const UNUSABLE_URLS = `urls must be a list of 1 to ${MAX_URLS} page URLs, as strings.`;
const reportsBody = z
  .object(
    {
      urls: z
        .array(z.string(UNUSABLE_URLS), UNUSABLE_URLS)
        .min(1, UNUSABLE_URLS)
        .max(MAX_URLS, UNUSABLE_URLS)
        .describe('The absolute URLs of the pages.'),
    },
    UNUSABLE_URLS,
  )
  .describe('The pages whose reports are wanted.');

function addReports(app: FastifyInstance, service: Interface): void {
  const { store } = service;
  const schema = {
    operationId: 'urlReports',
    tags: ['Reports'],
    summary: `Reports of up to ${MAX_URLS} pages`,
    description:
      'A result for each URL, in the order of the request: its status, and its report or its error, as the URL report would have answered. Counts as one request.',
    querystring: momentParameters,
    body: reportsBody,
    response: answersOf(servedResults, [400, 413, 415]),
    'x-headers': [...SNAPSHOT_HEADERS, 'Vary'],
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post('/v1/url-reports', { schema, onRequest: admission(service) }, async (request, reply) => {
    const [readable, context] = [readableBy(keyOf(request)), contextOf(request, reply)];
    const usable = [...new Set(request.body.urls.filter((url) => ABSOLUTE_URL.test(url)))];
    const found = await store.findReports(usable, readable, momentOf(request.query), context);
    return showing(found, { reports: request.body.urls.map((url) => resultOf(url, found)) }, reply);
  });
}

function resultOf(url: string, found: FoundReports) {
  const report = found.reports.get(url);
  if (report) return { url, status: 200, report, error: null };
  const { status, message } = ABSOLUTE_URL.test(url) ? noReport(url, found) : new ServiceError(400, UNUSABLE_URL);
  return { url, status, report: null, error: errorBody(status, message) };
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ABSOLUTE_URL } from '../../source/contract/fields.js';
import { admission, contextOf, type Interface, keyOf, readableBy } from './admission.js';
import { ServiceError } from './errors.js';
import { answersOf, servedKey, servedReport, servedWindow } from './openapi.js';
import { paginationOf, type WindowBounds, windowQuery } from './pagination.js';
import type { Moment, ShownState } from './store.js';

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

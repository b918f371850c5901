import { z } from 'zod';
import { contractJsonSchemas } from '../contract/json-schema.js';
import { listingParameters, momentParameters } from './listing-query.js';
import type { LimitRules } from './pagination.js';

/** One operation of the interface, as the document tells it. */
export interface Operation {
  path: string;
  id: string;
  title: string;
  description: string;
  parameters: Parameter[];
  /** Name of the schema of a 200. */
  answer: string;
  /** Statuses of errors. */
  errors: number[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description: string;
  schema: object;
}

const MEANING: Readonly<Record<string, string>> = {
  as_of:
    'What was known then: a date (everything observed by its end, in the time zone of the warehouse, and the listing that began on it) or a time with its offset. Ages are counted to then.',
  snapshot:
    'The state that an earlier window showed. The links of a listing carry it, so that a walk sees one state, whatever is committed meanwhile.',
  index_summary: 'Only entries with this summary, e.g. `Indexed`.',
  index_coverage_state: 'Only entries in this coverage state.',
  canonicals_match: 'Only entries whose canonicals match, do not, or of which that is not known (`none`).',
  url_contains: 'Only pages whose URL contains this text.',
  crawled_before: 'Only pages that were crawled last before this date or time.',
  crawled_after: 'Only pages that were crawled last at or after this date or time.',
  sort: 'The order: a field, with `-` in front for the other way round. Entries without a value come last.',
};

export const ERROR_MEANING: Readonly<Record<number, string>> = {
  400: 'The request is unusable; the message says which parameter.',
  401: 'There is no key, or none that is valid.',
  403: 'The key was not granted this website.',
  404: 'There is no such website, page or state, or nothing was known of it then.',
  429: 'The key is over its rate; `Retry-After` says for how long.',
};

/** The operations of the interface, generated from what answers them. */
export function operationsOf({ defaultLimit, maxLimit, aboveMaxLimit }: LimitRules): Operation[] {
  const above = aboveMaxLimit === 'refuse' ? 'a larger one is refused' : 'a larger one gets this many';
  return [
    {
      path: '/v1',
      id: 'keyDetails',
      title: 'API key details',
      description: 'The key that the request carries, and the websites that it may read.',
      parameters: [],
      answer: 'KeyDetails',
      errors: [401, 429],
    },
    {
      path: '/v1/urls/{website_id}',
      id: 'indexCoverage',
      title: 'Index coverage',
      description:
        'The monitored pages of a website, a window at a time, sorted by URL where nothing else is asked for.',
      parameters: [
        {
          name: 'website_id',
          in: 'path',
          required: true,
          description: 'Id of the website.',
          schema: { type: 'string' },
        },
        whole('skip', 'Entries before the window.', { minimum: 0, maximum: 2 ** 31 - 1, default: 0 }),
        whole('limit', `Entries in the window; ${above}.`, { minimum: 1, maximum: maxLimit, default: defaultLimit }),
        ...queryParameters(listingParameters),
      ],
      answer: 'CoverageWindow',
      errors: [400, 401, 403, 404, 429],
    },
    {
      path: '/v1/url-report',
      id: 'urlReport',
      title: 'URL report',
      description:
        'What is known of one page. Where no report of it was fetched yet, what its entry in the listing tells, and null for the rest.',
      parameters: [
        {
          name: 'url',
          in: 'query',
          required: true,
          description: 'The page’s absolute URL, percent-encoded.',
          schema: { type: 'string', format: 'uri' },
        },
        ...queryParameters(momentParameters),
      ],
      answer: 'UrlReport',
      errors: [400, 401, 403, 404, 429],
    },
  ];
}

function whole(name: string, description: string, bounds: object): Parameter {
  return { name, in: 'query', required: false, description, schema: { type: 'integer', ...bounds } };
}

function queryParameters(schema: z.ZodObject): Parameter[] {
  return Object.entries(schema.shape).map(([name, field]) => ({
    name,
    in: 'query',
    required: false,
    description: MEANING[name] ?? '',
    schema: bare(z.toJSONSchema(field, { io: 'input' })),
  }));
}

/** The OpenAPI 3.1 document of the interface, its payloads generated from the contract. */
export function openApiDocument(limits: LimitRules, prefix: string): object {
  const schemas = Object.entries(contractJsonSchemas()).map(([name, schema]) => [name, bare(schema)]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'indexhouse',
      version: '1',
      description:
        'How a search engine indexes monitored pages, from a warehouse of nightly snapshots: now, or as it was known at any past moment.',
    },
    servers: [{ url: prefix === '' ? '/' : prefix }],
    security: [{ key: [] }],
    paths: Object.fromEntries(operationsOf(limits).map((operation) => [operation.path, { get: described(operation) }])),
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(schemas),
    },
  };
}

function described({ id, title, description, parameters, answer, errors }: Operation): object {
  const failed = errors.map((status) => [String(status), response(ERROR_MEANING[status] ?? '', 'Error')]);
  const notModified = ['304', { description: 'The client has it already (`If-None-Match`).' }];
  return {
    operationId: id,
    summary: title,
    description,
    parameters,
    responses: Object.fromEntries([['200', response('The answer.', answer)], notModified, ...failed]),
  };
}

function response(description: string, schema: string): object {
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } };
}

/** Without the mark of a document of its own. */
function bare(schema: unknown): object {
  const { $schema: _, ...rest } = z.looseObject({}).parse(schema);
  return rest;
}

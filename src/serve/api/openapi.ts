import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { coverageEntrySchema, coverageWindowSchema } from '../../source/contract/coverage.js';
import { integer, text, timestamp, truth } from '../../source/contract/fields.js';
import { errorBodySchema, keyDetailsSchema } from '../../source/contract/key.js';
import { urlReportSchema } from '../../source/contract/report.js';

const count = integer.nonnegative();

/**
 * What our own services answer. The contract tolerates what a foreign service leaves out or adds; these schemas are
 * derived from it and state what a client can rely on: every field is there, and no other one is.
 */
const servedSchemas = z.registry<{ id: string }>();

/** Only this is omitted if nothing is known about a page (specification, 2.1). */
const { canonicals_match } = coverageEntrySchema.shape;
const servedEntry = named(
  'CoverageEntry',
  z.strictObject(coverageEntrySchema.shape).required().extend({ canonicals_match }),
);

const servedPagination = named(
  'Pagination',
  z.strictObject({
    ...{ end: truth, count, skip: count, limit: count, current_page: integer, total_page: integer },
    ...{ next_page: text.nullable(), prev_page: text.nullable() },
  }),
);

export const servedWindow = named(
  'CoverageWindow',
  z.strictObject({ ...coverageWindowSchema.shape, urls: z.array(servedEntry), pagination: servedPagination }),
);

export const servedReport = named('UrlReport', z.strictObject(urlReportSchema.shape).required());

export const servedKey = named(
  'KeyDetails',
  z.strictObject({
    ...keyDetailsSchema.shape,
    account: z.strictObject(keyDetailsSchema.shape.account.shape),
    websites_access: z.array(z.strictObject(keyDetailsSchema.shape.websites_access.element.shape)),
  }),
);

const servedError = named('Error', z.strictObject(errorBodySchema.shape));

/** Gives a schema the name that it has in the OpenAPI document. */
function named<T extends z.ZodType>(id: string, schema: T): T {
  servedSchemas.add(schema, { id });
  return schema;
}

const INFO = {
  title: 'indexhouse',
  version: '1',
  description:
    'How a search engine indexes monitored pages, from a warehouse of nightly snapshots: now, or as it was known at any past moment.',
  license: { name: 'MIT', identifier: 'MIT' },
};
const TAGS = [
  { name: 'Keys', description: 'Whose key it is, and what it may read.' },
  { name: 'Listings', description: 'The monitored pages of a website.' },
  { name: 'Reports', description: 'What is known about single pages.' },
];

/**
 * Makes `app.swagger()` the OpenAPI 3.1 document of the routes that are added to this scope from now on, with
 * parameters and payloads generated from the Zod schemas that parse and describe them.
 */
export async function describeRoutes(app: FastifyInstance, prefix: string): Promise<void> {
  const options = { schemaRegistry: servedSchemas, zodToJsonConfig: { override: withDescription } };
  const withComponents = createJsonSchemaTransformObject(options);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: INFO,
      servers: [{ url: prefix === '' ? '/' : prefix }],
      security: [{ key: [] }],
      tags: TAGS,
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    },
    transform: createJsonSchemaTransform(options),
    transformObject: (document) => {
      const described = withComponents(document);
      const { schemas = {} } = ('components' in described && described.components) || {};
      // The library makes one of every named schema, but no request has a body.
      for (const name of Object.keys(schemas)) if (name.endsWith('Input')) delete schemas[name];
      return described;
    },
  });
}

type Converted = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0];

/** Adds what `.describe()` and `.meta()` say of a schema; for a time in an answer, the format says enough. */
function withDescription({ zodSchema, jsonSchema }: Converted): void {
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema));
  if (zodSchema !== timestamp) return;
  jsonSchema.format = 'date-time';
  delete jsonSchema.pattern;
  delete jsonSchema.allOf;
}

/** The answers of an operation, for Fastify. They only describe: no answer is checked against them when it is sent. */
export function answersOf(schema: z.ZodType<unknown>) {
  const answer = (description: string, body: z.ZodType<unknown>) => ({
    description,
    content: { 'application/json': { schema: body } },
  });
  return {
    200: answer('The answer.', schema),
    '4xx': answer('The request is refused, and the message says why.', servedError),
    '5xx': answer('The service cannot answer; `Retry-After` says when to retry.', servedError),
  };
}

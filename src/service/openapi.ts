import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { timestamp } from '../contract/fields.js';
import { servedSchemas } from '../contract/served.js';
import { ANSWERS, CACHE_HEADERS, ERRORS_ANYWHERE, HEADERS, type HeaderName, RATE_HEADERS } from './answers.js';

/** What decides which headers answers have. */
export interface Described {
  /** Path in front of `/v1`, or nothing. */
  prefix: string;
  isRateLimited: boolean;
  /** Whether answers carry an `ETag` and the like. */
  isCacheable: boolean;
}

const INFO = {
  title: 'indexhouse',
  version: '1',
  description:
    'How a search engine indexes monitored pages, from a warehouse of nightly snapshots: now, or as it was known at any past moment.',
  license: { name: 'MIT', identifier: 'MIT' },
};
const TAGS = [
  { name: 'Keys', description: 'Who asks, and what they may read.' },
  { name: 'Listings', description: 'The monitored pages of a website.' },
  { name: 'Reports', description: 'What is known of single pages.' },
];

/**
 * Makes `app.swagger()` the OpenAPI 3.1 document of the routes that are added to this scope from now on, their
 * parameters and payloads generated from the Zod schemas that read and state them.
 */
export async function describeRoutes(app: FastifyInstance, described: Described): Promise<void> {
  const options = { schemaRegistry: servedSchemas, zodToJsonConfig: { override: told } };
  const withComponents = createJsonSchemaTransformObject(options);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: INFO,
      servers: [{ url: described.prefix === '' ? '/' : described.prefix }],
      security: [{ key: [] }],
      tags: TAGS,
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    },
    transform: createJsonSchemaTransform(options),
    transformObject: (document) => completed(withComponents(document), described),
  });
}

/** What `.describe()` and `.meta()` said of a schema; of a time that is sent the format says enough. */
function told({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema));
  if (zodSchema !== timestamp) return;
  jsonSchema.format = 'date-time';
  delete jsonSchema.pattern;
  delete jsonSchema.allOf;
}

const responsesSchema = z.record(z.string(), z.looseObject({}));
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ responses: responsesSchema }))),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});

/** With what is the same for every operation: errors, headers, and the answer to who has it already. */
function completed(generated: object, described: Described) {
  const { paths, components, ...rest } = documentSchema.parse(generated);
  const operations = Object.values(paths).flatMap((methods) => Object.entries(methods));
  for (const [method, operation] of operations) {
    const { 200: answer, ...errors } = operation.responses;
    operation.responses = {
      200: { ...answer, headers: headerRefs(headersOf(200, described)) },
      ...(described.isCacheable && method === 'get' ? { 304: reference('responses', nameOf(304)) } : {}),
      ...errorRefs([...Object.keys(errors).map(Number), ...ERRORS_ANYWHERE, ...(described.isRateLimited ? [429] : [])]),
    };
  }
  // The library also makes a component for what would be sent to us; nothing of this is.
  const schemas = Object.entries(components.schemas).filter(([name]) => !name.endsWith('Input'));
  const used = { ...components, schemas: Object.fromEntries(schemas), ...sharedParts(operations, described) };
  return { ...rest, paths, components: used };
}

/** The answers and headers that operations refer to. */
function sharedParts(operations: Parts, described: Described) {
  const referred = new Set(operations.flatMap(([, { responses }]) => Object.keys(responses).map(Number)));
  const statuses = [...referred].filter((status) => status !== 200);
  const responses = statuses.map((status) => [nameOf(status), sharedAnswer(status, described)]);
  const names = new Set([...referred].flatMap((status) => headersOf(status, described)));
  return {
    responses: Object.fromEntries(responses),
    headers: Object.fromEntries([...names].map((name) => [name, HEADERS[name]])),
  };
}

type Parts = [method: string, operation: { responses: Record<string, unknown> }][];

function sharedAnswer(status: number, described: Described): object {
  const content = { 'application/json': { schema: reference('schemas', 'Error') } };
  return {
    description: ANSWERS[status]?.description ?? '',
    headers: headerRefs(headersOf(status, described)),
    ...(status === 304 ? {} : { content }),
  };
}

function headersOf(status: number, { isRateLimited, isCacheable }: Described): HeaderName[] {
  const isBehindKey = ![401, 405, 408, 414, 431].includes(status);
  return [
    ...(ANSWERS[status]?.headers ?? []),
    ...(isRateLimited && isBehindKey ? RATE_HEADERS : []),
    ...(isCacheable && (status === 200 || status === 304) ? CACHE_HEADERS : []),
  ];
}

function headerRefs(names: readonly HeaderName[]): object {
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]));
}

function errorRefs(statuses: readonly number[]): object {
  return Object.fromEntries(statuses.map((status) => [status, reference('responses', nameOf(status))]));
}

function reference(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

/** A status as the name of a component, e.g. `NotFound`. */
function nameOf(status: number): string {
  return (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');
}

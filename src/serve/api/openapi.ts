import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { timestamp } from '../../source/contract/fields.js';
import { ANSWERS, CACHE_HEADERS, ERRORS_ANYWHERE, HEADERS, type HeaderName } from './answers.js';
import { servedSchemas } from './served.js';

/** What decides which headers answers have. */
export interface Described {
  /** Path in front of `/v1`, or nothing. */
  prefix: string;
  isRateLimited: boolean;
  /** Headers of every answer to a known key. */
  keyHeaders: readonly HeaderName[];
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
  { name: 'Keys', description: 'Whose key it is, and what it may read.' },
  { name: 'Listings', description: 'The monitored pages of a website.' },
  { name: 'Reports', description: 'What is known about single pages.' },
];

/**
 * Makes `app.swagger()` the OpenAPI 3.1 document of the routes that are added to this scope from now on, with
 * parameters and payloads generated from the Zod schemas that parse and describe them.
 */
export async function describeRoutes(app: FastifyInstance, described: Described): Promise<void> {
  const options = { schemaRegistry: servedSchemas, zodToJsonConfig: { override: withDescription } };
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

type Converted = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0];

/** Adds what `.describe()` and `.meta()` say of a schema; for a time in an answer, the format says enough. */
function withDescription({ zodSchema, jsonSchema }: Converted): void {
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema));
  if (zodSchema !== timestamp) return;
  jsonSchema.format = 'date-time';
  delete jsonSchema.pattern;
  delete jsonSchema.allOf;
}

const headerName = z.custom<HeaderName>((name) => typeof name === 'string' && Object.hasOwn(HEADERS, name));
const operationSchema = z.looseObject({
  responses: z.record(z.string(), z.looseObject({})),
  /** Headers of its answer, besides those of every answer. */
  'x-headers': z.array(headerName).default([]),
});
type DescribedOperation = z.infer<typeof operationSchema>;
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});

/** Adds what is the same for every operation: errors, headers, and the 304. */
function completed(generated: object, described: Described) {
  const { paths, components, ...rest } = documentSchema.parse(generated);
  const finished = Object.entries(paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(([method, each]) => [method, operation(method, each, described)]);
    return [path, Object.fromEntries(operations)] as const;
  });
  const all = shared(described);
  const responses = referred('responses', finished, all.responses);
  const headers = referred('headers', [finished, responses], all.headers);
  const schemas = referred('schemas', [finished, responses], components.schemas);
  return { ...rest, paths: Object.fromEntries(finished), components: { ...components, headers, responses, schemas } };
}

/** The components of a kind that something refers to: the library makes one of every named schema. */
function referred<Part>(kind: string, from: unknown, parts: Readonly<Record<string, Part>>): Record<string, Part> {
  const names = new Set<string>();
  const collect = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(new RegExp(`"#/components/${kind}/([\\w-]+)"`, 'g'))) {
      if (names.has(name)) continue;
      names.add(name);
      collect(parts[name]);
    }
  };
  collect(from);
  return Object.fromEntries(Object.entries(parts).filter(([name]) => names.has(name)));
}

function operation(method: string, { 'x-headers': own, ...rest }: DescribedOperation, described: Described): object {
  const { 200: answer, ...errors } = rest.responses;
  const isKept = described.isCacheable && method === 'get';
  const headers = [...own, ...(isKept ? CACHE_HEADERS : []), ...described.keyHeaders];
  const statuses = [...Object.keys(errors).map(Number), ...ERRORS_ANYWHERE, ...(described.isRateLimited ? [429] : [])];
  const others = [...(isKept ? [304] : []), ...statuses];
  const shared = others.map((status) => [status, reference('responses', componentName(status))]);
  return {
    ...rest,
    responses: { 200: { ...answer, headers: headerRefs(headers) }, ...Object.fromEntries(shared) },
  };
}

function headerRefs(names: readonly HeaderName[]): object {
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]));
}

function reference(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

/** A status as the name of a component, e.g. `NotFound`. */
function componentName(status: number): string {
  return (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');
}

const ERROR_CONTENT = { 'application/json': { schema: reference('schemas', 'Error') } };

/** Errors of checks that come before the key. */
const BEFORE_KEYS: ReadonlySet<string> = new Set(['401', '405', '408', '414', '421', '431']);

function shared({ keyHeaders }: Described) {
  const responses = Object.entries(ANSWERS).map(([status, { description, headers = [] }]) => {
    const named = headerRefs([...headers, ...(BEFORE_KEYS.has(status) ? [] : keyHeaders)]);
    const content = status === '304' ? {} : { content: ERROR_CONTENT };
    return [componentName(Number(status)), { description, headers: named, ...content }];
  });
  return { headers: HEADERS, responses: Object.fromEntries(responses) };
}

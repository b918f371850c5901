import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Html, html, type Part } from '../html/html.js';
import { STYLE } from '../html/style.js';
import { type Column, table } from '../html/table.js';
import { ANSWERS } from './answers.js';

const schemaSchema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
  default: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});
const parameterSchema = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().default(false),
  description: z.string().default(''),
  schema: schemaSchema,
});
const bodySchema = z.looseObject({ content: z.record(z.string(), z.object({ schema: z.unknown() })).optional() });
const operationSchema = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(parameterSchema).default([]),
  requestBody: bodySchema.optional(),
  responses: z.looseObject({ 200: bodySchema }),
});
type Operation = z.infer<typeof operationSchema> & { path: string; method: string };
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});
type Document = z.infer<typeof documentSchema>;
type Parameter = z.infer<typeof parameterSchema>;

/** A row of a table of two columns: a name, and what it means. */
type Line = readonly [name: string, text: string];

const PARAMETER_COLUMNS: readonly Column<Parameter>[] = [
  { head: 'Name', cell: ({ name }) => code(name) },
  { head: 'In', cell: ({ in: place, required }) => (required ? `${place}, required` : place) },
  { head: 'Meaning', cell: meaningOf },
];

function linesTable(name: string, text: string, lines: readonly Line[]): Part {
  const columns: Column<Line>[] = [
    { head: name, cell: ([about]) => code(about) },
    { head: text, cell: ([, said]) => prose(said) },
  ];
  return table(columns, lines);
}

/**
 * The API as one readable page, without scripts or anything from other origins.
 *
 * @param openApi its OpenAPI document, which contains no text from outside
 * @param origin scheme and host of the service, as its reader knows them
 * @param prefix path in front of `/v1`
 */
export function docsPage(openApi: unknown, origin: string, prefix: string): string {
  const document = documentSchema.parse(openApi);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>indexhouse: the interface</title>
<style>${new Html(DOCS_STYLE)}</style>
</head>
<body>
<main>
<h1>The interface</h1>
<p>How a search engine indexes the monitored pages of your websites. The same as a document for programs:
<a href="${prefix}/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<p>Every request carries a key: <code>Authorization: Bearer …</code>. <code>indexhouse keys add</code> makes one.</p>
<pre tabindex="0">curl -H "Authorization: Bearer $INDEXHOUSE_KEY" \\
  "${origin}${prefix}/v1/urls/&lt;website_id&gt;?limit=10"</pre>
<nav aria-label="Operations"><ul>${operations.map(({ operationId, summary }) => html`<li><a href="#${operationId}">${summary}</a></li>`)}</ul></nav>
${operations.map((operation) => section(operation, document, prefix))}
<h2 id="errors">Errors</h2>
<p>An error’s body is <code>{"error", "message", "status"}</code>.</p>
${linesTable('Status', 'Meaning', errorsOf(operations))}
<h2 id="caching">Caching and compression</h2>
<p>A 200 carries an <code>ETag</code>, and a listing or report <code>Last-Modified</code>; with <code>If-None-Match</code> or
<code>If-Modified-Since</code> an unchanged answer is a 304 without a body.
<code>Accept-Encoding: br</code> or <code>gzip</code> gets it compressed. <code>HEAD</code> answers as
<code>GET</code> does, without the body.</p>
</main>
</body>
</html>
`.text;
}

function section(operation: Operation, document: Document, prefix: string): Html {
  const { path, method, operationId, summary, description, parameters, requestBody, responses } = operation;
  const body = requestBody?.content?.['application/json']?.schema;
  const answer = responses[200].content?.['application/json']?.schema;
  return html`<h2 id="${operationId}">${summary}</h2>
<p class="path">${code(`${method} ${prefix}${path}`)}</p>
<p>${prose(description)}</p>
${parameters.length === 0 ? null : html`<h3>Parameters</h3>${table(PARAMETER_COLUMNS, parameters)}`}
${body === undefined ? null : html`<h3>Body, as JSON</h3>${linesTable('Field', 'Type', fieldsOf(body, document))}`}
<h3>Answer</h3>
${linesTable('Field', 'Type', fieldsOf(answer, document))}
`;
}

function meaningOf({ description, schema }: Parameter): Part {
  const choices = schema.enum?.map((value, at) => [at === 0 ? ' One of ' : ', ', code(value)]);
  const preset = schema.default === undefined ? null : [' ', code(String(schema.default)), ' if left out.'];
  return [prose(description), choices && [choices, '.'], preset];
}

/** The errors that any of the operations can answer with, by their status. */
function errorsOf(operations: readonly Operation[]): Line[] {
  const statuses = new Set(operations.flatMap(({ responses }) => Object.keys(responses)));
  const errors = [...statuses].filter((status) => status >= '400').sort();
  return errors.map((status) => [status, ANSWERS[Number(status)]?.description ?? '']);
}

function fieldsOf(schema: unknown, document: Document): Line[] {
  const { properties = {} } = resolved(schema, document);
  return Object.entries(properties).flatMap(([field, each]) => fieldRows(field, each, document));
}

/** The row of a field, and below it those of the fields inside it. */
function fieldRows(field: string, schema: unknown, document: Document): Line[] {
  const { properties, items } = resolved(schema, document);
  const held = items === undefined ? undefined : resolved(items, document).properties;
  const below = Object.entries(properties ?? held ?? {});
  const name = held ? `${field}[]` : field;
  const rows = below.flatMap(([inner, each]) => fieldRows(`${name}.${inner}`, each, document));
  return [[name, typeOf(schema, document)], ...rows];
}

function typeOf(schema: unknown, document: Document): string {
  const { type, format, anyOf, items } = resolved(schema, document);
  if (anyOf) return [...new Set(anyOf.map((each) => typeOf(each, document)))].join(' or ');
  if (Array.isArray(type)) return type.join(' or ');
  if (type === 'array') return `list of ${items === undefined ? 'values' : typeOf(items, document)}`;
  return format === 'date-time' ? 'time' : (type ?? 'any');
}

function resolved(schema: unknown, { components }: Document): z.infer<typeof schemaSchema> {
  const { $ref, ...rest } = schemaSchema.parse(schema);
  return $ref === undefined ? rest : schemaSchema.parse(components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)]);
}

function code(text: string): Html {
  return html`<code>${text}</code>`;
}

/** Text with `code` in backticks. */
function prose(text: string): Part {
  return text.split('`').map((part, at) => (at % 2 === 1 ? code(part) : part));
}

const DOCS_STYLE = `${STYLE}
code{overflow-wrap:anywhere}
pre{background:var(--card);padding:.8rem 1rem;border-radius:6px;overflow-x:auto}
@media (min-width:40rem){td:first-child code{white-space:nowrap}}
`;

/** Lets a browser show the page in its own style, and nothing else. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(DOCS_STYLE).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`;

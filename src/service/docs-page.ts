import { createHash } from 'node:crypto';
import { z } from 'zod';

const schemaSchema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
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
const answerSchema = z.looseObject({
  description: z.string(),
  content: z.record(z.string(), z.object({ schema: z.unknown() })).optional(),
});
const operationSchema = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(parameterSchema).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) }).optional(),
  responses: z.record(z.string(), z.union([z.object({ $ref: z.string() }), answerSchema])),
});
type Operation = z.infer<typeof operationSchema> & { path: string; method: string };
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.object({
    schemas: z.record(z.string(), z.unknown()),
    responses: z.record(z.string(), answerSchema),
  }),
});
type Document = z.infer<typeof documentSchema>;

/**
 * The interface as one readable page: no script, nothing from elsewhere.
 *
 * @param openApi its OpenAPI document: everything in it is written by us
 * @param origin scheme and host of the service, as its reader knows it
 * @param prefix path in front of `/v1`
 */
export function docsPage(openApi: unknown, origin: string, prefix: string): string {
  const document = documentSchema.parse(openApi);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>indexhouse: the interface</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>The interface</h1>
<p>How a search engine indexes the monitored pages of your websites. The same as a document for programs:
<a href="${prefix}/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<p>Every request carries a key: <code>Authorization: Bearer …</code>. <code>indexhouse keys add</code> makes one.</p>
<pre tabindex="0">curl -H "Authorization: Bearer $INDEXHOUSE_KEY" \\
  "${origin}${prefix}/v1/urls/&lt;website_id&gt;?limit=10"</pre>
<nav aria-label="Operations"><ul>${operations.map(({ operationId, summary }) => `<li><a href="#${operationId}">${summary}</a></li>`).join('')}</ul></nav>
${operations.map((operation) => section(operation, document, prefix)).join('\n')}
<h2 id="errors">Errors</h2>
<p>An error’s body is <code>{"error", "message", "status"}</code>.</p>
${table(['Status', 'Meaning'], errorRows(operations, document))}
<h2 id="caching">Caching and compression</h2>
<p>A 200 carries an <code>ETag</code>, and a listing <code>Last-Modified</code>; with <code>If-None-Match</code> or
<code>If-Modified-Since</code> an unchanged answer is a 304 without a body.
<code>Accept-Encoding: br</code> or <code>gzip</code> gets it compressed. <code>HEAD</code> answers as
<code>GET</code> does, without the body.</p>
</main>
</body>
</html>
`;
}

function section(operation: Operation, document: Document, prefix: string): string {
  const { path, method, operationId, summary, description, parameters } = operation;
  return `<h2 id="${operationId}">${summary}</h2>
<p class="path"><code>${method} ${prefix}${path}</code></p>
<p>${prose(description)}</p>
${parameters.length === 0 ? '' : `<h3>Parameters</h3>${table(['Name', 'In', 'Meaning'], parameters.map(parameterRow))}`}
${bodyTable(operation, document)}
<h3>Answer</h3>
${table(['Field', 'Type'], answerRows(operation, document))}`;
}

function parameterRow({ name, in: place, required, description, schema }: Operation['parameters'][number]): string[] {
  const preset = schema.default === undefined ? '' : ` ${code(String(schema.default))} if left out.`;
  const choice = schema.enum ? ` One of ${schema.enum.map((value) => code(value)).join(', ')}.` : '';
  return [code(name), required ? `${place}, required` : place, prose(description) + choice + preset];
}

function bodyTable({ requestBody }: Operation, document: Document): string {
  const schema = requestBody?.content['application/json']?.schema;
  if (schema === undefined) return '';
  const { properties = {} } = resolved(schema, document);
  const rows = Object.entries(properties).flatMap(([field, each]) => fieldRows(field, each, document));
  return `<h3>Body, as JSON</h3>${table(['Field', 'Type'], rows)}`;
}

/** The errors that any of the operations can answer with, by their status. */
function errorRows(operations: readonly Operation[], { components }: Document): string[][] {
  const answers = operations.flatMap(({ responses }) => Object.entries(responses));
  const errors = new Map(answers.filter(([status]) => status >= '400'));
  return [...errors].sort().map(([status, answer]) => {
    const { description } = answerSchema.parse(
      '$ref' in answer ? components.responses[nameOf(String(answer.$ref))] : answer,
    );
    return [code(status), prose(description)];
  });
}

function answerRows({ responses }: Operation, document: Document): string[][] {
  const answer = answerSchema.parse(responses['200']);
  const schema = answer.content?.['application/json']?.schema;
  const { properties = {} } = resolved(schema, document);
  return Object.entries(properties).flatMap(([field, each]) => fieldRows(field, each, document));
}

/** A field, and below it those of what it holds. */
function fieldRows(field: string, schema: unknown, document: Document): string[][] {
  const { properties, items } = resolved(schema, document);
  const held = items === undefined ? undefined : resolved(items, document).properties;
  const below = Object.entries(properties ?? held ?? {});
  const name = held ? `${field}[]` : field;
  const rows = below.flatMap(([inner, each]) => fieldRows(`${name}.${inner}`, each, document));
  return [[code(name), typeOf(schema, document)], ...rows];
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
  return $ref === undefined ? rest : schemaSchema.parse(components.schemas[nameOf($ref)]);
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function table(heads: string[], rows: string[][]): string {
  const head = heads.map((each) => `<th scope="col">${each}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n');
  return `<table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table>`;
}

function code(text: string): string {
  return `<code>${escaped(text)}</code>`;
}

/** Text with `code` in backticks. */
function prose(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const STYLE = `
:root { color-scheme: light dark; --text: #1c2430; --soft: #566070; --line: #d8dde5; --code: #f1f4f8; --link: #0b5fb0; --back: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e8ee; --soft: #a3adba; --line: #333c48; --code: #1f2630; --link: #79b8ff; --back: #12171e; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.9rem; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; color: var(--soft); margin: 1.5rem 0 .5rem; }
a { color: var(--link); }
code, pre { font: .9em/1.5 ui-monospace, monospace; background: var(--code); border-radius: .25rem; }
code { padding: .1em .3em; overflow-wrap: anywhere; }
pre { padding: .8rem 1rem; overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
@media (min-width: 40rem) { td:first-child code { white-space: nowrap; } }
`;

/** What a browser may do with the page: show it, in its own style. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`;

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { contractJsonSchemas } from '../contract/json-schema.js';
import { ERROR_MEANING, type Operation, operationsOf, type Parameter } from './openapi.js';
import type { LimitRules } from './pagination.js';

const payloadSchema = z.looseObject({ properties: z.record(z.string(), z.unknown()) });

/** The interface as one readable page: no script, nothing from elsewhere. Everything in it is written by us. */
export function docsPage(limits: LimitRules, prefix: string): string {
  const operations = operationsOf(limits);
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
<p>How a search engine indexes the monitored pages of your websites, read from a warehouse of nightly snapshots: as it
is, or with <code>as_of</code> as it was known at any past moment. All answers are JSON. The same as a document for
programs: <a href="${prefix}/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<p>Every request carries a key: <code>Authorization: Bearer …</code>. <code>indexhouse keys add</code> makes one.</p>
<pre>curl -H "Authorization: Bearer $INDEXHOUSE_KEY" \\
  "http://127.0.0.1:8090${prefix}/v1/urls/&lt;website_id&gt;?limit=10"</pre>
<nav aria-label="Operations"><ul>${operations.map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`).join('')}</ul></nav>
${operations.map((operation) => section(operation, prefix)).join('\n')}
<h2 id="errors">Errors</h2>
<p>An error’s body is <code>{"error", "message", "status"}</code>.</p>
${table(
  ['Status', 'Meaning'],
  Object.entries(ERROR_MEANING).map(([status, text]) => [code(status), prose(text)]),
)}
<h2 id="caching">Caching and compression</h2>
<p>A 200 carries an <code>ETag</code>; with <code>If-None-Match</code> an unchanged answer is a 304 without a body.
<code>Accept-Encoding: br</code> or <code>gzip</code> gets it compressed. <code>HEAD</code> answers as
<code>GET</code> does, without the body.</p>
</main>
</body>
</html>
`;
}

function section({ path, id, title, description, parameters, answer }: Operation, prefix: string): string {
  return `<h2 id="${id}">${title}</h2>
<p class="path"><code>GET ${prefix}${path}</code></p>
<p>${prose(description)}</p>
${parameters.length === 0 ? '' : `<h3>Parameters</h3>${table(['Name', 'In', 'Meaning'], parameters.map(parameterRow))}`}
<h3>Answer</h3>
${table(['Field', 'Type'], fieldsOf(answer))}`;
}

function parameterRow({ name, in: place, required, description, schema }: Parameter): string[] {
  const { minimum, maximum, default: preset, enum: values } = boundsSchema.parse(schema);
  const range = minimum === undefined ? '' : ` From ${minimum} to ${maximum}, ${preset} if left out.`;
  const choice = values ? ` One of ${values.map((value) => code(value)).join(', ')}.` : '';
  return [code(name), required ? `${place}, required` : place, prose(description) + range + choice];
}

const boundsSchema = z.looseObject({
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  default: z.number().optional(),
  enum: z.array(z.string()).optional(),
});

function fieldsOf(name: string): string[][] {
  const { properties } = payloadSchema.parse(contractJsonSchemas()[name]);
  return Object.entries(properties).flatMap(([field, schema]) => fieldRows(field, schema));
}

const fieldSchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  anyOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});

/** A field, and below it those of what it holds. */
function fieldRows(field: string, schema: unknown): string[][] {
  const { properties, items } = fieldSchema.parse(schema);
  const held = items === undefined ? undefined : fieldSchema.parse(items).properties;
  const below = Object.entries(properties ?? held ?? {});
  const name = held ? `${field}[]` : field;
  return [[code(name), typeOf(schema)], ...below.flatMap(([inner, each]) => fieldRows(`${name}.${inner}`, each))];
}

function typeOf(schema: unknown): string {
  const { type, format, anyOf, items } = fieldSchema.parse(schema);
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (Array.isArray(type))
    return type.map((each) => typeOf({ ...z.looseObject({}).parse(schema), type: each })).join(' or ');
  if (type === 'array') return `list of ${items === undefined ? 'values' : typeOf(items)}`;
  if (format === 'date-time' && type === 'string') return 'time';
  return type ?? 'any';
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

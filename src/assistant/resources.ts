import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { packageFolder } from '../storage/sql.js';
import type { Client } from './tool.js';

const DOCUMENTS = [
  {
    name: 'data-dictionary',
    title: 'Data dictionary',
    description: 'What every column of every table and view means.',
    file: 'data-dictionary.md',
  },
  { name: 'glossary', title: 'Glossary', description: 'The terms of indexhouse.', file: 'glossary.md' },
] as const;

const columnRow = z.object({ table_name: z.string(), column_name: z.string(), data_type: z.string() });

/** Adds the resources. `guarded` turns their failures into errors of the protocol. */
export function addResources(
  server: McpServer,
  client: Client,
  guarded: <T>(read: () => Promise<T>) => Promise<T>,
): void {
  for (const { name, title, description, file } of DOCUMENTS) {
    const config = { title, description, mimeType: 'text/markdown' };
    server.registerResource(name, `indexhouse://${name}`, config, (uri) =>
      guarded(async () => textOf(uri, 'text/markdown', await readFile(join(packageFolder(), 'docs', file), 'utf8'))),
    );
  }
  const schema = {
    title: 'Schema',
    description: 'Tables and views for query_sql, with their columns and types.',
    mimeType: 'application/json',
  };
  server.registerResource('schema', 'indexhouse://schema', schema, (uri, { signal }) =>
    guarded(async () => textOf(uri, 'application/json', await schemaText(client, signal))),
  );
}

function textOf(uri: URL, mimeType: string, text: string): ReadResourceResult {
  return { contents: [{ uri: uri.href, mimeType, text }] };
}

/** The columns and types of each table and view, as JSON. */
async function schemaText(client: Client, signal: AbortSignal): Promise<string> {
  const columns = await client.ask(signal, (reader) =>
    reader.rows(columnRow, 'from duckdb_columns() where not internal order by table_name, column_index'),
  );
  const tables = new Map<string, Record<string, string>>();
  for (const { table_name, column_name, data_type } of columns) {
    tables.set(table_name, { ...tables.get(table_name), [column_name]: data_type });
  }
  return JSON.stringify(Object.fromEntries(tables), null, 1);
}

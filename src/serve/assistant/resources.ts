import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { McpServer } from '@modelcontextprotocol/server';
import { packageFolder } from '../../base/storage/sql.js';

const DOCUMENTS = [
  {
    name: 'data-dictionary',
    title: 'Data dictionary',
    description: 'What every column of every table and view means.',
    file: 'data-dictionary.md',
  },
  { name: 'glossary', title: 'Glossary', description: 'The terms of indexhouse.', file: 'glossary.md' },
] as const;

/** @param folder of the documents @param onError called with why one cannot be read, which the client is not told */
export function addResources(
  server: McpServer,
  onError: (error: unknown) => void,
  folder = join(packageFolder(), 'docs'),
): void {
  for (const { name, title, description, file } of DOCUMENTS) {
    const config = { title, description, mimeType: 'text/markdown' };
    server.registerResource(name, `indexhouse://${name}`, config, async ({ href: uri }) => {
      const text = await readFile(join(folder, file), 'utf8').catch((error: unknown) => {
        onError(error);
        throw new Error('This document cannot be read. The reason is in the log of indexhouse.');
      });
      return { contents: [{ uri, mimeType: 'text/markdown', text }] };
    });
  }
}

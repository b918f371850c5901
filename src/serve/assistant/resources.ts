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

export function addResources(server: McpServer): void {
  for (const { name, title, description, file } of DOCUMENTS) {
    const config = { title, description, mimeType: 'text/markdown' };
    server.registerResource(name, `indexhouse://${name}`, config, async ({ href: uri }) => {
      const text = await readFile(join(packageFolder(), 'docs', file), 'utf8');
      return { contents: [{ uri, mimeType: 'text/markdown', text }] };
    });
  }
}

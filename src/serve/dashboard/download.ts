import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply } from 'fastify';
import { askAllSelected } from '../../answers/query/ask-rows.js';
import type { Result } from '../../answers/query/question.js';
import { csvText } from '../../base/observe/csv.js';
import { makeTemporary, removeTemporary } from '../../base/storage/temporary.js';
import type { WebsiteContext } from './context.js';
import { ownReads, readsOf } from './page-columns.js';
import { pagesQuery, selectionOf } from './pages/pages.js';
import { readQuery } from './query.js';

const TYPES = { csv: 'text/csv', json: 'application/json' } as const;
export type DownloadFormat = keyof typeof TYPES;

/**
 * Sends all pages of a list as a file, with the same filters, order and columns. Writes a temporary file first, so that
 * a slow client does not keep a question open.
 */
export async function sendPages(
  format: DownloadFormat,
  context: WebsiteContext,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = readQuery(pagesQuery, context.query);
  const folder = makeTemporary('download');
  const remove = () => removeTemporary(folder);
  try {
    const file = join(folder, `pages.${format}`);
    await context.ask(async (reader) => {
      const columns = [...readsOf(query.columns), ...ownReads(reader.own.columns)];
      const selection = selectionOf(context.website.id, query);
      const found = await askAllSelected(reader, { name: 'serve/dashboard/selected_pages', selection, columns });
      await writeText(file, format === 'csv' ? csvText(found.columns, found.parts) : jsonText(found));
    });
    reply.type(`${TYPES[format]}; charset=utf-8`);
    reply.header('content-disposition', `attachment; filename="pages.${format}"`);
    return reply.send(createReadStream(file).once('close', remove));
  } catch (error) {
    remove();
    throw error;
  }
}

async function writeText(file: string, texts: AsyncIterable<string>): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    for await (const text of texts) await handle.write(text);
  } finally {
    await handle.close();
  }
}

/** One array, with one object per line. */
async function* jsonText({ columns, parts }: Result): AsyncGenerator<string> {
  let before = '[\n';
  for await (const rows of parts) {
    const objects = rows.map((row) => JSON.stringify(Object.fromEntries(columns.map((name, at) => [name, row[at]]))));
    yield before + objects.join(',\n');
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

import { createReadStream } from 'node:fs';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FastifyReply } from 'fastify';
import { SELECTED_PAGES, selectedText, selectionOf, wrongOwn } from '../../answers/query/ask-rows.js';
import { ask, askIntoParquet, jsonText, type Question } from '../../answers/query/question.js';
import type { Reader } from '../../answers/query/reader.js';
import { aboutData } from '../../answers/workbook/about.js';
import { type About, checkRows, workbook } from '../../answers/workbook/workbook.js';
import { UsageError } from '../../base/exit.js';
import { csvText } from '../../base/observe/csv.js';
import { identifier, literal } from '../../base/storage/sql.js';
import { makeTemporary, removeTemporary } from '../../base/storage/temporary.js';
import { ServiceError } from '../api/errors.js';
import { type FileFormat, shownName, type WebsiteContext } from './layout.js';
import { readsOf } from './page-columns.js';
import { type PagesQuery, pagesQuery } from './pages/pages.js';
import { readQuery } from './query.js';
import { movesNote } from './values.js';

const TYPES: Readonly<Record<FileFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  parquet: 'application/vnd.apache.parquet',
};
/** Columns that `selected_pages` gives as texts. */
const TIMES = new Set(['last_crawl_time', 'report_fetched_at', 'inspection_date', 'page_detection', 'first_seen_at']);

/**
 * Sends all pages of a list as a file, with the same filters, order and columns. Writes a temporary file first, so that
 * a slow client does not keep a question open.
 */
export async function sendPages(
  format: FileFormat,
  context: WebsiteContext,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = readQuery(pagesQuery, context.query);
  const folder = makeTemporary('download');
  const remove = () => removeTemporary(folder);
  try {
    const file = join(folder, `pages.${format}`);
    await context.ask((reader) => writePages(reader, format, { file, query, website: context.website }));
    reply.type(TYPES[format]);
    reply.header('content-disposition', `attachment; filename="pages.${format}"`);
    return reply.send(createReadStream(file).once('close', remove));
  } catch (error) {
    remove();
    throw error;
  }
}

interface Download {
  file: string;
  query: PagesQuery;
  website: WebsiteContext['website'];
}

/** @throws ServiceError 400 for a filter by an own column that there is not */
async function writePages(reader: Reader, format: FileFormat, download: Download): Promise<void> {
  const { file, query, website } = download;
  const wrong = wrongOwn(reader.own, query.own);
  if (wrong !== null) throw new ServiceError(400, `${wrong}.`);
  const isTyped = format === 'xlsx' || format === 'parquet';
  const timed = readsOf(query.columns).map((name) =>
    isTyped && TIMES.has(name) ? `${name}::timestamptz as ${name}` : name,
  );
  const own = reader.own.columns.map((name) => `own[${literal(name)}] as ${identifier(name)}`);
  const selected = { from: SELECTED_PAGES, columns: [...timed, ...own] };
  const parameters = selectionOf(website.id, query);
  const question = { name: 'pages', sql: selectedText(selected), parameters, website: website.id };
  if (format === 'parquet') return writeParquet(reader, question, file);
  const about = format === 'xlsx' ? await aboutPages(reader, question, download) : [];
  const found = await ask(reader, question);
  const texts =
    format === 'csv' ? csvText(found.columns, found.parts, { isRaw: false, isFile: true }) : jsonText(found);
  await writeFile(file, format === 'xlsx' ? workbook(found, about, null) : texts, { flag: 'wx', mode: 0o600 });
}

/** By way of the reader's folder: the only one that its engine may write to. */
async function writeParquet(reader: Reader, question: Question, file: string): Promise<void> {
  const written = join(reader.folder, `${basename(dirname(file))}.parquet`);
  try {
    await askIntoParquet(reader, question, written);
    await copyFile(written, file);
  } finally {
    await rm(written, { force: true });
  }
}

/** @throws ServiceError 400 for more pages than a sheet can hold */
async function aboutPages(reader: Reader, question: Question, { query, website }: Download): Promise<About> {
  await checkRows(reader, question).catch((error) => {
    throw error instanceof UsageError ? new ServiceError(400, `${error.message}.`) : error;
  });
  const { page: _page, per: _per, ...filters } = query;
  const asked = Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  const period = await movesNote(reader, website.id, { ...query, kind: query.changed });
  const data = await aboutData(reader, website.id, period);
  return [['Title', `Pages of ${shownName(website)}`], ...data, ['Filters', asked.join(' ')]];
}

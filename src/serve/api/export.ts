import { pipeline, Readable } from 'node:stream';
import { createBrotliCompress, createGzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { csvText } from '../../base/observe/csv.js';
import { type CoverageEntry, coverageEntrySchema } from '../../source/contract/coverage.js';
import { BROTLI_PARAMETERS, encodingFor } from './representation.js';
import type { ListingStream } from './store.js';

/** Batches that wait for a slow reader. */
const BATCHES_AHEAD = 2;
const COLUMNS = Object.keys(coverageEntrySchema.shape);

/** The form of a listing: a window of it as JSON, or all of it, line by line. */
export const formatParameters = z.object({
  format: z
    .enum(['json', 'ndjson', 'csv'], 'format must be json, ndjson or csv.')
    .optional()
    .describe(
      '`ndjson` or `csv`: the whole listing as one stream, one entry per line, without `skip` and `limit`. `json`: a window of it.',
    ),
});
export type ExportFormat = 'ndjson' | 'csv';

/** The media types of a whole listing, by its format. */
export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = { ndjson: 'application/x-ndjson', csv: 'text/csv' };

/**
 * Sends a whole listing. Reads no faster than its client, and stops once the client is gone. A failure on the way
 * breaks the connection, so that half a listing is never mistaken for all of it.
 */
export async function sendListing(
  format: ExportFormat,
  listing: ListingStream,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.type(`${EXPORT_TYPES[format]}; charset=utf-8`);
  reply.headers({ 'cache-control': 'private, no-cache', vary: 'Accept-Encoding, Authorization' });
  const encoding = encodingFor(request);
  if (encoding) reply.header('content-encoding', encoding);
  if (request.method === 'HEAD') {
    await listing.batches[Symbol.asyncIterator]().return?.();
    return reply.send();
  }
  const text = format === 'csv' ? csvText(COLUMNS, csvRows(listing.batches)) : ndjsonText(listing.batches);
  const parts = Readable.from(text, { highWaterMark: BATCHES_AHEAD });
  return reply.send(encoding ? compressedStream(parts, encoding) : parts);
}

async function* csvRows(batches: AsyncIterable<CoverageEntry[]>): AsyncGenerator<unknown[][]> {
  for await (const entries of batches) yield entries.map((entry) => COLUMNS.map((column) => entry[column]));
}

async function* ndjsonText(batches: AsyncIterable<CoverageEntry[]>): AsyncGenerator<string> {
  for await (const entries of batches) yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

function compressedStream(text: Readable, encoding: 'br' | 'gzip'): Readable {
  const packed = encoding === 'br' ? createBrotliCompress({ params: BROTLI_PARAMETERS }) : createGzip();
  // If either ends early, so does the other; Fastify learns of it from the stream that it sends.
  pipeline(text, packed, () => {});
  return packed;
}

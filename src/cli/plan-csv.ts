import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WantedOf } from '../forecast/forecast.js';
import { formatCsv } from './output.js';
import { inPlace } from './query-output.js';

const COLUMNS = ['website_id', 'place', 'url', 'reason', 'report_age_days', 'reached'];

/** Writes each page on a line of a CSV file, which appears under its name when it is whole. */
export function writeWanted(file: string, pages: AsyncIterable<WantedOf>): Promise<void> {
  return inPlace(file, (temporary) => pipeline(Readable.from(linesOf(pages)), createWriteStream(temporary)));
}

async function* linesOf(pages: AsyncIterable<WantedOf>): AsyncGenerator<string> {
  const header = formatCsv(COLUMNS, []);
  yield header;
  for await (const { website_id, place, url, reason, report_age_days, reached } of pages) {
    yield formatCsv(COLUMNS, [[website_id, place, url, reason, report_age_days, reached]]).slice(header.length);
  }
}

import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { z } from 'zod';
import { codeOf } from '../../base/storage/durable.js';
import { whyNotFile } from '../../base/storage/only-files.js';
import { jsonOf } from '../../base/validate.js';
import { JournalError } from './header.js';

const NEWLINE = 0x0a;
/** Small enough to be garbage before the collector moves it to the old generation. */
const PIECE_BYTES = 64 * 1024;
/** DuckDB reads no longer line, so no run writes one. */
const MOST_LINE_BYTES = 32 * 1024 * 1024;

/** One line of a journal, counted from 1, and the offset after it. */
export interface JournalLine<T> {
  value: T;
  text: string;
  end: number;
  number: number;
}

/**
 * Reads lines of one kind. What follows the last newline is left out, and so is a damaged last line, because the process
 * may have died while it wrote that; a missing file has no lines.
 *
 * @param isWhole whether a line is as it was written, beyond its schema
 * @throws JournalError if any other line is damaged
 */
export async function* readLines<T>(
  file: string,
  schema: z.ZodType<T>,
  isWhole: (text: string) => boolean = () => true,
): AsyncGenerator<JournalLine<T>> {
  let damaged: number | null = null;
  let [number, end] = [0, 0];
  for await (const line of rawLines(file)) {
    if (damaged !== null) throw new JournalError(`line ${damaged} of ${file} is damaged`);
    number++;
    end += line.length + 1;
    // JavaScript would put a replacement character for what is not UTF-8; DuckDB refuses the whole file.
    const text = isUtf8(line) ? line.toString('utf8') : null;
    const value = text === null ? undefined : schema.safeParse(jsonOf(text)).data;
    if (text === null || value === undefined || !isWhole(text)) damaged = number;
    else yield { value, text, end, number };
  }
}

/** The bytes of each line, without its newline. */
async function* rawLines(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(file)) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, at)]);
      rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    bytes = chunk.length - from + (from > 0 ? 0 : bytes);
    if (bytes > MOST_LINE_BYTES) throw new JournalError(`${file} has a line of more than 32 MB`);
  }
}

/** The bytes of a file; a missing one has none. A folder or pipe in its place is damage; any other error is the disk's. */
export async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  const otherwise = whyNotFile(file);
  if (otherwise !== null) throw new JournalError(`${file} ${otherwise}`);
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: PIECE_BYTES })) yield chunk;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
}
